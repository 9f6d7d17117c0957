/* SPDX-License-Identifier: MIT */
#include "../compat/cmocka.h"

#include <stdio.h>

#include "fake.h"
#include "sets.h"

static struct policy_layer compat_policy = { .name = (char *)"compat" };
static struct layer compat_layer = { .policy = &compat_policy };
static struct decision on = { .on = true, .layer = &compat_layer };
static struct decision off;

static struct source *library(const char *path, const char *soname)
{
	struct source *source = fake_source(path);

	source->is_elf = true;
	source->elf.soname = strdup(soname);
	return source;
}

/* Adds lib/NAME.so.VERSION of a layer with SONAME NAME.so.1, and its links. */
static void add(struct view *view, const char *layer, const char *name, const char *version)
{
	_cleanup_(freep) char *soname = string_format("%s.so.1", name);
	_cleanup_(freep) char *file = string_format("%s.so.%s", name, version);
	_cleanup_(freep) char *host = string_format("/%s/%s", layer, file);
	_cleanup_(freep) char *path = string_format("lib/%s", file);
	_cleanup_(freep) char *link = string_format("lib/%s", soname);
	struct source *source = library(host, soname);

	assert_int_equal(view_add_file(view, path, source, layer), 0);
	assert_int_equal(view_add_link(view, link, file, source, layer), 0);
	source_unref(source);
}

/* The driver with compat on or off. gpucomp is kept for the host's GL. */
static struct view *driver(bool compat, const char *version)
{
	struct view *view = view_new();
	const char *layer = compat ? "compat" : "host";
	struct source *gpucomp = library("/host/gpucomp", "libnvidia-gpucomp.so.550.163.01");

	add(view, layer, "libcuda", compat ? "600.1" : version);
	add(view, layer, "libnvidia-ptxjitcompiler", compat ? "600.1" : version);
	if (!compat)
		add(view, layer, "libcudadebugger", version);
	add(view, "host", "libnvidia-ml", "470.1");
	assert_int_equal(
		view_add_file(view, "lib/libnvidia-gpucomp.so.550.163.01", gpucomp, "host"), 0);
	assert_int_equal(
		view_add_link(view, "lib/gbm/x_gbm.so", "../libnvidia-ml.so.1", gpucomp, "host"),
		0);
	source_unref(gpucomp);
	return view;
}

static char *names(struct view *view, const char *path)
{
	struct view_directory *directory = view_find_directory(view, path);
	char *text = strdup("");

	for (size_t i = 0; directory && i < directory->count; i++) {
		const struct view_entry *entry = &directory->entries[i];
		char *longer;

		longer = string_format("%s%s%s%s ", text, entry->name, entry->layer ? "@" : "",
			entry->layer ? entry->layer : "");
		free(text);
		text = longer;
	}
	return text;
}

static bool has(struct view *view, const char *set, const char *name, const char *layer)
{
	_cleanup_(freep) char *path = string_format(SETS_DIRECTORY "/%s/lib/%s", set, name);
	const struct view_entry *entry = view_find(view, path);

	return entry && string_equal(entry->layer, layer);
}

static struct sets_usage usage; /* none: no set is in use */

static void finish(struct view *view, const struct decision *decision,
	const struct set_list *before, struct set_list *ret_sets)
{
	size_t n_entries = view->n_entries;

	assert_int_equal(sets_collect(view, decision, before, &usage, ret_sets), 0);
	assert_int_equal(sets_add(view, decision, ret_sets), 0);
	assert_int_equal(view->n_entries, n_entries);
	assert_int_equal(view_finish(view), 0);
}

static void test_pins(void **state)
{
	static const struct {
		const char *soname;
		bool pins;
	} cases[] = {
		{ "libcuda.so.1", true },
		{ "libnvidia-ptxjitcompiler.so.1", true },
		{ "libnvidia-nvvm.so.4", true },
		{ "libnvidia-gpucomp.so.550.163.01", false },
		{ "libnvcudla.so", false },
		{ "libnvidia-ml.so.1", false },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct source *source = library("/x", cases[i].soname);

		if (sets_pins(source) != cases[i].pins)
			fail_msg("%s", cases[i].soname);
		source_unref(source);
	}
}

/* The id: of the same files the same; of others, or with one more or less, another. */
static void test_ids(void **state)
{
	struct view *first = driver(false, "470.1"), *same = driver(false, "470.1"),
		    *other = driver(false, "535.1"), *compat = driver(true, NULL),
		    *none = view_new();
	char ids[5][SETS_ID_SIZE];

	(void)state;
	assert_int_equal(sets_identify(first, &off, ids[0]), 1);
	assert_int_equal(sets_identify(same, &off, ids[1]), 1);
	assert_int_equal(sets_identify(other, &off, ids[2]), 1);
	assert_int_equal(sets_identify(compat, &on, ids[3]), 1);
	assert_int_equal(sets_identify(none, &off, ids[4]), 0);
	assert_int_equal(strlen(ids[0]), 8);
	assert_string_equal(ids[0], ids[1]);
	assert_string_not_equal(ids[0], ids[2]);
	assert_string_not_equal(ids[0], ids[3]);
	assert_string_equal(ids[4], "");
	add(first, "host", "libnvidia-nvvm", "470.1");
	assert_int_equal(sets_identify(first, &off, ids[1]), 1);
	assert_string_not_equal(ids[0], ids[1]);
	view_free(first);
	view_free(same);
	view_free(other);
	view_free(compat);
	view_free(none);
}

/* Host, then compat, then host again. */
static void test_toggle(void **state)
{
	struct view *views[] = { driver(false, "470.1"), driver(true, NULL),
		driver(false, "470.1") };
	struct set_list sets[3] = { 0 };
	const char *host, *compat;
	_cleanup_(freep) char *lib = NULL, *same = NULL, *first = NULL, *third = NULL;
	_cleanup_(freep) char *path = NULL;

	(void)state;
	finish(views[0], &off, NULL, &sets[0]);
	finish(views[1], &on, &sets[0], &sets[1]);
	finish(views[2], &off, &sets[1], &sets[2]);
	assert_int_equal(sets[0].count, 1);
	assert_int_equal(sets[1].count, 2);
	assert_int_equal(sets[2].count, 2);
	host = sets[0].items[0]->id;
	compat = sets[1].items[0]->id;
	assert_string_equal(sets[1].items[1]->id, host);
	assert_string_equal(sets[2].items[0]->id, host);

	assert_true(has(views[1], compat, "libcuda.so.1", "compat"));
	assert_true(has(views[1], compat, "libcuda.so.600.1", "compat"));
	assert_true(has(views[1], compat, "libnvidia-ml.so.1", "host"));
	assert_true(has(views[1], compat, "libnvidia-gpucomp.so.550.163.01", "host"));
	assert_true(has(views[1], compat, "gbm/x_gbm.so", "host"));
	assert_false(has(views[1], compat, "libcudadebugger.so.1", "host"));
	assert_true(has(views[1], host, "libcuda.so.470.1", "host"));
	assert_true(has(views[1], host, "libcudadebugger.so.1", "host"));
	assert_true(has(views[1], host, "libnvidia-ml.so.1", "host"));
	assert_false(has(views[1], host, "libcuda.so.600.1", "compat"));
	assert_true(has(views[2], compat, "libcuda.so.600.1", "compat"));
	assert_false(has(views[2], compat, "libcudadebugger.so.1", "host"));

	/* The active set's directory is lib/, and one set's is the same whatever is active. */
	lib = names(views[1], "lib");
	path = string_format(SETS_DIRECTORY "/%s/lib", compat);
	same = names(views[1], path);
	assert_string_equal(lib, same);
	free(path);
	path = string_format(SETS_DIRECTORY "/%s/lib", host);
	first = names(views[0], path);
	third = names(views[1], path);
	assert_string_equal(first, third);
	for (size_t i = 0; i < 3; i++) {
		view_free(views[i]);
		sets_clear(&sets[i]);
	}
}

static bool is_used(void *context, const struct cuda_set *set)
{
	return strcmp(context, "all") == 0 || strcmp(context, set->id) == 0;
}

/* One that a program uses stays beyond the latest eight, up to a bound. */
static void test_used(void **state)
{
	static char everything[] = "all";
	struct set_list before = { 0 };
	char first[SETS_ID_SIZE] = "";

	(void)state;
	for (int i = 0; i < 2 * SETS_MAX; i++) {
		_cleanup_(freep) char *version = string_format("470.%d", i);
		struct view *view = driver(false, version);
		struct set_list sets = { 0 };

		finish(view, &off, &before, &sets);
		if (i == 0)
			memcpy(first, sets.items[0]->id, sizeof(first));
		usage = (struct sets_usage){ is_used, i < 20 ? first : everything };
		if (i <= SETS_MAX)
			assert_true(has(view, first, "libcuda.so.470.0", "host"));
		if (i > SETS_EARLIER + 1 && i <= 20)
			assert_int_equal(sets.count, SETS_EARLIER + 2);
		if (i <= SETS_MAX)
			assert_int_equal(sets.n_dropped, 0);
		if (i == 2 * SETS_MAX - 1) {
			assert_int_equal(sets.count, SETS_MAX);
			assert_int_equal(sets.n_dropped, 1);
			assert_false(has(view, first, "libcuda.so.470.0", "host"));
		}
		view_free(view);
		sets_clear(&before);
		before = sets;
	}
	usage = (struct sets_usage){ 0 };
	sets_clear(&before);
}

/* The active one and eight before it. */
static void test_limit(void **state)
{
	struct set_list before = { 0 };
	char first[SETS_ID_SIZE] = "";

	(void)state;
	for (int i = 0; i < 12; i++) {
		_cleanup_(freep) char *version = string_format("470.%d", i);
		struct view *view = driver(false, version);
		struct set_list sets = { 0 };
		int expected = i < SETS_EARLIER ? i + 1 : SETS_EARLIER + 1;

		finish(view, &off, &before, &sets);
		assert_int_equal(sets.count, expected);
		if (i == 0)
			memcpy(first, sets.items[0]->id, sizeof(first));
		assert_int_equal(has(view, first, "libcuda.so.470.0", "host"), i <= SETS_EARLIER);
		view_free(view);
		sets_clear(&before);
		before = sets;
	}
	sets_clear(&before);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pins),
		cmocka_unit_test(test_ids),
		cmocka_unit_test(test_toggle),
		cmocka_unit_test(test_limit),
		cmocka_unit_test(test_used),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
