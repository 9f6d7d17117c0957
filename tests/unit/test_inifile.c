/* SPDX-License-Identifier: MIT */
/* inifile: the grammar of DESIGN 4, line by line. */
#include "../compat/cmocka.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "inifile.h"

/* The entries as "line section|key|value" lines; a header is "line [section]". */
static char *dump(const struct ini_file *file)
{
	char *text = strdup("");

	for (size_t i = 0; i < file->count; i++) {
		const struct ini_entry *entry = &file->entries[i];
		char *longer;

		if (entry->key)
			longer = string_format("%s%u %s|%s|%s\n", text, entry->line, entry->section,
				entry->key, entry->value);
		else
			longer = string_format("%s%u [%s]\n", text, entry->line, entry->section);
		free(text);
		text = longer;
	}
	return text;
}

static void test_good(void **state)
{
	static const struct {
		const char *text;
		const char *entries;
	} cases[] = {
		{ "[a]\nb = c\n", "1 [a]\n2 a|b|c\n" },
		{ "[a]\nb=c", "1 [a]\n2 a|b|c\n" },
		{ "\xef\xbb\xbf[a]\r\nb = c\r\n", "1 [a]\n2 a|b|c\n" },
		{ "[a]\nb = c ; note\n", "1 [a]\n2 a|b|c\n" },
		{ "[a]\nb = c\t# note\n", "1 [a]\n2 a|b|c\n" },
		{ "[a]\nb = c;d#e\n", "1 [a]\n2 a|b|c;d#e\n" },
		{ "[a]\nb =;c\n", "1 [a]\n2 a|b|;c\n" },
		{ "[sec] # c\n", "1 [sec]\n" },
		{ "[sec]\t;c\n", "1 [sec]\n" },
		{ "[ layer  one ]\n", "1 [layer  one]\n" },
		{ "[empty]\n\n[a]\n  b = c\n\t  d = e f  \n",
			"1 [empty]\n3 [a]\n4 a|b|c\n5 a|d|e f\n" },
		{ "; c\n# d\n   ; e\n[a]\n;b = c\n", "4 [a]\n" },
		{ "[a]\nb = c = d : e\n", "1 [a]\n2 a|b|c = d : e\n" },
		{ "[a]\nb:c = d\n", "1 [a]\n2 a|b:c|d\n" },
		{ "[a]\nx.y = 1\nlayer host.dir = /x\n",
			"1 [a]\n2 a|x.y|1\n3 a|layer host.dir|/x\n" },
		{ "[a]\nb = %s $HOME ~ \"q\"\n", "1 [a]\n2 a|b|%s $HOME ~ \"q\"\n" },
		{ "[a]\nb = 1\n[a]\nb = 2\n", "1 [a]\n2 a|b|1\n3 [a]\n4 a|b|2\n" },
		{ "[a]\nb = \xc3\xa4\xff\n", "1 [a]\n2 a|b|\xc3\xa4\xff\n" },
		{ "\n", "" },
		{ "# only a comment", "" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_(diag_clear) struct diag_list diags = { 0 };
		_cleanup_(ini_file_freep) struct ini_file *file = NULL;
		_cleanup_(freep) char *text = NULL;

		assert_int_equal(
			inifile_parse("t", cases[i].text, strlen(cases[i].text), &file, &diags), 0);
		assert_int_equal(diags.count, 0);
		assert_string_equal(file->name, "t");
		text = dump(file);
		assert_string_equal(text, cases[i].entries);
	}
}

#define DATA(text) text, sizeof(text) - 1

static void test_bad(void **state)
{
	static const struct {
		const char *data;
		size_t size;
		const char *error;
	} cases[] = {
		{ DATA(""), "t: the file is empty" },
		{ DATA("\xff\xfe[\0a\0]\0\n\0"), "t:1: the file is UTF-16" },
		{ DATA("\xfe\xff\0[\0a\0]"), "t:1: the file is UTF-16" },
		{ DATA("[\0a\0]\0"), "t:1: there is a NUL byte" },
		{ DATA("[a]\nb = c\0d\n"), "t:2: there is a NUL byte" },
		{ DATA("# c\0d\n"), "t:1: there is a NUL byte" },
		{ DATA("[a]\rb = c\r"), "t:1: there is a carriage return" },
		{ DATA("[a]\nb = c\rd\n"), "t:2: there is a carriage return" },
		{ DATA("[a]\nb = c\r\r\n"), "t:2: there is a carriage return" },
		{ DATA("[a]\nkey:value\n"), "t:2: expected key = value: the separator is '='" },
		{ DATA("[a]\nkey\n"), "t:2: expected [section], key = value or a comment" },
		{ DATA("[a]\nkey =\n"), "t:2: the value is empty" },
		{ DATA("[a]\nkey = ; c\n"), "t:2: the value is empty" },
		{ DATA("[a]\n = v\n"), "t:2: there is no key" },
		{ DATA("b = c\n"), "t:1: the key stands before the first [section]" },
		{ DATA("[a\nb = c\n"), "t:1: the section's ']' is missing" },
		{ DATA("[a # b]\n"), "t:1: the section's ']' is missing" },
		{ DATA("[a] b\n"), "t:1: there is text behind" },
		{ DATA("[a]#b\n"), "t:1: there is text behind" },
		{ DATA("[a]]\n"), "t:1: there is text behind" },
		{ DATA("[]\n"), "t:1: the section has no name" },
		{ DATA("[ \t]\n"), "t:1: the section has no name" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_(diag_clear) struct diag_list diags = { 0 };
		struct ini_file *file = NULL;
		_cleanup_(freep) char *error = NULL;

		assert_int_equal(
			inifile_parse("t", cases[i].data, cases[i].size, &file, &diags), -EINVAL);
		assert_null(file);
		assert_int_equal(diags.count, 1);
		error = diag_first_error(&diags);
		if (!string_has_prefix(error, cases[i].error))
			fail_msg("%s\nis not the expected\n%s", error, cases[i].error);
	}
}

static void append(char **text, const char *more, size_t times)
{
	size_t size = strlen(*text), step = strlen(more);

	*text = realloc(*text, size + step * times + 1);
	for (size_t i = 0; i < times; i++)
		memcpy(*text + size + i * step, more, step + 1);
}

/* inih alone would cut or split each of these. */
static void test_long_lines(void **state)
{
	_cleanup_(diag_clear) struct diag_list diags = { 0 };
	_cleanup_(ini_file_freep) struct ini_file *file = NULL;
	_cleanup_(freep) char *text = strdup("#");

	(void)state;
	append(&text, "c = d ", 20000);
	append(&text, "\n[layer ", 1);
	append(&text, "s", 1000);
	append(&text, "]\n", 1);
	append(&text, "k", 300);
	append(&text, " = ", 1);
	append(&text, "v w", 1000);
	append(&text, " ; ", 1);
	append(&text, "note ", 10000);
	append(&text, "\nlast = ", 1);
	append(&text, "x", INIFILE_LINE_MAX - strlen("last = "));
	append(&text, "\n", 1);
	assert_int_equal(inifile_parse("t", text, strlen(text), &file, &diags), 0);
	assert_int_equal(file->count, 3);
	assert_int_equal(strlen(file->entries[0].section), 1006);
	assert_int_equal(strlen(file->entries[1].section), 1006);
	assert_int_equal(strlen(file->entries[1].key), 300);
	assert_int_equal(strlen(file->entries[1].value), 3000);
	assert_int_equal(file->entries[2].line, 4);
	assert_int_equal(strlen(file->entries[2].value), INIFILE_LINE_MAX - strlen("last = "));
	file = ini_file_free(file);
	text[strlen(text) - 1] = 'x';
	assert_int_equal(inifile_parse("t", text, strlen(text), &file, &diags), -EINVAL);
	assert_int_equal(diags.count, 1);
	assert_int_equal(diags.items[0].line, 4);
	assert_string_equal(diags.items[0].text, "the line is longer than 4096 bytes");
}

static void test_every_bad_line_is_named(void **state)
{
	_cleanup_(diag_clear) struct diag_list diags = { 0 };
	_cleanup_(diag_clear) struct diag_list many = { 0 };
	_cleanup_(freep) char *text = strdup("[a]\nb\nc = d\ne\n");
	struct ini_file *file = NULL;

	(void)state;
	assert_int_equal(inifile_parse("t", text, strlen(text), &file, &diags), -EINVAL);
	assert_int_equal(diags.count, 2);
	assert_int_equal(diags.items[0].line, 2);
	assert_int_equal(diags.items[1].line, 4);
	append(&text, "bad\n", 1000);
	assert_int_equal(inifile_parse("t", text, strlen(text), &file, &many), -EINVAL);
	assert_int_equal(many.count, 21);
	assert_int_equal(many.items[20].line, 23);
	assert_string_equal(many.items[20].text, "there are more errors from here on");
}

static void test_many_entries(void **state)
{
	_cleanup_(diag_clear) struct diag_list diags = { 0 };
	_cleanup_(ini_file_freep) struct ini_file *file = NULL;
	_cleanup_(freep) char *text = strdup("[a]\n");

	(void)state;
	append(&text, "b = c\n", 100000);
	assert_int_equal(inifile_parse("t", text, strlen(text), &file, &diags), 0);
	assert_int_equal(file->count, 100001);
	assert_int_equal(file->entries[100000].line, 100001);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good),
		cmocka_unit_test(test_bad),
		cmocka_unit_test(test_long_lines),
		cmocka_unit_test(test_every_bad_line_is_named),
		cmocka_unit_test(test_many_entries),
	};

	return cmocka_run_group_tests_name("inifile", tests, NULL, NULL);
}
