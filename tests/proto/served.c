/* SPDX-License-Identifier: MIT */
#include "../compat/cmocka.h"
#include "served.h"

#include <stdlib.h>

static void on_changed(void *context)
{
	struct served *served = context;

	atomic_fetch_add(&served->changed, 1);
}

struct served *served_new(bool no_cache)
{
	struct served *served = calloc(1, sizeof(*served));

	assert_non_null(served);
	served->directory = world_directory();
	served->pool = fdpool_new(16);
	served->tree = tree_new(served->pool, NULL);
	served->ops = (struct ops){
		.tree = served->tree,
		.pool = served->pool,
		.no_cache = no_cache,
		.changed = on_changed,
		.context = served,
	};
	return served;
}

void served_start(struct served *served)
{
	wire_start(&served->wire, &served->ops);
}

void served_free(struct served *served)
{
	wire_stop(&served->wire);
	tree_free(served->tree);
	fdpool_free(served->pool);
	world_remove(served->directory);
	free(served);
}

struct view *served_view(struct served *served, const char *tag)
{
	struct view *view = view_new();
	struct source *source = world_source(served->directory, tag, tag, served->pool);

	assert_int_equal(view_add_file(view, "lib/libcuda.so.1.1", source, "host"), 0);
	assert_int_equal(
		view_add_link(view, "lib/libcuda.so.1", "libcuda.so.1.1", source, "host"), 0);
	assert_int_equal(view_add_directory(view, ".gldriverfs", true), 0);
	assert_int_equal(view_add_content(view, ".gldriverfs/status.json", "{}", 2), 0);
	source_unref(source);
	return view;
}

struct tree_change served_publish(struct served *served, struct view *view)
{
	struct generation *generation = world_generation(view);
	struct tree_change change;

	assert_int_equal(tree_prepare(served->tree, generation, &change), 0);
	tree_commit(served->tree, &change, NULL, NULL);
	generation_unref(generation);
	return change;
}

struct fuse_entry_out served_find(struct served *served, const char *first, const char *second)
{
	static struct wire_reply reply;

	assert_int_equal(wire_lookup(&served->wire, FUSE_ROOT_ID, first, &reply), 0);
	if (second)
		assert_int_equal(wire_lookup(&served->wire, reply.entry.nodeid, second, &reply), 0);
	return reply.entry;
}

uint64_t served_node(struct served *served, const char *first, const char *second)
{
	return served_find(served, first, second).nodeid;
}

int served_read(struct served *served, uint64_t node, uint64_t offset, uint32_t size,
	struct wire_reply *ret_reply)
{
	struct fuse_read_in in = { .offset = offset, .size = size };

	return wire_ask(&served->wire, FUSE_READ, node, &in, sizeof(in), NULL, 0, ret_reply);
}
