/* SPDX-License-Identifier: MIT */
/* A publish as the kernel sees it: what is told, and what walks that it overtakes are answered. */
#include "../compat/cmocka.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "invalidate.h"
#include "served.h"

static int set_up(void **state)
{
	struct served *served = served_new(false);
	struct tree_change change = served_publish(served, served_view(served, "first"));

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

static void forget(struct served *served, uint64_t node, uint64_t count)
{
	struct fuse_forget_in in = { .nlookup = count };
	static struct wire_reply reply;

	wire_send(&served->wire, FUSE_FORGET, node, &in, sizeof(in), NULL, 0);
	/* There is no reply: a request behind it tells that it was handled, by this worker or
	 * another. */
	assert_int_equal(wire_ask(&served->wire, FUSE_STATFS, 1, NULL, 0, NULL, 0, &reply), 0);
}

/* The same file has its number for ever; what the kernel does not know is not told to it. */
static void test_invalidation(void **state)
{
	struct served *served = *state;
	uint64_t lib = served_node(served, "lib", NULL);
	uint64_t first = served_node(served, "lib", "libcuda.so.1.1"), second;
	struct tree_change change;
	static struct wire_reply message;

	change = served_publish(served, served_view(served, "first"));
	assert_int_equal(change.diff.n_names, 1); /* rewritten: another mtime */
	tree_change_clear(&change);
	first = served_node(served, "lib", "libcuda.so.1.1");

	change = served_publish(served, served_view(served, "second"));
	assert_int_equal(change.diff.n_names, 1);
	assert_string_equal(change.diff.names[0].name, "libcuda.so.1.1");
	assert_int_equal(change.diff.n_directories, 1);
	invalidate(served->wire.session, &change);
	wire_receive(&served->wire, &message);
	assert_int_equal(message.header.unique, 0);
	assert_int_equal(message.header.error, FUSE_NOTIFY_INVAL_ENTRY);
	assert_int_equal(((struct fuse_notify_inval_entry_out *)message.bytes)->parent, lib);
	wire_receive(&served->wire, &message);
	assert_int_equal(message.header.error, FUSE_NOTIFY_INVAL_INODE);
	assert_int_equal(((struct fuse_notify_inval_inode_out *)message.bytes)->ino, lib);
	tree_change_clear(&change);
	second = served_node(served, "lib", "libcuda.so.1.1");
	assert_int_not_equal(first, second);
	forget(served, first, 1000);
}

/* Between the two steps of a publish a new name is absent, but not remembered as that. */
static void test_incoming(void **state)
{
	struct served *served = *state;
	struct view *view = served_view(served, "first");
	struct generation *generation;
	struct tree_change change;
	static struct wire_reply reply;
	uint64_t lib = served_node(served, "lib", NULL);

	assert_int_equal(view_add_link(view, "lib/new", "libcuda.so.1", NULL, NULL), 0);
	generation = world_generation(view);
	assert_int_equal(tree_prepare(served->tree, generation, &change), 0);
	assert_int_equal(wire_lookup(&served->wire, lib, "new", &reply), 0);
	assert_int_equal(reply.entry.nodeid, 0);
	assert_int_equal(reply.entry.entry_valid, 0);
	assert_int_equal(wire_lookup(&served->wire, lib, "other", &reply), 0);
	assert_true(reply.entry.entry_valid > 0);
	invalidate_added(served->wire.session, &change);
	wire_receive(&served->wire, &reply);
	assert_int_equal(reply.header.error, FUSE_NOTIFY_INVAL_ENTRY);
	tree_commit(served->tree, &change, NULL, NULL);
	assert_int_equal(wire_lookup(&served->wire, lib, "new", &reply), 0);
	assert_int_not_equal(reply.entry.nodeid, 0);
	assert_true(reply.entry.entry_valid > 0);
	tree_change_clear(&change);
	generation_unref(generation);
}

/* lib/{libcuda.so.1 -> NAME, NAME} */
static struct view *make_named(struct served *served, const char *name)
{
	_cleanup_(freep) char *path = string_format("lib/%s", name);
	struct view *view = view_new();
	struct source *source = world_source(served->directory, name, name, served->pool);

	assert_int_equal(view_add_file(view, path, source, "host"), 0);
	assert_int_equal(view_add_link(view, "lib/libcuda.so.1", name, source, "host"), 0);
	source_unref(source);
	return view;
}

static void publish_named(struct served *served, const char *name)
{
	struct tree_change change = served_publish(served, make_named(served, name));

	tree_change_clear(&change);
}

static int ask_as(struct served *served, uint32_t thread, uint64_t parent, const char *name)
{
	static struct wire_reply reply;
	int error;

	served->wire.thread = thread;
	error = wire_lookup(&served->wire, parent, name, &reply);
	served->wire.thread = 0;
	if (error)
		return error;
	if (reply.entry.nodeid == 0)
		return -ENOENT;
	return reply.entry.entry_valid ? 0 : 1;
}

/* The same where two publishes overtook: the name went and is about to come back. */
static void test_coming_back(void **state)
{
	struct served *served = *state;
	struct generation *generation;
	struct tree_change change;
	uint64_t lib;

	publish_named(served, "old");
	publish_named(served, "new");
	lib = served_node(served, "lib", NULL);
	generation = world_generation(make_named(served, "old"));
	assert_int_equal(tree_prepare(served->tree, generation, &change), 0);
	assert_int_equal(ask_as(served, 7, lib, "old"), -ESTALE);
	assert_int_equal(ask_as(served, 7, lib, "libcuda.so.1"), 0);
	assert_int_equal(ask_as(served, 7, lib, "new"), 0);
	tree_commit(served->tree, &change, NULL, NULL);
	assert_int_equal(ask_as(served, 7, lib, "old"), 0);
	tree_change_clear(&change);
	generation_unref(generation);
}

/* Who followed an old link starts again; who meant the name learns that it is absent. */
static void test_overtaken(void **state)
{
	struct served *served = *state;
	uint64_t lib;

	publish_named(served, "old");
	publish_named(served, "new");
	lib = served_node(served, "lib", NULL);
	assert_int_equal(ask_as(served, 7, lib, "never"), -ENOENT);
	assert_int_equal(ask_as(served, 7, lib, "old"), -ESTALE);
	assert_int_equal(ask_as(served, 8, lib, "old"), -ESTALE);
	assert_int_equal(ask_as(served, 0, lib, "old"), -ENOENT);
	/* 7 follows the new link, 8 meant the name itself. */
	assert_int_equal(ask_as(served, 7, lib, "libcuda.so.1"), 0);
	assert_int_equal(ask_as(served, 7, lib, "new"), 0);
	assert_int_equal(ask_as(served, 8, lib, "old"), -ENOENT);
	assert_int_equal(ask_as(served, 7, lib, "old"), -ESTALE);
	/* Overtaken once more on its second walk: the old file, not remembered. */
	assert_int_equal(ask_as(served, 7, lib, "libcuda.so.1"), 0);
	publish_named(served, "newest");
	assert_int_equal(ask_as(served, 7, lib, "new"), 1);
	assert_int_equal(ask_as(served, 8, lib, "new"), 1);
}

#define WITH_SERVED(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_SERVED(test_invalidation),
		WITH_SERVED(test_incoming),
		WITH_SERVED(test_coming_back),
		WITH_SERVED(test_overtaken),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
