/* SPDX-License-Identifier: MIT */
/* snapshot: nothing comes of damaged bytes. */
#include "../compat/cmocka.h"

#include <errno.h>

#include "snapshot_bytes.h"

/* Decodes a copy that is exactly so large, with the right checksum where `fix` is set. */
static int decode(const uint8_t *at, size_t size, bool fix)
{
	uint8_t *copy = malloc(size ? size : 1);
	struct snapshot decoded = { 0 };
	int result;

	memcpy(copy, at, size);
	if (fix && size >= sizeof(struct snapshot_header))
		sign(copy, size);
	result = snapshot_decode(copy, size, &decoded);
	snapshot_clear(&decoded);
	free(copy);
	return result;
}

static void test_truncated(void **state)
{
	_cleanup_(bytes_clear) struct bytes bytes = encode_built();

	(void)state;
	for (size_t size = 0; size < bytes.size; size++)
		if (decode(bytes.at, size, false) != -EBADMSG ||
			decode(bytes.at, size, true) != -EBADMSG)
			fail_msg("%zu bytes", size);
}

static void test_flipped(void **state)
{
	static const uint8_t flips[] = { 0x01, 0x80, 0xff };
	const size_t version = offsetof(struct snapshot_header, version);
	_cleanup_(bytes_clear) struct bytes bytes = encode_built();

	(void)state;
	for (size_t i = 0; i < bytes.size * ARRAY_SIZE(flips); i++) {
		size_t at = i / ARRAY_SIZE(flips);
		uint8_t flip = flips[i % ARRAY_SIZE(flips)];
		int plain, fixed;

		bytes.at[at] ^= flip;
		plain = decode(bytes.at, bytes.size, false);
		fixed = decode(bytes.at, bytes.size, true);
		if (at >= version && at < version + 4)
			assert_true(plain == -EPROTO || plain == -EBADMSG);
		else if (plain != -EBADMSG)
			fail_msg("byte %zu: %d", at, plain);
		if (fixed != 0 && fixed != -EBADMSG && fixed != plain)
			fail_msg("byte %zu: %d", at, fixed);
		bytes.at[at] ^= flip;
	}
	assert_int_equal(decode(bytes.at, bytes.size, false), 0);
}

static void test_version(void **state)
{
	static const struct {
		uint32_t version;
		int result;
	} cases[] = {
		{ 0, -EBADMSG },
		{ SNAPSHOT_VERSION, 0 },
		{ SNAPSHOT_VERSION + 1, -EPROTO },
		{ SNAPSHOT_VERSION << 24, -EPROTO },
	};
	_cleanup_(bytes_clear) struct bytes bytes = encode_built();

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		for (size_t k = 0; k < 4; k++)
			bytes.at[offsetof(struct snapshot_header, version) + k] =
				(uint8_t)(cases[i].version >> (8 * k));
		assert_int_equal(decode(bytes.at, bytes.size, true), cases[i].result);
	}
}

/* A NUL inside a text that may have none. */
static void test_nul(void **state)
{
	static const char *const texts[] = { "/run/opengl-driver", "store", "lib/gbm/x_gbm.so",
		"/compat/libcuda.so.600.1", "/root/compat/libcuda.so.600.1", "deadbeef" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		_cleanup_(bytes_clear) struct bytes bytes = encode_built();
		char *found = memmem(bytes.at, bytes.size, texts[i], strlen(texts[i]));

		assert_non_null(found);
		found[2] = '\0';
		if (decode(bytes.at, bytes.size, true) != -EBADMSG)
			fail_msg("%s", texts[i]);
	}
}

/* As many sets as there may be, and one more: the first one's record once more. */
static void test_sets(void **state)
{
	struct builder builder;
	struct snapshot snapshot = { .name = (char *)"x", .mountpoint = (char *)"/" };
	_cleanup_(bytes_clear) struct bytes bytes = { 0 };
	_cleanup_(freep) uint8_t *more = NULL;
	const uint8_t *record;
	size_t before, size;

	(void)state;
	builder_make(&builder);
	snapshot.view = view_new();
	assert_int_equal(view_finish(snapshot.view), 0);
	while (snapshot.sets.count < SETS_MAX)
		snapshot.sets.items[snapshot.sets.count++] = builder.snapshot.sets.items[0];
	bytes = encode(&snapshot);
	assert_int_equal(decode(bytes.at, bytes.size, false), 0);

	record = memmem(bytes.at, bytes.size, "0123abcd", 8);
	assert_non_null(record);
	record -= 8; /* its length, the string's */
	before = (size_t)(record - bytes.at);
	size = 4 + record[0] + ((size_t)record[1] << 8);
	more = malloc(bytes.size + size);
	memcpy(more, bytes.at, before + size);
	memcpy(more + before + size, record, bytes.size - before);
	assert_int_equal(more[before - 4], SETS_MAX);
	more[before - 4]++;
	assert_int_equal(decode(more, bytes.size + size, true), -EBADMSG);
	view_free(snapshot.view);
	builder_clear(&builder);
}

static void spoil_parent(struct builder *builder)
{
	struct view_directory *lib = view_find_directory(builder->snapshot.view, "lib/gbm");

	strcpy(lib->path, "lib/gba");
}

static void spoil_name(struct builder *builder)
{
	strcpy(view_find(builder->snapshot.view, "lib/gbm/x_gbm.so")->name, "x/gbm.so");
}

static void spoil_twice(struct builder *builder)
{
	strcpy(view_find(builder->snapshot.view, "share/plain")->name, "empty");
}

static void spoil_file(struct builder *builder)
{
	struct view_entry *entry = view_find(builder->snapshot.view, "share/plain");

	entry->source = source_unref(entry->source);
}

static void spoil_link(struct builder *builder)
{
	view_find(builder->snapshot.view, "share/plain")->kind = VIEW_LINK;
}

static void spoil_content(struct builder *builder)
{
	view_find(builder->snapshot.view, "share/plain")->kind = VIEW_CONTENT;
}

static void spoil_path(struct builder *builder)
{
	free(steal_pointer(builder->sources[3]->path));
}

static void spoil_overlay_id(struct builder *builder)
{
	builder->overlays[2]->id++;
}

static void spoil_overlay_order(struct builder *builder)
{
	struct overlay_edit edit = builder->overlays[0]->edits[0];

	builder->overlays[0]->edits[0] = builder->overlays[0]->edits[1];
	builder->overlays[0]->edits[1] = edit;
	overlay_finish(builder->overlays[0]);
}

static void spoil_overlay_touching(struct builder *builder)
{
	builder->overlays[0]->edits[1].offset = 1;
	overlay_finish(builder->overlays[0]);
}

static void spoil_overlay_end(struct builder *builder)
{
	builder->overlays[0]->edits[2].offset = 8190;
	overlay_finish(builder->overlays[0]);
}

static void spoil_overlay_far(struct builder *builder)
{
	builder->overlays[0]->edits[2].offset = UINT64_MAX - 1;
	overlay_finish(builder->overlays[0]);
}

static void spoil_overlay_base(struct builder *builder)
{
	builder->overlays[0]->base = 8193;
}

static void spoil_overlay_size(struct builder *builder)
{
	builder->overlays[0]->size = UINT64_MAX;
	overlay_finish(builder->overlays[0]);
}

static void spoil_set_kind(struct builder *builder)
{
	builder->snapshot.sets.items[0]->entries[0].kind = VIEW_CONTENT;
}

static void spoil_set_link(struct builder *builder)
{
	builder->snapshot.sets.items[0]->entries[0].kind = VIEW_LINK;
}

static void spoil_set_source(struct builder *builder)
{
	struct set_entry *entry = &builder->snapshot.sets.items[1]->entries[0];

	entry->source = source_unref(entry->source);
}

static void spoil_node_file(struct builder *builder)
{
	builder->nodes[4].source = NULL;
}

static void spoil_node_path(struct builder *builder)
{
	builder->nodes[1].path = NULL;
}

static void spoil_change(struct builder *builder)
{
	builder->names[1].what = VIEWDIFF_CHANGED + 1;
}

static void test_spoiled(void **state)
{
	static const struct {
		const char *what;
		void (*spoil)(struct builder *builder);
	} cases[] = {
		{ "an entry whose directory is not there", spoil_parent },
		{ "a name with a slash", spoil_name },
		{ "two entries of one name", spoil_twice },
		{ "a file without a source", spoil_file },
		{ "a link without a target", spoil_link },
		{ "content without bytes", spoil_content },
		{ "a source without a path", spoil_path },
		{ "an overlay of another id", spoil_overlay_id },
		{ "edits out of order", spoil_overlay_order },
		{ "edits that touch", spoil_overlay_touching },
		{ "an edit behind the end", spoil_overlay_end },
		{ "an edit that wraps around", spoil_overlay_far },
		{ "an overlay smaller than its file", spoil_overlay_base },
		{ "an overlay larger than a file can be", spoil_overlay_size },
		{ "content in a set", spoil_set_kind },
		{ "a link without a target in a set", spoil_set_link },
		{ "a set's file without a source", spoil_set_source },
		{ "a file's node without a source", spoil_node_file },
		{ "a directory's node without a path", spoil_node_path },
		{ "an unknown change", spoil_change },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct builder builder;
		struct bytes bytes;
		int result;

		builder_make(&builder);
		cases[i].spoil(&builder);
		bytes = encode(&builder.snapshot);
		result = decode(bytes.at, bytes.size, false);
		if (result != -EBADMSG)
			fail_msg("%s: %d", cases[i].what, result);
		bytes_clear(&bytes);
		builder_clear(&builder);
	}
}

/* Directories in each other: more than a scan may find, and so many that nothing makes them. */
static void test_depth(void **state)
{
	static const struct {
		size_t depth;
		int result;
	} cases[] = { { 100, 0 }, { 256, 0 }, { 257, -EBADMSG }, { 2000, -EBADMSG } };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_(freep) char *path = malloc(cases[i].depth * 2);
		struct snapshot snapshot = { .view = view_new() };
		struct bytes bytes;

		for (size_t k = 0; k < cases[i].depth; k++)
			memcpy(path + 2 * k, "a/", 2);
		path[cases[i].depth * 2 - 1] = '\0';
		snapshot.name = snapshot.mountpoint = path;
		assert_int_equal(view_add_directory(snapshot.view, path, false), 0);
		assert_int_equal(view_finish(snapshot.view), 0);
		bytes = encode(&snapshot);
		if (decode(bytes.at, bytes.size, false) != cases[i].result)
			fail_msg("%zu directories", cases[i].depth);
		bytes_clear(&bytes);
		view_free(snapshot.view);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_truncated),
		cmocka_unit_test(test_flipped),
		cmocka_unit_test(test_version),
		cmocka_unit_test(test_nul),
		cmocka_unit_test(test_sets),
		cmocka_unit_test(test_spoiled),
		cmocka_unit_test(test_depth),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
