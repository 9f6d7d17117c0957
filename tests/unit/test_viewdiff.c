/* SPDX-License-Identifier: MIT */
#include "../compat/cmocka.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../fs/viewdiff.h"
#include "fake.h"

/* A view as words "path=ino"; a path that ends in '/' is a directory. The root is 1. */
static struct view *make(const char *text)
{
	struct view *view = view_new();
	struct string_list words = { 0 };

	fake_words(&words, text);
	for (size_t i = 0; i < words.count; i++) {
		char *path = words.items[i];
		size_t size = strcspn(path, "=");

		if (path[size - 1] == '/')
			path[size - 1] = '\0';
		path[size] = '\0';
		if (strlen(path) < size)
			assert_int_equal(view_add_directory(view, path, false), 0);
		else
			assert_int_equal(view_add_content(view, path, "", 0), 0);
	}
	assert_int_equal(view_finish(view), 0);
	view->root.ino = 1;
	for (size_t i = 0; i < words.count; i++) {
		struct view_entry *entry = view_find(view, words.items[i]);
		const char *number = strchr(text, '=');

		for (size_t k = 0; k < i; k++)
			number = strchr(number + 1, '=');
		entry->ino = (uint32_t)atoi(number + 1);
		if (entry->directory)
			entry->directory->ino = entry->ino;
	}
	string_list_clear(&words);
	return view;
}

static const struct {
	const char *before;
	const char *after;
	const char *names;       /* sorted: what parent before name */
	const char *directories; /* in order */
} cases[] = {
	{ "lib/=2 lib/a=3", "lib/=2 lib/a=3", "", "" },
	{ "lib/=2 lib/a=3", "lib/=2 lib/a=4", "C2:3:a ", "2 " },
	{ "lib/=2 lib/a=3", "lib/=2 lib/a=3 lib/b=4", "A2:0:b ", "2 " },
	{ "lib/=2 lib/a=3 lib/b=4", "lib/=2 lib/a=3", "R2:4:b ", "2 " },
	{ "lib/=2 lib/a=3", "", "R1:2:lib R2:3:a ", "1 2 " },
	{ "", "lib/=2 lib/a=3", "A1:0:lib A2:0:a ", "1 2 " },
	{ "x=2", "x/=3 x/y=4", "A3:0:y C1:2:x ", "1 3 " },
	{ "x/=2 x/y=4", "x/=3 x/y=4", "A3:0:y C1:2:x R2:4:y ", "1 2 3 " },
	{ "a=9 lib/=2 lib/d/=3 lib/d/e=4", "b=9 lib/=2 lib/d/=3 lib/d/e=5", "A1:0:b C3:4:e R1:9:a ",
		"1 3 " },
};

static int compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void test_cases(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct view *before = make(cases[i].before);
		struct view *after = make(cases[i].after);
		struct string_list lines = { 0 };
		struct viewdiff diff;
		char text[256] = "";
		char directories[64] = "";

		assert_int_equal(viewdiff(before, after, &diff), 0);
		for (size_t k = 0; k < diff.n_names; k++) {
			const struct viewdiff_name *name = &diff.names[k];
			const char what = "ARC"[name->what];
			char *line = string_format(
				"%c%u:%u:%s ", what, name->parent, name->before, name->name);

			string_list_add(&lines, line);
			free(line);
			/* grouped: a parent that was left does not come back */
			for (size_t m = 0; k > 0 && m < k; m++)
				assert_true(diff.names[m].parent != name->parent ||
					    diff.names[k - 1].parent == name->parent);
		}
		if (lines.count)
			qsort(lines.items, lines.count, sizeof(*lines.items), compare);
		for (size_t k = 0; k < lines.count; k++)
			strncat(text, lines.items[k], sizeof(text) - strlen(text) - 1);
		for (size_t k = 0; k < diff.n_directories; k++)
			snprintf(directories + strlen(directories),
				sizeof(directories) - strlen(directories), "%u ",
				diff.directories[k]);
		print_message("%zu\n", i);
		assert_string_equal(text, cases[i].names);
		assert_string_equal(directories, cases[i].directories);
		string_list_clear(&lines);
		viewdiff_clear(&diff);
		view_free(before);
		view_free(after);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cases),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
