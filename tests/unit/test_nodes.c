/* SPDX-License-Identifier: MIT */
#include "../compat/cmocka.h"

#include <stdio.h>
#include <stdlib.h>

#include "../proto/world.h"
#include "nodes.h"

struct world {
	char *directory;
	struct fdpool *pool;
	struct nodes *nodes;
	struct source *a;
	struct source *b;
};

static int set_up(void **state)
{
	struct world *world = calloc(1, sizeof(*world));

	world->directory = world_directory();
	world->pool = fdpool_new(8);
	world->nodes = nodes_new(world->pool);
	world->a = world_source(world->directory, "a", "a", world->pool);
	world->b = world_source(world->directory, "b", "b", world->pool);
	*state = world;
	return 0;
}

static int tear_down(void **state)
{
	struct world *world = *state;

	nodes_free(world->nodes);
	source_unref(world->a);
	source_unref(world->b);
	fdpool_free(world->pool);
	world_remove(world->directory);
	free(world);
	return 0;
}

/* lib/first = source, lib/second = source, lib/link -> target */
static struct view *publish(struct world *world, struct source *source, const char *target)
{
	struct view *view = view_new();

	assert_int_equal(view_add_file(view, "lib/first", source, "host"), 0);
	assert_int_equal(view_add_file(view, "lib/sub/second", source, "host"), 0);
	assert_int_equal(view_add_link(view, "lib/link", target, source, "host"), 0);
	assert_int_equal(view_finish(view), 0);
	assert_int_equal(nodes_assign(world->nodes, view), 0);
	nodes_publish(world->nodes, view);
	return view;
}

static uint32_t ino_of(struct view *view, const char *path)
{
	return view_find(view, path)->ino;
}

static void test_numbers(void **state)
{
	struct world *world = *state;
	struct view *first = publish(world, world->a, "first");
	uint32_t a = ino_of(first, "lib/first"), link = ino_of(first, "lib/link");
	uint32_t lib = ino_of(first, "lib");
	struct view *second, *third;

	assert_int_equal(first->root.ino, NODES_ROOT);
	/* One number per file, under all its names; different things never share one. */
	assert_int_equal(ino_of(first, "lib/sub/second"), a);
	assert_int_not_equal(link, a);
	second = publish(world, world->b, "other");
	assert_int_not_equal(ino_of(second, "lib/first"), a);
	assert_int_not_equal(ino_of(second, "lib/link"), link);
	assert_int_equal(ino_of(second, "lib"), lib);
	/* What comes back gets its number back. */
	third = publish(world, world->a, "first");
	assert_int_equal(ino_of(third, "lib/first"), a);
	assert_int_equal(ino_of(third, "lib/link"), link);
	view_free(first);
	view_free(second);
	view_free(third);
}

/* A file of an old view stays as long as the kernel knows it, and not longer. */
static void test_old_generation(void **state)
{
	struct world *world = *state;
	struct view *first = publish(world, world->a, "first"), *second, *third;
	uint32_t ino = ino_of(first, "lib/first");
	struct node *node = nodes_find(world->nodes, ino);

	nodes_reveal(world->nodes, node);
	nodes_reveal(world->nodes, node);
	second = publish(world, world->b, "first");
	view_free(first);
	assert_ptr_equal(nodes_find(world->nodes, ino)->source, world->a);
	nodes_forget(world->nodes, node, 1);
	assert_non_null(nodes_find(world->nodes, ino)->source);
	nodes_forget(world->nodes, node, 1);
	/* A walk that the publish overtook may still come to it. */
	assert_non_null(nodes_find(world->nodes, ino)->source);
	third = publish(world, world->b, "other");
	assert_null(nodes_find(world->nodes, ino)->source);
	nodes_forget(world->nodes, node, 1); /* a kernel that counts wrong does no harm */
	view_free(second);
	view_free(third);
}

static void test_many(void **state)
{
	struct world *world = *state;
	struct view *view = view_new();
	size_t known, revealed;
	char path[64];

	for (int i = 0; i < 20000; i++) {
		snprintf(path, sizeof(path), "lib/name%d", i);
		assert_int_equal(view_add_link(view, path, "x", NULL, NULL), 0);
	}
	assert_int_equal(view_finish(view), 0);
	assert_int_equal(nodes_assign(world->nodes, view), 0);
	nodes_publish(world->nodes, view);
	nodes_count(world->nodes, &known, &revealed);
	assert_int_equal(known, 20002);
	assert_int_equal(revealed, 0);
	for (size_t i = 0; i < view->root.entries[0].directory->count; i++) {
		uint32_t ino = view->root.entries[0].directory->entries[i].ino;

		assert_int_equal(nodes_find(world->nodes, ino)->ino, ino);
	}
	view_free(view);
}

#define WITH_WORLD(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_WORLD(test_numbers),
		WITH_WORLD(test_old_generation),
		WITH_WORLD(test_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
