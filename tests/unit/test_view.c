/* SPDX-License-Identifier: MIT */
#include "../compat/cmocka.h"

#include <errno.h>
#include <stdio.h>
#include <time.h>

#include "../../fs/view.c"
#include "fake.h"

static void test_tree(void **state)
{
	struct view *view = view_new();
	struct source *source = fake_source("/host/libcuda.so.1.1");
	struct view_entry *entry;

	(void)state;
	assert_int_equal(view_add_file(view, "lib/libcuda.so.1.1", source, "host"), 0);
	assert_int_equal(
		view_add_link(view, "lib/libcuda.so.1", "libcuda.so.1.1", source, "host"), 0);
	assert_int_equal(view_add_content(view, ".gldriverfs/status.json", "a\0b", 3), 0);
	assert_int_equal(view_add_directory(view, "share/vulkan", false), 0);
	assert_int_equal(view->n_entries, 3);
	assert_int_equal(view_finish(view), 0);

	entry = view_find(view, "lib/libcuda.so.1.1");
	assert_int_equal(entry->kind, VIEW_FILE);
	assert_ptr_equal(entry->source, source);
	assert_string_equal(entry->layer, "host");
	entry = view_find(view, "lib/libcuda.so.1");
	assert_int_equal(entry->kind, VIEW_LINK);
	assert_string_equal(entry->target, "libcuda.so.1.1");
	entry = view_find(view, ".gldriverfs/status.json");
	assert_int_equal(entry->content_size, 3);
	assert_memory_equal(entry->content, "a\0b", 3);
	assert_null(view_find(view, "lib/absent"));
	assert_null(view_find(view, "lib/libcuda.so.1/x"));
	assert_null(view_find(view, ""));
	assert_ptr_equal(view_find_directory(view, ""), &view->root);
	assert_string_equal(view_find_directory(view, "share/vulkan")->path, "share/vulkan");
	assert_null(view_find_directory(view, "lib/libcuda.so.1"));
	source_unref(source);
	view_free(view);
	assert_null(view_free(NULL));
}

static const struct {
	const char *path;
	int result;
} bad[] = {
	{ "lib/a", -EEXIST },
	{ "lib", -EEXIST },
	{ "lib/a/b", -ENOTDIR },
	{ "", -EINVAL },
	{ "/lib/b", -EINVAL },
	{ "lib//b", -EINVAL },
	{ "lib/", -EINVAL },
	{ "lib/./b", -EINVAL },
	{ "..", -EINVAL },
};

static void test_refused(void **state)
{
	struct view *view = view_new();
	struct source *source = fake_source("/host/a");
	char name[NAME_MAX + 2];

	(void)state;
	assert_int_equal(view_add_file(view, "lib/a", source, NULL), 0);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		print_message("%s\n", bad[i].path);
		assert_int_equal(view_add_file(view, bad[i].path, source, NULL), bad[i].result);
		assert_int_equal(
			view_add_link(view, bad[i].path, "x", source, NULL), bad[i].result);
		assert_int_equal(view_add_content(view, bad[i].path, "x", 1), bad[i].result);
		assert_int_equal(view_add_directory(view, bad[i].path, false), bad[i].result);
	}
	memset(name, 'n', sizeof(name));
	name[NAME_MAX + 1] = '\0';
	assert_int_equal(view_add_file(view, name, source, NULL), -EINVAL);
	name[NAME_MAX] = '\0';
	assert_int_equal(view_add_file(view, name, source, NULL), 0);
	assert_int_equal(view->n_entries, 2);
	assert_int_equal(source->references, 3);
	view_free(view);
	assert_int_equal(source->references, 1);
	source_unref(source);
}

/* Two names of one hash: the cookies differ, both are found. */
static void test_collisions(void **state)
{
	enum { MANY = 200000 };
	struct namemap seen = { 0 };
	char(*names)[16] = calloc(MANY, sizeof(*names));
	char(*keys)[16] = calloc(MANY, sizeof(*keys));
	struct view *view = view_new();
	size_t collisions = 0;

	(void)state;
	for (size_t i = 0; i < MANY; i++) {
		size_t other;

		snprintf(names[i], sizeof(names[i]), "n%zu", i);
		snprintf(keys[i], sizeof(keys[i]), "%u", name_hash(names[i]));
		if (namemap_get(&seen, keys[i], &other)) {
			view_add_content(view, names[i], "", 0);
			view_add_content(view, names[other], "", 0);
			collisions++;
		} else {
			namemap_put(&seen, keys[i], i);
		}
	}
	assert_true(collisions > 0);
	assert_int_equal(view_finish(view), 0);
	for (size_t i = 0; i < view->root.count; i++) {
		struct view_entry *entry = &view->root.entries[i];

		assert_ptr_equal(view_lookup(&view->root, entry->name), entry);
		assert_true(i == 0 || entry[-1].cookie < entry->cookie);
	}
	assert_int_equal(view->root.count, collisions * 2);
	namemap_clear(&seen);
	free(names);
	free(keys);
	view_free(view);
}

static struct view *make(const char *const *paths, size_t n, bool backwards, struct source *source)
{
	struct view *view = view_new();

	for (size_t i = 0; i < n; i++)
		view_add_file(view, paths[backwards ? n - 1 - i : i], source, NULL);
	return view;
}

static void test_cookies_are_stable(void **state)
{
	static const char *const paths[] = { "a", "b", "c", "d", "lib/e" };
	struct source *source = fake_source("/x");
	struct view *all = make(paths, 5, false, source);
	struct view *some = make(paths, 3, true, source);

	(void)state;
	view_finish(all);
	view_finish(some);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(
			view_find(all, paths[i])->cookie, view_find(some, paths[i])->cookie);
	for (size_t i = 0; i < all->root.count; i++) {
		assert_true(all->root.entries[i].cookie >= FIRST_COOKIE);
		assert_int_equal(view_after(&all->root, all->root.entries[i].cookie), i + 1);
		assert_int_equal(view_after(&all->root, all->root.entries[i].cookie - 1), i);
	}
	assert_int_equal(view_after(&all->root, 0), 0);
	view_free(all);
	view_free(some);
	source_unref(source);
}

/* Each step changes one thing; the id must change with each but the marked ones. */
static void test_identity(void **state)
{
	static const char *const paths[] = { "lib/a", "lib/b", "share/x/y" };
	enum { IDS = 12 };
	char ids[IDS][37];
	size_t n = 0;
	struct source *source = fake_source("/x");

	(void)state;
	for (size_t step = 0; step < IDS; step++) {
		struct view *view = make(paths, 3, step % 2, source);

		switch (step) {
		case 1: /* the same, in another order, finished */
			view_finish(view);
			break;
		case 2: /* the same, with hidden things */
			view_add_directory(view, ".gldriverfs", true);
			view_add_content(view, ".gldriverfs/status.json", "x", 1);
			break;
		case 4:
			view_add_link(view, "lib/c", "a", source, NULL);
			break;
		case 5:
			view_add_link(view, "lib/c", "b", source, NULL);
			break;
		case 6:
			view_add_content(view, "lib/c", "b", 1);
			break;
		case 7:
			view_add_directory(view, "lib/c", false);
			break;
		case 8:
			source->mode = 0100755;
			break;
		case 9:
			source->uid = 7;
			break;
		case 10:
			source->gid = 7;
			break;
		case 11:
			source->identity.mtime_nsec = 1;
			break;
		}
		assert_int_equal(view_identify(view), 0);
		memcpy(ids[n++], view->id, 37);
		view_free(view);
	}
	assert_int_equal(ids[0][14], '5');
	assert_string_equal(ids[0], ids[1]);
	assert_string_equal(ids[0], ids[2]);
	assert_string_equal(ids[0], ids[3]); /* another order, not finished */
	for (size_t i = 4; i < IDS; i++) {
		for (size_t k = 3; k < i; k++)
			assert_string_not_equal(ids[i], ids[k]);
	}
	source_unref(source);
}

/* A change of the bytes is another view; a link becomes a file. */
static void test_patched(void **state)
{
	struct source *source = fake_source("/h/x");
	struct overlay *overlays[2];
	char ids[3][37];

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		overlays[i] = overlay_new(4096);
		assert_int_equal(overlay_write(overlays[i], 4100, i ? "a" : "b", 1), 0);
		overlay_finish(overlays[i]);
	}
	for (size_t i = 0; i < 3; i++) {
		struct view *view = view_new();
		struct view_entry *entry;

		assert_int_equal(view_add_link(view, "lib/x", "/h/x", source, "host"), 0);
		entry = &view->root.entries[0].directory->entries[0];
		if (i < 2) {
			view_patch(entry, overlays[1]);
			view_patch(entry, overlays[i]);
			assert_int_equal(entry->kind, VIEW_FILE);
			assert_null(entry->target);
			assert_int_equal(view_entry_size(entry), 4101);
		} else {
			assert_int_equal(view_entry_size(entry), 4);
		}
		assert_int_equal(view_identify(view), 0);
		memcpy(ids[i], view->id, 37);
		view_free(view);
	}
	assert_string_not_equal(ids[0], ids[1]);
	assert_string_not_equal(ids[0], ids[2]);
	assert_string_not_equal(ids[1], ids[2]);
	overlay_unref(overlays[0]);
	overlay_unref(overlays[1]);
	source_unref(source);
}

/* A quadratic search would take minutes. */
static void test_large(void **state)
{
	enum { MANY = 20000 };
	struct view *view = view_new();
	struct source *source = fake_source("/x");
	struct timespec begin;
	struct timespec end;
	char path[64];

	(void)state;
	clock_gettime(CLOCK_MONOTONIC, &begin);
	for (size_t i = 0; i < MANY; i++) {
		snprintf(path, sizeof(path), "lib/libsomething-%zu.so.1", i);
		assert_int_equal(view_add_file(view, path, source, NULL), 0);
	}
	assert_int_equal(view_add_file(view, path, source, NULL), -EEXIST);
	assert_int_equal(view_identify(view), 0);
	assert_int_equal(view_finish(view), 0);
	for (size_t i = 0; i < MANY; i++) {
		snprintf(path, sizeof(path), "lib/libsomething-%zu.so.1", i);
		assert_non_null(view_find(view, path));
	}
	clock_gettime(CLOCK_MONOTONIC, &end);
	print_message("%d entries: %ld ms\n", MANY,
		(end.tv_sec - begin.tv_sec) * 1000 + (end.tv_nsec - begin.tv_nsec) / 1000000);
	assert_true(end.tv_sec - begin.tv_sec < 5);
	view_free(view);
	source_unref(source);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tree),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_collisions),
		cmocka_unit_test(test_cookies_are_stable),
		cmocka_unit_test(test_identity),
		cmocka_unit_test(test_patched),
		cmocka_unit_test(test_large),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
