/* SPDX-License-Identifier: MIT */
#include "../compat/cmocka.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "invalidate.h"
#include "wire.h"
#include "world.h"

struct fixture {
	char *directory;
	struct fdpool *pool;
	struct tree *tree;
	struct ops ops;
	struct wire wire;
	atomic_int changed;
};

static void on_changed(void *context)
{
	struct fixture *fixture = context;

	atomic_fetch_add(&fixture->changed, 1);
}

/* lib/{libcuda.so.1 → libcuda.so.1.1, libcuda.so.1.1 = tag}, .gldriverfs/status.json */
static struct view *make_view(struct fixture *fixture, const char *tag)
{
	struct view *view = view_new();
	struct source *source = world_source(fixture->directory, tag, tag, fixture->pool);

	assert_int_equal(view_add_file(view, "lib/libcuda.so.1.1", source, "host"), 0);
	assert_int_equal(
		view_add_link(view, "lib/libcuda.so.1", "libcuda.so.1.1", source, "host"), 0);
	assert_int_equal(view_add_directory(view, ".gldriverfs", true), 0);
	assert_int_equal(view_add_content(view, ".gldriverfs/status.json", "{}", 2), 0);
	source_unref(source);
	return view;
}

static struct tree_change publish(struct fixture *fixture, struct view *view)
{
	struct generation *generation = world_generation(view);
	struct tree_change change;

	assert_int_equal(tree_prepare(fixture->tree, generation, &change), 0);
	tree_commit(fixture->tree, &change);
	generation_unref(generation);
	return change;
}

static int set_up_with(void **state, bool no_cache)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));
	struct tree_change change;

	fixture->directory = world_directory();
	fixture->pool = fdpool_new(16);
	fixture->tree = tree_new(fixture->pool);
	fixture->ops = (struct ops){
		.tree = fixture->tree,
		.pool = fixture->pool,
		.no_cache = no_cache,
		.changed = on_changed,
		.context = fixture,
	};
	change = publish(fixture, make_view(fixture, "first"));
	assert_null(change.before);
	tree_change_clear(&change);
	wire_start(&fixture->wire, &fixture->ops);
	*state = fixture;
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
	struct fixture *fixture = *state;

	wire_stop(&fixture->wire);
	tree_free(fixture->tree);
	fdpool_free(fixture->pool);
	world_remove(fixture->directory);
	free(fixture);
	return 0;
}

static uint64_t node_of(struct fixture *fixture, const char *first, const char *second)
{
	static struct wire_reply reply;

	assert_int_equal(wire_lookup(&fixture->wire, FUSE_ROOT_ID, first, &reply), 0);
	if (second)
		assert_int_equal(
			wire_lookup(&fixture->wire, reply.entry.nodeid, second, &reply), 0);
	return reply.entry.nodeid;
}

static int read_node(struct fixture *fixture, uint64_t node, uint64_t offset, uint32_t size,
	struct wire_reply *ret_reply)
{
	struct fuse_read_in in = { .offset = offset, .size = size };

	return wire_ask(&fixture->wire, FUSE_READ, node, &in, sizeof(in), NULL, 0, ret_reply);
}

static void test_names(void **state)
{
	struct fixture *fixture = *state;
	static struct wire_reply reply;
	uint64_t lib = node_of(fixture, "lib", NULL);

	assert_int_equal(wire_lookup(&fixture->wire, lib, "libcuda.so.1.1", &reply), 0);
	assert_int_equal(reply.entry.attr.mode, S_IFREG | 0644);
	assert_int_equal(reply.entry.attr.size, 5);
	assert_int_equal(reply.entry.attr.ino, reply.entry.nodeid);
	assert_true(reply.entry.entry_valid > 1000000);
	assert_true(reply.entry.attr_valid > 1000000);
	/* An absent name is remembered: a reply without a node, not an error. */
	assert_int_equal(wire_lookup(&fixture->wire, lib, "libabsent.so", &reply), 0);
	assert_int_equal(reply.entry.nodeid, 0);
	assert_true(reply.entry.entry_valid > 1000000);
	assert_int_equal(wire_lookup(&fixture->wire, 4711, "x", &reply), 0);
	assert_int_equal(reply.entry.nodeid, 0);
	assert_int_equal(
		wire_lookup(&fixture->wire, node_of(fixture, "lib", "libcuda.so.1.1"), "x", &reply),
		-ENOTDIR);
}

static void test_link(void **state)
{
	struct fixture *fixture = *state;
	static struct wire_reply reply;
	uint64_t node = node_of(fixture, "lib", "libcuda.so.1");

	assert_int_equal(
		wire_ask(&fixture->wire, FUSE_READLINK, node, NULL, 0, NULL, 0, &reply), 0);
	assert_int_equal(reply.size, strlen("libcuda.so.1.1"));
	assert_memory_equal(reply.bytes, "libcuda.so.1.1", reply.size);
	assert_int_equal(
		wire_ask(&fixture->wire, FUSE_READLINK, 1, NULL, 0, NULL, 0, &reply), -EINVAL);
}

static void test_read(void **state)
{
	struct fixture *fixture = *state;
	static struct wire_reply reply;
	uint64_t node = node_of(fixture, "lib", "libcuda.so.1.1");

	assert_int_equal(read_node(fixture, node, 0, 4096, &reply), 0);
	assert_int_equal(reply.size, 5);
	assert_memory_equal(reply.bytes, "first", 5);
	assert_int_equal(read_node(fixture, node, 3, 4096, &reply), 0);
	assert_int_equal(reply.size, 2);
	assert_int_equal(read_node(fixture, node, 100, 4096, &reply), 0);
	assert_int_equal(reply.size, 0);
	assert_int_equal(read_node(fixture, 1, 0, 4096, &reply), -EISDIR);
	assert_int_equal(read_node(fixture, 4711, 0, 4096, &reply), -ENOENT);
	node = node_of(fixture, ".gldriverfs", "status.json");
	assert_int_equal(read_node(fixture, node, 0, 4096, &reply), 0);
	assert_memory_equal(reply.bytes, "{}", 2);
}

/* A file that was changed in place gives EIO, never mixed bytes, and asks for a reload. */
static void test_changed_in_place(void **state)
{
	struct fixture *fixture = *state;
	_cleanup_(freep) char *path = string_format("%s/first", fixture->directory);
	_cleanup_(closep) int fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
	static struct wire_reply reply;
	uint64_t node = node_of(fixture, "lib", "libcuda.so.1.1");

	assert_int_equal(write(fd, "x", 1), 1);
	assert_int_equal(read_node(fixture, node, 0, 4096, &reply), -EIO);
	assert_int_equal(atomic_load(&fixture->changed), 1);
}

/* A file that was replaced keeps its old bytes for who knows it. */
static void test_replaced(void **state)
{
	struct fixture *fixture = *state;
	_cleanup_(freep) char *path = string_format("%s/first", fixture->directory);
	static struct wire_reply reply;
	uint64_t node = node_of(fixture, "lib", "libcuda.so.1.1");
	struct tree_change change;

	assert_int_equal(unlink(path), 0);
	change = publish(fixture, make_view(fixture, "second"));
	tree_change_clear(&change);
	assert_int_equal(read_node(fixture, node, 0, 4096, &reply), 0);
	assert_memory_equal(reply.bytes, "first", 5);
	assert_int_not_equal(node_of(fixture, "lib", "libcuda.so.1.1"), node);
}

static void test_unsupported(void **state)
{
	struct fixture *fixture = *state;
	struct fuse_open_in in = { 0 };
	static struct wire_reply reply;

	assert_int_equal(
		wire_ask(&fixture->wire, FUSE_OPEN, 1, &in, sizeof(in), NULL, 0, &reply), -ENOSYS);
	assert_int_equal(
		wire_ask(&fixture->wire, FUSE_OPENDIR, 1, &in, sizeof(in), NULL, 0, &reply),
		-ENOSYS);
}

static void test_no_cache(void **state)
{
	struct fixture *fixture = *state;
	struct fuse_open_in in = { 0 };
	static struct wire_reply reply;

	assert_int_equal(wire_lookup(&fixture->wire, FUSE_ROOT_ID, "lib", &reply), 0);
	assert_int_equal(reply.entry.entry_valid, 0);
	assert_int_equal(reply.entry.attr_valid, 0);
	assert_int_equal(
		wire_ask(&fixture->wire, FUSE_OPEN, 1, &in, sizeof(in), NULL, 0, &reply), 0);
}

/* Lists with small replies; returns how many entries came, each checked to have whole attributes.
 */
static size_t count_listing(struct fixture *fixture, uint64_t node, uint32_t reply_size)
{
	struct fuse_read_in in = { .size = reply_size };
	static struct wire_reply reply;
	size_t count = 0;

	for (;;) {
		size_t used = 0;

		assert_int_equal(wire_ask(&fixture->wire, FUSE_READDIRPLUS, node, &in, sizeof(in),
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
	struct fixture *fixture = *state;
	struct tree_change change;
	struct view *view = make_view(fixture, "first");
	char path[64];

	for (int i = 0; i < 500; i++) {
		snprintf(path, sizeof(path), "lib/many%d", i);
		assert_int_equal(view_add_link(view, path, "x", NULL, NULL), 0);
	}
	change = publish(fixture, view);
	tree_change_clear(&change);
	/* ".", ".." and lib: .gldriverfs is not listed. */
	assert_int_equal(count_listing(fixture, FUSE_ROOT_ID, 4096), 3);
	assert_int_equal(count_listing(fixture, node_of(fixture, "lib", NULL), 1024), 504);
	assert_int_equal(count_listing(fixture, node_of(fixture, ".gldriverfs", NULL), 4096), 3);
}

static int get_xattr(struct fixture *fixture, uint64_t node, const char *name, uint32_t size,
	struct wire_reply *ret_reply)
{
	struct fuse_getxattr_in in = { .size = size };

	return wire_ask(&fixture->wire, FUSE_GETXATTR, node, &in, sizeof(in), name,
		strlen(name) + 1, ret_reply);
}

static void test_xattrs(void **state)
{
	struct fixture *fixture = *state;
	static struct wire_reply reply;
	uint64_t node = node_of(fixture, "lib", "libcuda.so.1.1");
	struct fuse_getxattr_in in = { .size = 1024 };

	assert_int_equal(get_xattr(fixture, node, "gldriverfs.layer", 64, &reply), 0);
	assert_int_equal(reply.size, 4);
	assert_memory_equal(reply.bytes, "host", 4);
	assert_int_equal(get_xattr(fixture, node, "gldriverfs.layer", 0, &reply), 0);
	assert_int_equal(reply.xattr.size, 4);
	assert_int_equal(get_xattr(fixture, node, "gldriverfs.layer", 3, &reply), -ERANGE);
	assert_int_equal(get_xattr(fixture, node, "gldriverfs.source", 1024, &reply), 0);
	assert_int_equal(get_xattr(fixture, 1, "gldriverfs.generation", 1024, &reply), 0);
	assert_int_equal(reply.size, 36);
	assert_int_equal(get_xattr(fixture, 1, "gldriverfs.layer", 64, &reply), -ENODATA);
	assert_int_equal(get_xattr(fixture, node, "user.x", 64, &reply), -ENODATA);
	assert_int_equal(
		wire_ask(&fixture->wire, FUSE_LISTXATTR, node, &in, sizeof(in), NULL, 0, &reply),
		0);
	assert_int_equal(reply.size, sizeof("gldriverfs.layer") + sizeof("gldriverfs.source") +
					     sizeof("gldriverfs.generation"));
}

static void test_statfs(void **state)
{
	struct fixture *fixture = *state;
	static struct wire_reply reply;

	assert_int_equal(wire_ask(&fixture->wire, FUSE_STATFS, 1, NULL, 0, NULL, 0, &reply), 0);
	assert_int_equal(reply.statfs.st.namelen, 255);
	assert_int_equal(reply.statfs.st.files, 3);
}

static void forget(struct fixture *fixture, uint64_t node, uint64_t count)
{
	struct fuse_forget_in in = { .nlookup = count };
	static struct wire_reply reply;

	wire_send(&fixture->wire, FUSE_FORGET, node, &in, sizeof(in), NULL, 0);
	/* There is no reply: a request behind it tells that it was handled, by this worker or
	 * another. */
	assert_int_equal(wire_ask(&fixture->wire, FUSE_STATFS, 1, NULL, 0, NULL, 0, &reply), 0);
}

/* The same file has its number for ever; what the kernel does not know is not told to it. */
static void test_invalidation(void **state)
{
	struct fixture *fixture = *state;
	uint64_t lib = node_of(fixture, "lib", NULL);
	uint64_t first = node_of(fixture, "lib", "libcuda.so.1.1"), second;
	struct tree_change change;
	static struct wire_reply message;

	change = publish(fixture, make_view(fixture, "first"));
	assert_int_equal(change.diff.n_names, 1); /* rewritten: another mtime */
	tree_change_clear(&change);
	first = node_of(fixture, "lib", "libcuda.so.1.1");

	change = publish(fixture, make_view(fixture, "second"));
	assert_int_equal(change.diff.n_names, 1);
	assert_string_equal(change.diff.names[0].name, "libcuda.so.1.1");
	assert_int_equal(change.diff.n_directories, 1);
	invalidate(fixture->wire.session, &change);
	wire_receive(&fixture->wire, &message);
	assert_int_equal(message.header.unique, 0);
	assert_int_equal(message.header.error, FUSE_NOTIFY_INVAL_ENTRY);
	assert_int_equal(((struct fuse_notify_inval_entry_out *)message.bytes)->parent, lib);
	wire_receive(&fixture->wire, &message);
	assert_int_equal(message.header.error, FUSE_NOTIFY_INVAL_INODE);
	assert_int_equal(((struct fuse_notify_inval_inode_out *)message.bytes)->ino, lib);
	tree_change_clear(&change);
	second = node_of(fixture, "lib", "libcuda.so.1.1");
	assert_int_not_equal(first, second);
	forget(fixture, first, 1000);
}

/* Between the two steps of a publish a new name is absent, but not remembered as that. */
static void test_incoming(void **state)
{
	struct fixture *fixture = *state;
	struct view *view = make_view(fixture, "first");
	struct generation *generation;
	struct tree_change change;
	static struct wire_reply reply;
	uint64_t lib = node_of(fixture, "lib", NULL);

	assert_int_equal(view_add_link(view, "lib/new", "libcuda.so.1", NULL, NULL), 0);
	generation = world_generation(view);
	assert_int_equal(tree_prepare(fixture->tree, generation, &change), 0);
	assert_int_equal(wire_lookup(&fixture->wire, lib, "new", &reply), 0);
	assert_int_equal(reply.entry.nodeid, 0);
	assert_int_equal(reply.entry.entry_valid, 0);
	assert_int_equal(wire_lookup(&fixture->wire, lib, "other", &reply), 0);
	assert_true(reply.entry.entry_valid > 0);
	invalidate_added(fixture->wire.session, &change);
	wire_receive(&fixture->wire, &reply);
	assert_int_equal(reply.header.error, FUSE_NOTIFY_INVAL_ENTRY);
	tree_commit(fixture->tree, &change);
	assert_int_equal(wire_lookup(&fixture->wire, lib, "new", &reply), 0);
	assert_int_not_equal(reply.entry.nodeid, 0);
	assert_true(reply.entry.entry_valid > 0);
	tree_change_clear(&change);
	generation_unref(generation);
}

/* lib/{libcuda.so.1 -> NAME, NAME} */
static struct view *make_named(struct fixture *fixture, const char *name)
{
	_cleanup_(freep) char *path = string_format("lib/%s", name);
	struct view *view = view_new();
	struct source *source = world_source(fixture->directory, name, name, fixture->pool);

	assert_int_equal(view_add_file(view, path, source, "host"), 0);
	assert_int_equal(view_add_link(view, "lib/libcuda.so.1", name, source, "host"), 0);
	source_unref(source);
	return view;
}

static void publish_named(struct fixture *fixture, const char *name)
{
	struct tree_change change = publish(fixture, make_named(fixture, name));

	tree_change_clear(&change);
}

static int ask_as(struct fixture *fixture, uint32_t thread, uint64_t parent, const char *name)
{
	static struct wire_reply reply;
	int error;

	fixture->wire.thread = thread;
	error = wire_lookup(&fixture->wire, parent, name, &reply);
	fixture->wire.thread = 0;
	if (error)
		return error;
	if (reply.entry.nodeid == 0)
		return -ENOENT;
	return reply.entry.entry_valid ? 0 : 1;
}

/* The same where two publishes overtook: the name went and is about to come back. */
static void test_coming_back(void **state)
{
	struct fixture *fixture = *state;
	struct generation *generation;
	struct tree_change change;
	uint64_t lib;

	publish_named(fixture, "old");
	publish_named(fixture, "new");
	lib = node_of(fixture, "lib", NULL);
	generation = world_generation(make_named(fixture, "old"));
	assert_int_equal(tree_prepare(fixture->tree, generation, &change), 0);
	assert_int_equal(ask_as(fixture, 7, lib, "old"), -ESTALE);
	assert_int_equal(ask_as(fixture, 7, lib, "libcuda.so.1"), 0);
	assert_int_equal(ask_as(fixture, 7, lib, "new"), 0);
	tree_commit(fixture->tree, &change);
	assert_int_equal(ask_as(fixture, 7, lib, "old"), 0);
	tree_change_clear(&change);
	generation_unref(generation);
}

/* Who followed an old link starts again; who meant the name learns that it is absent. */
static void test_overtaken(void **state)
{
	struct fixture *fixture = *state;
	uint64_t lib;

	publish_named(fixture, "old");
	publish_named(fixture, "new");
	lib = node_of(fixture, "lib", NULL);
	assert_int_equal(ask_as(fixture, 7, lib, "never"), -ENOENT);
	assert_int_equal(ask_as(fixture, 7, lib, "old"), -ESTALE);
	assert_int_equal(ask_as(fixture, 8, lib, "old"), -ESTALE);
	assert_int_equal(ask_as(fixture, 0, lib, "old"), -ENOENT);
	/* 7 follows the new link, 8 meant the name itself. */
	assert_int_equal(ask_as(fixture, 7, lib, "libcuda.so.1"), 0);
	assert_int_equal(ask_as(fixture, 7, lib, "new"), 0);
	assert_int_equal(ask_as(fixture, 8, lib, "old"), -ENOENT);
	assert_int_equal(ask_as(fixture, 7, lib, "old"), -ESTALE);
	/* Overtaken once more on its second walk: the old file, not remembered. */
	assert_int_equal(ask_as(fixture, 7, lib, "libcuda.so.1"), 0);
	publish_named(fixture, "newest");
	assert_int_equal(ask_as(fixture, 7, lib, "new"), 1);
	assert_int_equal(ask_as(fixture, 8, lib, "new"), 1);
}

static void test_counts(void **state)
{
	struct fixture *fixture = *state;
	struct tree_counts counts;
	uint64_t node = node_of(fixture, "lib", "libcuda.so.1.1");

	assert_int_equal(atomic_load(&fixture->ops.counts[OPS_LOOKUP]), 2);
	tree_count(fixture->tree, &counts);
	assert_int_equal(counts.entries, 3);
	assert_int_equal(counts.revealed, 2);
	assert_int_equal(counts.descriptors.held, 1);
	assert_int_equal(counts.descriptors.unpinned, 0);
	forget(fixture, node, 1);
}

#define WITH_FIXTURE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_FIXTURE(test_names),
		WITH_FIXTURE(test_link),
		WITH_FIXTURE(test_read),
		WITH_FIXTURE(test_changed_in_place),
		WITH_FIXTURE(test_replaced),
		WITH_FIXTURE(test_unsupported),
		cmocka_unit_test_setup_teardown(test_no_cache, set_up_no_cache, tear_down),
		WITH_FIXTURE(test_listing),
		WITH_FIXTURE(test_xattrs),
		WITH_FIXTURE(test_statfs),
		WITH_FIXTURE(test_invalidation),
		WITH_FIXTURE(test_incoming),
		WITH_FIXTURE(test_overtaken),
		WITH_FIXTURE(test_coming_back),
		WITH_FIXTURE(test_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
