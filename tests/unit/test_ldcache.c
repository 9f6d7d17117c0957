/* SPDX-License-Identifier: MIT */
/* ldcache: made-up caches of every format, and damaged ones. */
#include "../compat/cmocka.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "ldcache.h"
#include "ldcache_builder.h"

#define ALL                                                                                        \
	{                                                                                          \
		{ "/lib/libcuda.so.1", LDCACHE_X86_64, 0 },                                        \
			{ "/lib32/libcuda.so.1", LDCACHE_I386, 0 },                                \
			{ "/x32/libcuda.so.1", LDCACHE_X32, 0 },                                   \
			{ "/arm/libcuda.so.1", LDCACHE_AARCH64, 0 },                               \
			{ "/armhf/libcuda.so.1", LDCACHE_ARMHF, 0 },                               \
		{                                                                                  \
			"/hw/libcuda.so.1", LDCACHE_X86_64, UINT64_C(1) << 62                      \
		}                                                                                  \
	}

static const struct {
	const char *what;
	struct ldcache_plan plan;
	enum policy_machine machine;
	const char *expected;
} cases[] = {
	{ "new", { .endian = 2, .entries = ALL }, MACHINE_X86_64, "/lib/libcuda.so.1\n" },
	{ "i386", { .endian = 2, .entries = ALL }, MACHINE_I386, "/lib32/libcuda.so.1\n" },
	{ "aarch64", { .endian = 2, .entries = ALL }, MACHINE_AARCH64, "/arm/libcuda.so.1\n" },
	{ "armhf", { .endian = 2, .entries = ALL }, MACHINE_ARMHF, "/armhf/libcuda.so.1\n" },
	{ "before glibc 2.32", { .entries = ALL }, MACHINE_X86_64, "/lib/libcuda.so.1\n" },
	{ "big-endian", { .endian = 3, .big_endian = true, .entries = ALL }, MACHINE_AARCH64,
		"/arm/libcuda.so.1\n" },
	{ "big-endian before glibc 2.32", { .big_endian = true, .entries = ALL }, MACHINE_X86_64,
		"/lib/libcuda.so.1\n" },
	{ "both tables", { .old = true, .endian = 2, .entries = ALL }, MACHINE_X86_64,
		"/lib/libcuda.so.1\n" },
	{ "both tables, aligned to 4", { .old = true, .align = 4, .entries = ALL }, MACHINE_ARMHF,
		"/armhf/libcuda.so.1\n" },
	{ "the old table alone",
		{ .old = true,
			.without_new = true,
			.entries = { { "/a/liba.so", LDCACHE_X86_64, 0 },
				{ "/b/libb.so", LDCACHE_X86_64, 0 } } },
		MACHINE_X86_64, "/a/liba.so\n/b/libb.so\n" },
	{ "the loader's order; paths that are none",
		{ .endian = 2,
			.entries = { { "/z/libcuda.so.1", LDCACHE_X86_64, 0 },
				{ "relative", LDCACHE_X86_64, 0 }, { "", LDCACHE_X86_64, 0 },
				{ "/hw/libcuda.so.1", LDCACHE_X86_64, 2 },
				{ "/a/libcuda.so.1", LDCACHE_X86_64, 0 } } },
		MACHINE_X86_64, "/z/libcuda.so.1\n/a/libcuda.so.1\n" },
	{ "no entries", { .endian = 2 }, MACHINE_X86_64, "" },
};

/* In memory of exactly its size. */
static int parse(const struct ldcache_built *built, size_t size, enum policy_machine machine,
	struct string_list *paths)
{
	_cleanup_(freep) uint8_t *exact = malloc(size ? size : 1);

	assert_non_null(exact);
	memcpy(exact, built->bytes, size);
	return ldcache_parse(exact, size, machine, paths);
}

static void test_cases(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct string_list paths = { 0 };
		struct ldcache_built built;
		char text[512] = "";

		ldcache_build(&cases[i].plan, &built);
		assert_int_equal(parse(&built, built.size, cases[i].machine, &paths), 0);
		for (size_t n = 0; n < paths.count; n++) {
			strcat(text, paths.items[n]);
			strcat(text, "\n");
		}
		if (strcmp(text, cases[i].expected) != 0)
			fail_msg(
				"%s: '%s' instead of '%s'", cases[i].what, text, cases[i].expected);
		string_list_clear(&paths);
	}
}

/* A cache that is cut short anywhere is refused, or has fewer paths. */
static void test_cut(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct ldcache_built built;

		ldcache_build(&cases[i].plan, &built);
		for (size_t size = 0; size < built.size; size++) {
			struct string_list paths = { 0 };
			int result = parse(&built, size, cases[i].machine, &paths);

			assert_true(result == 0 || result == -EINVAL);
			if (size < 16)
				assert_int_equal(result, -EINVAL);
			string_list_clear(&paths);
		}
	}
}

static void test_refused(void **state)
{
	static const struct {
		size_t at;
		uint32_t value;
	} damages[] = {
		{ 0, 0 },           /* the magic */
		{ 16, 0 },          /* its version */
		{ 20, 0x7fffffff }, /* the count */
		{ 20, 0x0aaaaaab }, /* times 24 it wraps in 32 bits */
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(damages); i++) {
		struct string_list paths = { 0 };
		struct ldcache_built built;

		ldcache_build(&cases[0].plan, &built);
		ldcache_put(&built, damages[i].at, damages[i].value, 4, false);
		assert_int_equal(parse(&built, built.size, MACHINE_X86_64, &paths), -EINVAL);
		string_list_clear(&paths);
	}
}

/* Many entries that share one long path would be many copies of it. */
static void test_repeated(void **state)
{
	struct ldcache_plan plan = { .endian = 2,
		.entries = { { "/a/liba.so", LDCACHE_X86_64, 0 } } };
	struct string_list paths = { 0 };
	static struct ldcache_built built;

	(void)state;
	ldcache_build(&plan, &built);
	memset(built.bytes + 72, 0, sizeof(built.bytes) - 72);
	ldcache_put(&built, 20, 100, 4, false);
	for (size_t i = 0; i < 100; i++) {
		ldcache_put(&built, 48 + i * 24, LDCACHE_X86_64, 4, false);
		ldcache_put(&built, 48 + i * 24 + 8, 2448, 4, false);
	}
	memset(built.bytes + 2448, '/', 1000);
	assert_int_equal(parse(&built, 3449, MACHINE_X86_64, &paths), -EINVAL);
	assert_true(paths.count < 10);
	string_list_clear(&paths);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cases),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_repeated),
	};

	return cmocka_run_group_tests_name("ldcache", tests, NULL, NULL);
}
