/* SPDX-License-Identifier: MIT */
/* Files with an overlay, through the real requests: bytes across the edits' borders, the tail, the
 * size, one inode for one change of one file. */
#include "../compat/cmocka.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "wire.h"
#include "world.h"

#define HOST_BYTES "0123456789abcdef"

struct fixture {
	char *directory;
	struct fdpool *pool;
	struct tree *tree;
	struct ops ops;
	struct wire wire;
};

/* "0123456789abcdef" with XY at 4 and a tail TAIL at 20: 16 … 19 are zeros. */
static struct overlay *make_overlay(void)
{
	struct overlay *overlay = overlay_new(strlen(HOST_BYTES));

	assert_int_equal(overlay_write(overlay, 4, "XY", 2), 0);
	assert_int_equal(overlay_write(overlay, 20, "TAIL", 4), 0);
	overlay_finish(overlay);
	return overlay;
}

static const char served[] = "0123XY6789abcdef\0\0\0\0TAIL";

static int set_up(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));
	struct overlay *first = make_overlay(), *again = make_overlay(), *text = overlay_new(0);
	struct view *view = view_new();
	struct generation *generation;
	struct tree_change change;
	struct source *source;

	fixture->directory = world_directory();
	fixture->pool = fdpool_new(16);
	fixture->tree = tree_new(fixture->pool);
	fixture->ops = (struct ops){ .tree = fixture->tree, .pool = fixture->pool };
	source = world_source(fixture->directory, "host", HOST_BYTES, fixture->pool);
	assert_int_equal(overlay_write(text, 0, "short", 5), 0);
	overlay_finish(text);
	assert_int_equal(view_add_file(view, "lib/plain", source, "host"), 0);
	assert_int_equal(view_add_patched(view, "lib/patched", source, first, "host"), 0);
	assert_int_equal(view_add_patched(view, "lib/gbm/again", source, again, "host"), 0);
	assert_int_equal(view_add_patched(view, "lib/text", source, text, "host"), 0);
	source_unref(source);
	overlay_unref(first);
	overlay_unref(again);
	overlay_unref(text);
	generation = world_generation(view);
	assert_int_equal(tree_prepare(fixture->tree, generation, &change), 0);
	tree_commit(fixture->tree, &change);
	tree_change_clear(&change);
	generation_unref(generation);
	wire_start(&fixture->wire, &fixture->ops);
	*state = fixture;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;

	wire_stop(&fixture->wire);
	tree_free(fixture->tree);
	fdpool_free(fixture->pool);
	world_remove(fixture->directory);
	free(fixture);
	return 0;
}

static struct fuse_entry_out find(struct fixture *fixture, const char *name)
{
	static struct wire_reply reply;

	assert_int_equal(wire_lookup(&fixture->wire, FUSE_ROOT_ID, "lib", &reply), 0);
	assert_int_equal(wire_lookup(&fixture->wire, reply.entry.nodeid, name, &reply), 0);
	return reply.entry;
}

static int read_node(struct fixture *fixture, uint64_t node, uint64_t offset, uint32_t size,
	struct wire_reply *ret_reply)
{
	struct fuse_read_in in = { .offset = offset, .size = size };

	return wire_ask(&fixture->wire, FUSE_READ, node, &in, sizeof(in), NULL, 0, ret_reply);
}

/* Every window of the file is what the whole has there. */
static void test_windows(void **state)
{
	struct fixture *fixture = *state;
	static struct wire_reply reply;
	const size_t whole = sizeof(served) - 1;
	struct fuse_entry_out entry = find(fixture, "patched");

	assert_int_equal(entry.attr.size, whole);
	for (uint32_t offset = 0; offset <= whole + 2; offset++) {
		for (uint32_t size = 1; size <= whole + 2; size++) {
			size_t rest = offset < whole ? whole - offset : 0;
			size_t expected = size < rest ? size : rest;

			assert_int_equal(read_node(fixture, entry.nodeid, offset, size, &reply), 0);
			assert_int_equal(reply.size, expected);
			assert_memory_equal(reply.bytes, served + offset, expected);
		}
	}
}

static void test_nodes(void **state)
{
	struct fixture *fixture = *state;
	struct fuse_entry_out plain = find(fixture, "plain"), patched = find(fixture, "patched"),
			      text = find(fixture, "text");
	static struct wire_reply reply;

	assert_int_not_equal(plain.nodeid, patched.nodeid);
	assert_int_not_equal(text.nodeid, patched.nodeid);
	assert_int_equal(plain.attr.size, strlen(HOST_BYTES));
	assert_int_equal(patched.attr.mtime, plain.attr.mtime);
	/* The same change of the same file, planned twice, is one inode. */
	assert_int_equal(wire_lookup(&fixture->wire, FUSE_ROOT_ID, "lib", &reply), 0);
	assert_int_equal(wire_lookup(&fixture->wire, reply.entry.nodeid, "gbm", &reply), 0);
	assert_int_equal(wire_lookup(&fixture->wire, reply.entry.nodeid, "again", &reply), 0);
	assert_int_equal(reply.entry.nodeid, patched.nodeid);
	/* One that is shorter than the host's. */
	assert_int_equal(text.attr.size, 5);
	assert_int_equal(read_node(fixture, text.nodeid, 0, 4096, &reply), 0);
	assert_int_equal(reply.size, 5);
	assert_memory_equal(reply.bytes, "short", 5);
	assert_int_equal(read_node(fixture, plain.nodeid, 0, 4096, &reply), 0);
	assert_int_equal(reply.size, strlen(HOST_BYTES));
	assert_memory_equal(reply.bytes, HOST_BYTES, reply.size);
}

/* Changed in place: never bytes of the new content, in the tail and in a text neither. */
static void test_changed_in_place(void **state)
{
	struct fixture *fixture = *state;
	_cleanup_(freep) char *path = string_format("%s/host", fixture->directory);
	_cleanup_(closep) int fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
	uint64_t patched = find(fixture, "patched").nodeid, text = find(fixture, "text").nodeid;
	static struct wire_reply reply;

	assert_int_equal(write(fd, "x", 1), 1);
	assert_int_equal(read_node(fixture, patched, 0, 8, &reply), -EIO);
	assert_int_equal(read_node(fixture, patched, 20, 4, &reply), -EIO);
	assert_int_equal(read_node(fixture, text, 0, 8, &reply), -EIO);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_windows, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_nodes, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_changed_in_place, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
