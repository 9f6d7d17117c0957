/* SPDX-License-Identifier: MIT */
/* overlay: edits against a plain copy of the file, by hand and at random. */
#include "../compat/cmocka.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "overlay.h"
#include "util.h"

#define BASE 64
#define MOST 256

struct write {
	uint64_t offset;
	const char *text;
};

static const struct {
	const char *what;
	struct write writes[4];
	size_t count; /* of edits afterwards */
	uint64_t size;
} write_cases[] = {
	{ "nothing", { { 0 } }, 0, BASE },
	{ "no bytes", { { 3, "" } }, 0, BASE },
	{ "apart, in any order", { { 9, "ab" }, { 3, "cd" }, { 20, "e" } }, 3, BASE },
	{ "touching become one", { { 3, "ab" }, { 5, "cd" }, { 1, "ef" } }, 1, BASE },
	{ "inside", { { 3, "abcdef" }, { 5, "XY" } }, 1, BASE },
	{ "around", { { 5, "XY" }, { 3, "abcdef" } }, 1, BASE },
	{ "over two and the hole between", { { 2, "ab" }, { 8, "cd" }, { 3, "123456" } }, 1, BASE },
	{ "over the end", { { BASE - 2, "abcd" } }, 1, BASE + 2 },
	{ "one byte longer", { { BASE, "a" } }, 1, BASE + 1 },
	{ "behind a hole", { { BASE + 10, "abcd" } }, 1, BASE + 14 },
	{ "first and last byte", { { 0, "a" }, { BASE - 1, "b" } }, 2, BASE },
};

/* What a reader gets, for every place and size, is what the model has; sorted and apart. */
static void check(const struct overlay *overlay, const uint8_t *host, const uint8_t *model)
{
	for (size_t i = 1; i < overlay->count; i++)
		assert_true(overlay->edits[i - 1].offset + overlay->edits[i - 1].size <
			    overlay->edits[i].offset);
	for (size_t offset = 0; offset <= overlay->size + 3; offset++) {
		for (size_t size = 0; size < 40; size++) {
			size_t has = offset < overlay->size ? (size_t)overlay->size - offset : 0;
			/* Exactly as large, so that a sanitizer sees a write behind it. */
			uint8_t *buffer = malloc(size ? size : 1);
			size_t got = 0;

			assert_non_null(buffer);
			memset(buffer, 0x5a, size ? size : 1);
			if (offset < BASE)
				got = size < BASE - offset ? size : BASE - offset;
			memcpy(buffer, host + offset, got);
			has = has < size ? has : size;
			assert_int_equal(overlay_apply(overlay, buffer, size, got, offset), has);
			assert_memory_equal(buffer, model + offset, has);
			free(buffer);
		}
	}
}

static void fill_host(uint8_t *host)
{
	memset(host, 0, MOST);
	for (size_t i = 0; i < BASE; i++)
		host[i] = (uint8_t)(128 + i);
}

static void test_writes(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(write_cases); i++) {
		struct overlay *overlay = overlay_new(BASE);
		uint8_t host[MOST], model[MOST];

		fill_host(host);
		memcpy(model, host, sizeof(model));
		assert_non_null(overlay);
		for (size_t w = 0; w < 4 && write_cases[i].writes[w].text; w++) {
			const struct write *one = &write_cases[i].writes[w];

			memcpy(model + one->offset, one->text, strlen(one->text));
			assert_int_equal(
				overlay_write(overlay, one->offset, one->text, strlen(one->text)),
				0);
		}
		overlay_finish(overlay);
		if (overlay->count != write_cases[i].count || overlay->size != write_cases[i].size)
			fail_msg("%s: %zu edits, size %llu", write_cases[i].what, overlay->count,
				(unsigned long long)overlay->size);
		check(overlay, host, model);
		overlay_unref(overlay);
	}
}

static uint32_t next_random(uint32_t *state)
{
	*state = *state * 1664525 + 1013904223;
	return *state >> 8;
}

static void test_random(void **state)
{
	uint32_t seed = 1;

	(void)state;
	for (size_t round = 0; round < 40; round++) {
		struct overlay *overlay = overlay_new(BASE);
		uint8_t host[MOST], model[MOST];

		fill_host(host);
		memcpy(model, host, sizeof(model));
		for (size_t w = 0; w < 12; w++) {
			uint64_t offset = next_random(&seed) % 90;
			size_t size = next_random(&seed) % 12;
			uint8_t bytes[12] = { 0 };

			for (size_t b = 0; b < size; b++)
				bytes[b] = (uint8_t)next_random(&seed);
			memcpy(model + offset, bytes, size);
			assert_int_equal(overlay_write(overlay, offset, bytes, size), 0);
		}
		check(overlay, host, model);
		overlay_unref(overlay);
	}
}

/* What a host file has got behind its size of before is not served, a cut one reads as zeros. */
static void test_changed_host(void **state)
{
	struct overlay *overlay = overlay_new(4);
	uint8_t buffer[8] = "longerxx", cut[4] = "abcd";

	(void)state;
	assert_int_equal(overlay_write(overlay, 6, "TT", 2), 0);
	assert_int_equal(overlay_apply(overlay, buffer, 8, 8, 0), 8);
	assert_memory_equal(buffer, "long\0\0TT", 8);
	assert_int_equal(overlay_apply(overlay, cut, 4, 2, 0), 4);
	assert_memory_equal(cut, "ab\0\0", 4);
	memcpy(buffer, "longer", 6);
	assert_int_equal(overlay_apply(overlay, buffer, 8, 8, 5), 3);
	assert_memory_equal(buffer, "\0TT", 3);
	overlay_unref(overlay);
}

static uint64_t id_of(uint64_t base, uint64_t offset, const char *text)
{
	struct overlay *overlay = overlay_new(base);
	uint64_t id;

	assert_int_equal(overlay_write(overlay, offset, text, strlen(text)), 0);
	overlay_finish(overlay);
	id = overlay->id;
	overlay_unref(overlay);
	return id;
}

static void test_id(void **state)
{
	uint64_t id = id_of(BASE, 3, "abc");

	(void)state;
	assert_true(id != 0);
	assert_true(id == id_of(BASE, 3, "abc"));
	assert_true(id != id_of(BASE + 1, 3, "abc"));
	assert_true(id != id_of(BASE, 4, "abc"));
	assert_true(id != id_of(BASE, 3, "abd"));
}

static void test_limits(void **state)
{
	struct overlay *overlay = overlay_new(BASE);

	(void)state;
	assert_int_equal(overlay_write(overlay, UINT64_MAX, "a", 1), -EOVERFLOW);
	assert_int_equal(overlay_write(overlay, INT64_MAX, "a", 1), -EOVERFLOW);
	assert_int_equal(overlay->count, 0);
	assert_int_equal(overlay->size, BASE);
	assert_ptr_equal(overlay_ref(overlay), overlay);
	assert_null(overlay_unref(overlay));
	assert_int_equal(overlay_write(overlay, INT64_MAX - 1, "a", 1), 0);
	assert_null(overlay_unref(overlay));
	assert_null(overlay_unref(NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_writes),
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_changed_host),
		cmocka_unit_test(test_id),
		cmocka_unit_test(test_limits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
