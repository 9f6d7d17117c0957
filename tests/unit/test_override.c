/* SPDX-License-Identifier: MIT */
#include "../compat/cmocka.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "override.h"

static const struct {
	const char *before;
	const char *value; /* NULL: taken out */
	const char *after; /* NULL: no entry is left */
} edits[] = {
	{ "", "on", "[compat]\nmode = on\n" },
	{ "", NULL, NULL },
	{ "; note\n", "off", "; note\n[compat]\nmode = off\n" },
	{ "; note\n[compat]\nmode = on\n", "off", "; note\n[compat]\nmode = off\n" },
	{ "[compat]\nmode = on\n", NULL, NULL },
	{ "[gldriverfs]\nprofile = x\n", "on", "[gldriverfs]\nprofile = x\n[compat]\nmode = on\n" },
	{ "[gldriverfs]\nprofile = x\n[compat]\nmode=on\n", NULL,
		"[gldriverfs]\nprofile = x\n[compat]\n" },
	{ "[gldriverfs]\nprofile = x", "on", "[gldriverfs]\nprofile = x\n[compat]\nmode = on\n" },
	{ "[compat]\non-unknown = on\n  mode  =  on ; why\n[gldriverfs]\nprofile = mode\n", "auto",
		"[compat]\nmode = auto\non-unknown = on\n[gldriverfs]\nprofile = mode\n" },
	{ "[compat]\nmodel = 1\n", NULL, "[compat]\nmodel = 1\n" },
	{ "[other]\nmode = 1\n", NULL, "[other]\nmode = 1\n" },
	{ "[compat]\r\nmode = on\r\n", "off", "[compat]\r\nmode = off\n" },
	{ "[compat]\nmode = on\n[compat]\nmode = off\n", "auto",
		"[compat]\nmode = auto\n[compat]\n" },
};

static void test_edit(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(edits); i++) {
		_cleanup_(freep) char *after = NULL;

		assert_int_equal(
			override_edit(edits[i].before, "compat", "mode", edits[i].value, &after),
			0);
		if (edits[i].after)
			assert_string_equal(after, edits[i].after);
		else
			assert_null(after);
	}
}

static char directory[64];

static char *read_file(const char *path)
{
	FILE *file = fopen(path, "re");
	char *text = calloc(1, 4096);

	if (!file) {
		free(text);
		return NULL;
	}
	assert_true(fread(text, 1, 4095, file) > 0);
	fclose(file);
	return text;
}

static void assert_file(const char *path, const char *expected)
{
	_cleanup_(freep) char *text = read_file(path);

	if (expected)
		assert_string_equal(text, expected);
	else
		assert_null(text);
}

#define FRESH "; Written by gldriverfs for gldriverctl.\n"

static void test_write_and_restore(void **state)
{
	_cleanup_(freep) char *path = string_format("%s/a/b/c/d/x.conf", directory);
	_cleanup_(freep) char *temporary = string_format("%s.new", path);
	struct override_undo *first = NULL, *second = NULL, *third = NULL;
	struct stat status;

	(void)state;
	assert_int_equal(override_write(path, "on", &first), 0);
	assert_file(path, FRESH "[compat]\nmode = on\n");
	assert_int_equal(stat(path, &status), 0);
	assert_int_equal(status.st_mode & 07777, 0644);
	assert_int_equal(override_write(path, "off", &second), 0);
	assert_file(path, FRESH "[compat]\nmode = off\n");
	assert_int_equal(override_restore(second), 0);
	assert_file(path, FRESH "[compat]\nmode = on\n");
	assert_int_equal(override_write(path, NULL, &third), 0);
	assert_file(path, NULL);
	assert_int_equal(override_restore(third), 0);
	assert_file(path, FRESH "[compat]\nmode = on\n");
	assert_int_equal(override_restore(first), 0);
	assert_file(path, NULL);
	assert_int_equal(access(temporary, F_OK), -1);
	override_undo_free(first);
	override_undo_free(second);
	override_undo_free(third);
}

static void test_refused(void **state)
{
	_cleanup_(freep) char *blocked = string_format("%s/file/2/3/x.conf", directory);
	_cleanup_(freep) char *file = string_format("%s/file", directory);
	_cleanup_(freep) char *link = string_format("%s/link.conf", directory);
	struct override_undo *undo = NULL;

	(void)state;
	assert_int_equal(close(open(file, O_CREAT | O_WRONLY, 0600)), 0);
	assert_int_equal(override_write(blocked, "on", &undo), -ENOTDIR);
	assert_int_equal(override_write("x.conf", "on", &undo), -EINVAL);
	assert_int_equal(symlink("/etc/passwd", link), 0);
	assert_int_equal(override_write(link, "on", &undo), -ELOOP);
	assert_int_equal(override_write(directory, "on", &undo), -EINVAL);
	assert_null(undo);
}

static int make_directory(void **state)
{
	(void)state;
	strcpy(directory, "/tmp/test_override.XXXXXX");
	return mkdtemp(directory) ? 0 : -1;
}

static int remove_directory(void **state)
{
	_cleanup_(freep) char *command = string_format("rm -rf -- '%s'", directory);

	(void)state;
	return system(command);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_edit),
		cmocka_unit_test(test_write_and_restore),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
