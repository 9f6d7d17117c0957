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

#include "served.h"

#define HOST_BYTES "0123456789abcdef"

/* "0123456789abcdef" with XY at 4 and a tail TAIL at 20: 16 … 19 are zeros. */
static struct overlay *make_overlay(void)
{
	struct overlay *overlay = overlay_new(strlen(HOST_BYTES));

	assert_int_equal(overlay_write(overlay, 4, "XY", 2), 0);
	assert_int_equal(overlay_write(overlay, 20, "TAIL", 4), 0);
	overlay_finish(overlay);
	return overlay;
}

static const char served_bytes[] = "0123XY6789abcdef\0\0\0\0TAIL";

static int set_up(void **state)
{
	struct served *served = served_new(false);
	struct overlay *first = make_overlay(), *again = make_overlay(), *text = overlay_new(0);
	struct view *view = view_new();
	struct tree_change change;
	struct source *source;

	source = world_source(served->directory, "host", HOST_BYTES, served->pool);
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
	change = served_publish(served, view);
	tree_change_clear(&change);
	served_start(served);
	*state = served;
	return 0;
}

static int tear_down(void **state)
{
	served_free(*state);
	return 0;
}

/* Every window of the file is what the whole has there. */
static void test_windows(void **state)
{
	struct served *served = *state;
	static struct wire_reply reply;
	const size_t whole = sizeof(served_bytes) - 1;
	struct fuse_entry_out entry = served_find(served, "lib", "patched");

	assert_int_equal(entry.attr.size, whole);
	for (uint32_t offset = 0; offset <= whole + 2; offset++) {
		for (uint32_t size = 1; size <= whole + 2; size++) {
			size_t rest = offset < whole ? whole - offset : 0;
			size_t expected = size < rest ? size : rest;

			assert_int_equal(
				served_read(served, entry.nodeid, offset, size, &reply), 0);
			assert_int_equal(reply.size, expected);
			assert_memory_equal(reply.bytes, served_bytes + offset, expected);
		}
	}
}

static void test_nodes(void **state)
{
	struct served *served = *state;
	struct fuse_entry_out plain = served_find(served, "lib", "plain"),
			      patched = served_find(served, "lib", "patched"),
			      text = served_find(served, "lib", "text");
	static struct wire_reply reply;

	assert_int_not_equal(plain.nodeid, patched.nodeid);
	assert_int_not_equal(text.nodeid, patched.nodeid);
	assert_int_equal(plain.attr.size, strlen(HOST_BYTES));
	assert_int_equal(patched.attr.mtime, plain.attr.mtime);
	/* The same change of the same file, planned twice, is one inode. */
	assert_int_equal(wire_lookup(&served->wire, FUSE_ROOT_ID, "lib", &reply), 0);
	assert_int_equal(wire_lookup(&served->wire, reply.entry.nodeid, "gbm", &reply), 0);
	assert_int_equal(wire_lookup(&served->wire, reply.entry.nodeid, "again", &reply), 0);
	assert_int_equal(reply.entry.nodeid, patched.nodeid);
	/* One that is shorter than the host's. */
	assert_int_equal(text.attr.size, 5);
	assert_int_equal(served_read(served, text.nodeid, 0, 4096, &reply), 0);
	assert_int_equal(reply.size, 5);
	assert_memory_equal(reply.bytes, "short", 5);
	assert_int_equal(served_read(served, plain.nodeid, 0, 4096, &reply), 0);
	assert_int_equal(reply.size, strlen(HOST_BYTES));
	assert_memory_equal(reply.bytes, HOST_BYTES, reply.size);
}

/* Changed in place: never bytes of the new content, in the tail and in a text neither. */
static void test_changed_in_place(void **state)
{
	struct served *served = *state;
	_cleanup_(freep) char *path = string_format("%s/host", served->directory);
	_cleanup_(closep) int fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
	uint64_t patched = served_find(served, "lib", "patched").nodeid,
		 text = served_find(served, "lib", "text").nodeid;
	static struct wire_reply reply;

	assert_int_equal(write(fd, "x", 1), 1);
	assert_int_equal(served_read(served, patched, 0, 8, &reply), -EIO);
	assert_int_equal(served_read(served, patched, 20, 4, &reply), -EIO);
	assert_int_equal(served_read(served, text, 0, 8, &reply), -EIO);
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
