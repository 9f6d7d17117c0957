/* SPDX-License-Identifier: MIT */
/* load_tables: files in directories of the test's instead of /usr/lib and /etc. */
#include "../compat/cmocka.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../fs/load_tables.c"

struct place {
	char directory[64];
	struct tables *tables;
	struct diag_list diags;
};

static int set_up(void **state)
{
	struct place *place = calloc(1, sizeof(*place));

	assert_non_null(place);
	strcpy(place->directory, "/tmp/test-load-tables.XXXXXX");
	assert_non_null(mkdtemp(place->directory));
	assert_int_equal(tables_new(&place->tables), 0);
	*state = place;
	return 0;
}

static char *path_of(const struct place *place, const char *name)
{
	char *path = string_format("%s/%s", place->directory, name);

	assert_non_null(path);
	return path;
}

static int tear_down(void **state)
{
	struct place *place = *state;

	for (int id = 0; id < TABLE_COUNT; id++) {
		_cleanup_(freep) char *path = path_of(place, table_file((enum table_id)id));

		if (unlink(path) < 0)
			rmdir(path);
	}
	assert_int_equal(rmdir(place->directory), 0);
	tables_free(place->tables);
	diag_clear(&place->diags);
	free(place);
	return 0;
}

static void write_file(const struct place *place, const char *name, const char *text)
{
	_cleanup_(freep) char *path = path_of(place, name);
	FILE *file = fopen(path, "we");

	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

static void load(struct place *place)
{
	assert_int_equal(load_directory(place->tables, place->directory, &place->diags), 0);
}

static void test_absent(void **state)
{
	struct place *place = *state;
	_cleanup_(freep) char *nowhere = path_of(place, "nowhere/at-all");

	load(place);
	assert_int_equal(load_directory(place->tables, nowhere, &place->diags), 0);
	assert_int_equal(place->diags.count, 0);
	for (int id = 0; id < TABLE_COUNT; id++)
		assert_string_equal(place->tables->origins[id].source, "built in");
}

static void test_newer(void **state)
{
	struct place *place = *state;
	_cleanup_(freep) char *path = path_of(place, "driver.ini");

	write_file(place, "driver.ini", "[table]\nversion = 1000\n[600]\ncuda = 14.0\n");
	write_file(place, "l4t.ini", "[table]\nversion = 1\n[50]\njetpack = 9\ncuda = 14.0\n");
	load(place);
	assert_int_equal(place->diags.count, 0);
	assert_string_equal(tables_cuda_of_driver(place->tables, "600.10"), "14.0");
	assert_null(tables_cuda_of_driver(place->tables, "535.10"));
	assert_int_equal(place->tables->origins[TABLE_DRIVER].version, 1000);
	assert_string_equal(place->tables->origins[TABLE_DRIVER].source, path);
	/* version 1 is not newer than what is built in */
	assert_null(tables_l4t(place->tables, "50.1", NULL));
	assert_string_equal(place->tables->origins[TABLE_L4T].source, "built in");
	/* the next directory's is older than this one's */
	write_file(place, "driver.ini", "[table]\nversion = 999\n[601]\ncuda = 14.0\n");
	load(place);
	assert_null(tables_cuda_of_driver(place->tables, "601.10"));
}

static void test_broken(void **state)
{
	struct place *place = *state;
	_cleanup_(freep) char *driver = path_of(place, "driver.ini");
	_cleanup_(freep) char *soc = path_of(place, "soc.ini");
	_cleanup_(freep) char *l4t = path_of(place, "l4t.ini");
	const struct diag *items;

	write_file(place, "driver.ini", "[table]\nversion = 1000\n[600]\ncuda = new\n");
	write_file(place, "l4t.ini", "");
	assert_int_equal(mkfifo(soc, 0600), 0);
	load(place);
	items = place->diags.items;
	assert_int_equal(place->diags.count, 3);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(items[i].level, DIAG_WARNING);
	assert_string_equal(items[0].file, soc);
	assert_string_equal(
		items[0].text, "is not a regular file; the table stays version 1 (built in)");
	assert_string_equal(items[1].file, l4t);
	assert_string_equal(items[2].file, driver);
	assert_int_equal(items[2].line, 4);
	assert_string_equal(items[2].text,
		"cuda: 'new' is not MAJOR.MINOR; the table stays version 1 (built in)");
	assert_string_equal(tables_cuda_of_driver(place->tables, "535.10"), "12.2");
	assert_non_null(tables_soc(place->tables, "tegra234"));
}

/* The machine that runs the tests has no such files, or good ones. */
static void test_this_machine(void **state)
{
	_cleanup_(tables_freep) struct tables *tables = NULL;
	_cleanup_(diag_clear) struct diag_list diags = { 0 };

	(void)state;
	assert_int_equal(load_tables(NULL, &tables, &diags), 0);
	assert_int_equal(diags.count, 0);
	assert_non_null(tables_soc(tables, "tegra234"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_absent, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_newer, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_broken, set_up, tear_down),
		cmocka_unit_test(test_this_machine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
