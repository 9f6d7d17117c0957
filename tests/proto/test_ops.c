/* SPDX-License-Identifier: MIT */
/* Each request of the kernel, answered by the real handlers. */
#include "../compat/cmocka.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "invalidate.h"
#include "served.h"

static int set_up_with(void **state, bool no_cache)
{
	struct served *served = served_new(no_cache);
	struct tree_change change = served_publish(served, served_view(served, "first"));

	assert_null(change.before);
	tree_change_clear(&change);
	served_start(served);
	*state = served;
	return 0;
}

static int set_up(void **state)
{
	return set_up_with(state, false);
}

static int set_up_no_cache(void **state)
{
	return set_up_with(state, true);
}

static int tear_down(void **state)
{
	served_free(*state);
	return 0;
}

static void test_names(void **state)
{
	struct served *served = *state;
	static struct wire_reply reply;
	uint64_t lib = served_node(served, "lib", NULL);

	assert_int_equal(wire_lookup(&served->wire, lib, "libcuda.so.1.1", &reply), 0);
	assert_int_equal(reply.entry.attr.mode, S_IFREG | 0644);
	assert_int_equal(reply.entry.attr.size, 5);
	assert_int_equal(reply.entry.attr.ino, reply.entry.nodeid);
	assert_true(reply.entry.entry_valid > 1000000);
	assert_true(reply.entry.attr_valid > 1000000);
	/* An absent name is remembered: a reply without a node, not an error. */
	assert_int_equal(wire_lookup(&served->wire, lib, "libabsent.so", &reply), 0);
	assert_int_equal(reply.entry.nodeid, 0);
	assert_true(reply.entry.entry_valid > 1000000);
	assert_int_equal(wire_lookup(&served->wire, 4711, "x", &reply), 0);
	assert_int_equal(reply.entry.nodeid, 0);
	assert_int_equal(wire_lookup(&served->wire, served_node(served, "lib", "libcuda.so.1.1"),
				 "x", &reply),
		-ENOTDIR);
}

static void test_link(void **state)
{
	struct served *served = *state;
	static struct wire_reply reply;
	uint64_t node = served_node(served, "lib", "libcuda.so.1");

	assert_int_equal(wire_ask(&served->wire, FUSE_READLINK, node, NULL, 0, NULL, 0, &reply), 0);
	assert_int_equal(reply.size, strlen("libcuda.so.1.1"));
	assert_memory_equal(reply.bytes, "libcuda.so.1.1", reply.size);
	assert_int_equal(
		wire_ask(&served->wire, FUSE_READLINK, 1, NULL, 0, NULL, 0, &reply), -EINVAL);
}

static void test_read(void **state)
{
	struct served *served = *state;
	static struct wire_reply reply;
	uint64_t node = served_node(served, "lib", "libcuda.so.1.1");

	assert_int_equal(served_read(served, node, 0, 4096, &reply), 0);
	assert_int_equal(reply.size, 5);
	assert_memory_equal(reply.bytes, "first", 5);
	assert_int_equal(served_read(served, node, 3, 4096, &reply), 0);
	assert_int_equal(reply.size, 2);
	assert_int_equal(served_read(served, node, 100, 4096, &reply), 0);
	assert_int_equal(reply.size, 0);
	assert_int_equal(served_read(served, 1, 0, 4096, &reply), -EISDIR);
	assert_int_equal(served_read(served, 4711, 0, 4096, &reply), -ENOENT);
	node = served_node(served, ".gldriverfs", "status.json");
	assert_int_equal(served_read(served, node, 0, 4096, &reply), 0);
	assert_memory_equal(reply.bytes, "{}", 2);
}

/* A file that was changed in place gives EIO, never mixed bytes, and asks for a reload. */
static void test_changed_in_place(void **state)
{
	struct served *served = *state;
	_cleanup_(freep) char *path = string_format("%s/first", served->directory);
	_cleanup_(closep) int fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
	static struct wire_reply reply;
	uint64_t node = served_node(served, "lib", "libcuda.so.1.1");

	assert_int_equal(write(fd, "x", 1), 1);
	assert_int_equal(served_read(served, node, 0, 4096, &reply), -EIO);
	assert_int_equal(atomic_load(&served->changed), 1);
}

/* A file that was replaced keeps its old bytes for who knows it. */
static void test_replaced(void **state)
{
	struct served *served = *state;
	_cleanup_(freep) char *path = string_format("%s/first", served->directory);
	static struct wire_reply reply;
	uint64_t node = served_node(served, "lib", "libcuda.so.1.1");
	struct tree_change change;

	assert_int_equal(unlink(path), 0);
	change = served_publish(served, served_view(served, "second"));
	tree_change_clear(&change);
	assert_int_equal(served_read(served, node, 0, 4096, &reply), 0);
	assert_memory_equal(reply.bytes, "first", 5);
	assert_int_not_equal(served_node(served, "lib", "libcuda.so.1.1"), node);
}

static void test_unsupported(void **state)
{
	struct served *served = *state;
	struct fuse_open_in in = { 0 };
	static struct wire_reply reply;

	assert_int_equal(
		wire_ask(&served->wire, FUSE_OPEN, 1, &in, sizeof(in), NULL, 0, &reply), -ENOSYS);
	assert_int_equal(wire_ask(&served->wire, FUSE_OPENDIR, 1, &in, sizeof(in), NULL, 0, &reply),
		-ENOSYS);
}

static void test_no_cache(void **state)
{
	struct served *served = *state;
	struct fuse_open_in in = { 0 };
	static struct wire_reply reply;

	assert_int_equal(wire_lookup(&served->wire, FUSE_ROOT_ID, "lib", &reply), 0);
	assert_int_equal(reply.entry.entry_valid, 0);
	assert_int_equal(reply.entry.attr_valid, 0);
	assert_int_equal(
		wire_ask(&served->wire, FUSE_OPEN, 1, &in, sizeof(in), NULL, 0, &reply), 0);
}

/* Lists with small replies; returns how many entries came, each checked to have whole attributes.
 */
static size_t count_listing(struct served *served, uint64_t node, uint32_t reply_size)
{
	struct fuse_read_in in = { .size = reply_size };
	static struct wire_reply reply;
	size_t count = 0;

	for (;;) {
		size_t used = 0;

		assert_int_equal(wire_ask(&served->wire, FUSE_READDIRPLUS, node, &in, sizeof(in),
					 NULL, 0, &reply),
			0);
		if (reply.size == 0)
			return count;
		while (used < reply.size) {
			const struct fuse_direntplus *entry = (void *)(reply.bytes + used);
			bool dots = entry->dirent.name[0] == '.';

			assert_true(entry->dirent.off > in.offset);
			in.offset = entry->dirent.off;
			assert_true(dots == (entry->entry_out.nodeid == 0));
			assert_int_not_equal(entry->entry_out.attr.mode, 0);
			assert_true(entry->dirent.off < INT32_MAX);
			used += FUSE_DIRENTPLUS_SIZE(entry);
			count++;
		}
	}
}

static void test_listing(void **state)
{
	struct served *served = *state;
	struct tree_change change;
	struct view *view = served_view(served, "first");
	char path[64];

	for (int i = 0; i < 500; i++) {
		snprintf(path, sizeof(path), "lib/many%d", i);
		assert_int_equal(view_add_link(view, path, "x", NULL, NULL), 0);
	}
	change = served_publish(served, view);
	tree_change_clear(&change);
	/* ".", ".." and lib: .gldriverfs is not listed. */
	assert_int_equal(count_listing(served, FUSE_ROOT_ID, 4096), 3);
	assert_int_equal(count_listing(served, served_node(served, "lib", NULL), 1024), 504);
	assert_int_equal(count_listing(served, served_node(served, ".gldriverfs", NULL), 4096), 3);
}

static int get_xattr(struct served *served, uint64_t node, const char *name, uint32_t size,
	struct wire_reply *ret_reply)
{
	struct fuse_getxattr_in in = { .size = size };

	return wire_ask(&served->wire, FUSE_GETXATTR, node, &in, sizeof(in), name, strlen(name) + 1,
		ret_reply);
}

static void test_xattrs(void **state)
{
	struct served *served = *state;
	static struct wire_reply reply;
	uint64_t node = served_node(served, "lib", "libcuda.so.1.1");
	struct fuse_getxattr_in in = { .size = 1024 };

	assert_int_equal(get_xattr(served, node, "gldriverfs.layer", 64, &reply), 0);
	assert_int_equal(reply.size, 4);
	assert_memory_equal(reply.bytes, "host", 4);
	assert_int_equal(get_xattr(served, node, "gldriverfs.layer", 0, &reply), 0);
	assert_int_equal(reply.xattr.size, 4);
	assert_int_equal(get_xattr(served, node, "gldriverfs.layer", 3, &reply), -ERANGE);
	assert_int_equal(get_xattr(served, node, "gldriverfs.source", 1024, &reply), 0);
	assert_int_equal(get_xattr(served, 1, "gldriverfs.generation", 1024, &reply), 0);
	assert_int_equal(reply.size, 36);
	assert_int_equal(get_xattr(served, 1, "gldriverfs.layer", 64, &reply), -ENODATA);
	assert_int_equal(get_xattr(served, node, "user.x", 64, &reply), -ENODATA);
	assert_int_equal(
		wire_ask(&served->wire, FUSE_LISTXATTR, node, &in, sizeof(in), NULL, 0, &reply), 0);
	assert_int_equal(reply.size, sizeof("gldriverfs.layer") + sizeof("gldriverfs.source") +
					     sizeof("gldriverfs.generation"));
}

static void test_statfs(void **state)
{
	struct served *served = *state;
	static struct wire_reply reply;

	assert_int_equal(wire_ask(&served->wire, FUSE_STATFS, 1, NULL, 0, NULL, 0, &reply), 0);
	assert_int_equal(reply.statfs.st.namelen, 255);
	assert_int_equal(reply.statfs.st.files, 3);
}

static void forget(struct served *served, uint64_t node, uint64_t count)
{
	struct fuse_forget_in in = { .nlookup = count };
	static struct wire_reply reply;

	wire_send(&served->wire, FUSE_FORGET, node, &in, sizeof(in), NULL, 0);
	/* There is no reply: a request behind it tells that it was handled, by this worker or
	 * another. */
	assert_int_equal(wire_ask(&served->wire, FUSE_STATFS, 1, NULL, 0, NULL, 0, &reply), 0);
}

static void test_counts(void **state)
{
	struct served *served = *state;
	struct tree_counts counts;
	uint64_t node = served_node(served, "lib", "libcuda.so.1.1");

	assert_int_equal(atomic_load(&served->ops.counts[OPS_LOOKUP]), 2);
	tree_count(served->tree, &counts);
	assert_int_equal(counts.entries, 3);
	assert_int_equal(counts.revealed, 2);
	assert_int_equal(counts.descriptors.held, 1);
	assert_int_equal(counts.descriptors.unpinned, 0);
	forget(served, node, 1);
}

#define WITH_SERVED(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_SERVED(test_names),
		WITH_SERVED(test_link),
		WITH_SERVED(test_read),
		WITH_SERVED(test_changed_in_place),
		WITH_SERVED(test_replaced),
		WITH_SERVED(test_unsupported),
		cmocka_unit_test_setup_teardown(test_no_cache, set_up_no_cache, tear_down),
		WITH_SERVED(test_listing),
		WITH_SERVED(test_xattrs),
		WITH_SERVED(test_statfs),
		WITH_SERVED(test_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
