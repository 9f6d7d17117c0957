/* SPDX-License-Identifier: MIT */
/* csv: lines to entries and warnings. */
#include "../compat/cmocka.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "csv.h"

#define CASE(text_, expected_)                                                                     \
	{                                                                                          \
		text_, sizeof(text_) - 1, expected_                                                \
	}

static const struct {
	const char *text;
	size_t size;
	const char *expected;
} cases[] = {
	CASE("", ""),
	CASE("lib, /usr/lib/libcuda.so.1.1", "1 lib /usr/lib/libcuda.so.1.1\n"),
	CASE("lib,/a\nsym,/b\ndir,/c\ndev,/d\n", "1 lib /a\n2 sym /b\n3 dir /c\n4 dev /d\n"),
	CASE("  sym ,\t/x \t\r\nlib,/y\r\n", "1 sym /x\n2 lib /y\n"),
	CASE("lib, /a b, c/x.so", "1 lib /a b, c/x.so\n"),
	CASE("lib, /a//b/*.so\nlib, /a//b/*.so\n", "1 lib /a//b/*.so\n2 lib /a//b/*.so\n"),
	CASE("\n \n\r\n\tlib, /a\n", "4 lib /a\n"),
	CASE("# lib, /a\nlib, /b # c\n",
		"2 lib /b # c\nl.csv:1: warning: the type is not dev, dir, lib or sym; the line is "
		"left out\n"),
	CASE("lib /a",
		"l.csv:1: warning: the line has no comma: it is not 'type, path'; the line is "
		"left out\n"),
	CASE("lib,\nlib,  \n", "l.csv:1: warning: the path is missing; the line is left out\n"
			       "l.csv:2: warning: the path is missing; the line is left out\n"),
	CASE("LIB, /a\nlibs, /a\nli, /a\n, /a\n",
		"l.csv:1: warning: the type is not dev, dir, lib or sym; the line is left out\n"
		"l.csv:2: warning: the type is not dev, dir, lib or sym; the line is left out\n"
		"l.csv:3: warning: the type is not dev, dir, lib or sym; the line is left out\n"
		"l.csv:4: warning: the type is not dev, dir, lib or sym; the line is left out\n"),
	CASE("lib, a", "l.csv:1: warning: the path is not absolute; the line is left out\n"),
	CASE("lib, /a\0b\nlib, /c",
		"2 lib /c\nl.csv:1: warning: the line has a NUL byte; the line is left out\n"),
};

static char *dump(const char *text, size_t size)
{
	static const char *const names[] = { "dev", "dir", "lib", "sym" };
	_cleanup_(diag_clear) struct diag_list diags = { 0 };
	_cleanup_(csv_clear) struct csv csv = { 0 };
	/* No NUL stands behind it. */
	_cleanup_(freep) char *exact = malloc(size ? size : 1);
	char *result = NULL;
	size_t length;
	FILE *stream = open_memstream(&result, &length);

	memcpy(exact, text, size);
	assert_int_equal(csv_parse("l.csv", exact, size, &csv, &diags), 0);
	for (size_t i = 0; i < csv.count; i++)
		fprintf(stream, "%u %s %s\n", csv.items[i].line, names[csv.items[i].type],
			csv.items[i].path);
	for (size_t i = 0; i < diags.count; i++) {
		_cleanup_(freep) char *line = diag_format(&diags.items[i]);

		fprintf(stream, "%s\n", line);
	}
	fclose(stream);
	return result;
}

static void test_cases(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_(freep) char *got = dump(cases[i].text, cases[i].size);

		if (strcmp(got, cases[i].expected) != 0)
			fail_msg("'%s':\n%s-- expected --\n%s", cases[i].text, got,
				cases[i].expected);
	}
}

static void test_limits(void **state)
{
	_cleanup_(diag_clear) struct diag_list diags = { 0 };
	_cleanup_(csv_clear) struct csv csv = { 0 };
	char text[8192];
	size_t size = 0;

	(void)state;
	memset(text, '/', sizeof(text));
	memcpy(text, "lib,", 4);
	assert_int_equal(csv_parse("l.csv", text, sizeof(text), &csv, &diags), 0);
	assert_int_equal(csv.count, 0);
	assert_string_equal(diags.items[0].text, "the path is too long; the line is left out");
	for (size_t i = 0; i < CSV_WARNINGS_MAX + 7; i++, size += 2)
		memcpy(text + size, "x\n", 2);
	diag_clear(&diags);
	assert_int_equal(csv_parse("l.csv", text, size, &csv, &diags), 0);
	assert_int_equal(diags.count, CSV_WARNINGS_MAX + 1);
	assert_string_equal(diags.items[CSV_WARNINGS_MAX].text, "7 more lines are left out");
}

static void test_names(void **state)
{
	(void)state;
	assert_true(csv_is_list("l4t.csv"));
	assert_false(csv_is_list("l4t.csv~"));
	assert_false(csv_is_list("l4t.csv.dpkg-new"));
	assert_false(csv_is_list(".l4t.csv"));
	assert_false(csv_is_list("csv"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cases),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests_name("csv", tests, NULL, NULL);
}
