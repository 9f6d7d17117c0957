/* SPDX-License-Identifier: MIT */
/* watch: when a change is a reload, and what a load that succeeds, fails or wants none leaves. */
#include "../compat/cmocka.h"

#include <poll.h>
#include <time.h>

#include "tree_builder.h"
#include "watch.h"

struct place {
	struct tree tree;
	struct rootfs *root;
	struct watch *watch;
};

static int set_up(void **state)
{
	struct place *place = calloc(1, sizeof(*place));

	assert_non_null(place);
	tree_new(&place->tree);
	tree_text(&place->tree, "a/file", "text\n");
	tree_text(&place->tree, "b/file", "text\n");
	assert_int_equal(rootfs_open(place->tree.top, &place->root), 0);
	assert_int_equal(watch_new(&place->watch), 0);
	*state = place;
	return 0;
}

static int tear_down(void **state)
{
	struct place *place = *state;

	watch_free(place->watch);
	rootfs_unref(place->root);
	tree_remove(&place->tree);
	free(place);
	return 0;
}

static void load(struct place *place, const char *path, bool success)
{
	struct touched *touched;

	assert_int_equal(watch_begin(place->watch, true, &touched), 0);
	assert_non_null(touched);
	rootfs_touch(place->root, path, touched);
	watch_end(place->watch, touched, success);
	touched_unref(touched);
}

static unsigned now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (unsigned)now.tv_sec * 1000 + (unsigned)now.tv_nsec / 1000000;
}

/* Whether a reload is due before there is nothing to do any more. *ret_ms: how long it took;
 * change (may be NULL) is made before each wait. Returns the number of dispatches in *ret_steps. */
static bool is_due(struct place *place, const char *change, unsigned *ret_ms, unsigned *ret_steps)
{
	struct pollfd poll_fd = { .fd = watch_fd(place->watch), .events = POLLIN };
	unsigned start = now_ms();

	*ret_steps = 0;
	do {
		if (change)
			tree_text(&place->tree, change, "other\n");
		if (poll(&poll_fd, 1, 2 * WATCH_QUIET_MS) == 0)
			return false;
		++*ret_steps;
	} while (!watch_dispatch(place->watch));
	*ret_ms = now_ms() - start;
	return true;
}

static void expect_due(struct place *place, bool due)
{
	unsigned steps, ms;

	assert_int_equal(is_due(place, NULL, &ms, &steps), due);
}

static void test_quiet(void **state)
{
	struct place *place = *state;
	unsigned ms = 0, steps;

	load(place, "/a/file", true);
	expect_due(place, false);
	for (size_t i = 0; i < 500; i++)
		tree_text(&place->tree, "a/file", "other\n");
	assert_true(is_due(place, NULL, &ms, &steps));
	assert_in_range(ms, WATCH_QUIET_MS - 1, WATCH_LIMIT_MS);
	assert_true(steps <= 3);
	/* Nothing is left of it. */
	expect_due(place, false);
}

static void test_never_quiet(void **state)
{
	struct place *place = *state;
	unsigned ms = 0, steps;

	load(place, "/a/file", true);
	assert_true(is_due(place, "a/file", &ms, &steps));
	assert_in_range(ms, WATCH_LIMIT_MS - WATCH_QUIET_MS, WATCH_LIMIT_MS + 4 * WATCH_QUIET_MS);
	assert_true(steps <= 2 + WATCH_LIMIT_MS / WATCH_QUIET_MS);
}

/* What a load has yet to look at when it begins is no news. */
static void test_begin(void **state)
{
	struct place *place = *state;

	load(place, "/a/file", true);
	tree_text(&place->tree, "a/file", "other\n");
	load(place, "/a/file", true);
	expect_due(place, false);
	/* During one it is. */
	{
		struct touched *touched;

		assert_int_equal(watch_begin(place->watch, false, &touched), 0);
		rootfs_touch(place->root, "/b/file", touched);
		tree_text(&place->tree, "b/file", "other\n");
		watch_end(place->watch, touched, true);
		touched_unref(touched);
	}
	expect_due(place, true);
}

static void test_failed(void **state)
{
	struct place *place = *state;

	load(place, "/a/file", true);
	load(place, "/b/file", false);
	tree_text(&place->tree, "b/file", "other\n");
	expect_due(place, true);
	tree_text(&place->tree, "a/file", "other\n");
	expect_due(place, true);
	load(place, "/a/file", true);
	tree_text(&place->tree, "b/file", "again\n");
	expect_due(place, false);
}

static void test_off(void **state)
{
	struct place *place = *state;
	struct touched *touched;

	assert_int_equal(watch_begin(place->watch, false, &touched), 0);
	assert_null(touched);
	load(place, "/a/file", true);
	assert_int_equal(watch_count(place->watch), 1);
	tree_text(&place->tree, "a/file", "other\n");
	watch_off(place->watch);
	assert_int_equal(watch_count(place->watch), 0);
	expect_due(place, false);
	assert_int_equal(watch_begin(place->watch, false, &touched), 0);
	assert_null(touched);
	load(place, "/a/file", true);
	tree_text(&place->tree, "a/file", "again\n");
	expect_due(place, true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_quiet, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_never_quiet, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_begin, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_failed, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_off, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
