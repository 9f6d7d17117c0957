/* SPDX-License-Identifier: MIT */
/* Policies that must be refused: tests/bad/NAME.conf, whose first line says `; expect: ` and a part
 * of the message. override-NAME.conf is read as the runtime override. The directory may be given as
 * an argument. */
#include "../compat/cmocka.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy.h"

#define EXPECT "; expect: "

static const char *directory;

static size_t read_file(const char *name, char *buffer, size_t size)
{
	_cleanup_(freep) char *path = string_format("%s/%s", directory, name);
	FILE *in = fopen(path, "r");
	size_t n;

	if (!in)
		fail_msg("%s cannot be opened", path);
	n = fread(buffer, 1, size, in);
	fclose(in);
	return n;
}

static int load(const char *name, const char *data, size_t size, struct diag_list *diags)
{
	_cleanup_(ini_file_freep) struct ini_file *file = NULL;
	_cleanup_(policy_freep) struct policy *policy = NULL;
	struct policy_input input = { .files = (const struct ini_file *const *)&file };
	int r = inifile_parse(name, data, size, &file, diags);

	if (r < 0)
		return r;
	if (string_has_prefix(name, "override-"))
		input.override = file;
	else
		input.n_files = 1;
	return policy_build(&input, &policy, diags);
}

static bool has_message(const struct diag_list *diags, const char *expected)
{
	for (size_t i = 0; i < diags->count; i++) {
		const struct diag *diag = &diags->items[i];
		_cleanup_(freep) char *text =
			string_format("%s:%u: %s", diag->file, diag->line, diag->text);

		if (diag->level == DIAG_ERROR && strstr(text, expected))
			return true;
	}
	return false;
}

static void check(const char *name)
{
	static char data[65536];
	size_t size = read_file(name, data, sizeof(data));
	_cleanup_(diag_clear) struct diag_list diags = { 0 };
	_cleanup_(freep) char *expected = NULL;
	_cleanup_(freep) char *error = NULL;

	if (size < strlen(EXPECT) || memcmp(data, EXPECT, strlen(EXPECT)) != 0)
		fail_msg("%s does not start with '%s'", name, EXPECT);
	expected = strndup(data + strlen(EXPECT), strcspn(data, "\n") - strlen(EXPECT));
	if (load(name, data, size, &diags) != -EINVAL)
		fail_msg("%s is not refused", name);
	error = diag_first_error(&diags);
	if (!has_message(&diags, expected))
		fail_msg("%s: got '%s', expected '%s'", name, error ? error : "nothing", expected);
}

static void test_bad(void **state)
{
	DIR *list = opendir(directory);
	size_t count = 0;

	(void)state;
	if (!list)
		fail_msg("%s cannot be opened", directory);
	for (const struct dirent *item; (item = readdir(list));) {
		if (!string_has_suffix(item->d_name, ".conf"))
			continue;
		check(item->d_name);
		count++;
	}
	closedir(list);
	assert_true(count > 50);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_bad) };
	_cleanup_(freep) char *beside =
		string_format("%.*s../bad", (int)(path_base(__FILE__) - __FILE__), __FILE__);

	directory = argc > 1 ? argv[1] : beside;
	return cmocka_run_group_tests_name("bad", tests, NULL, NULL);
}
