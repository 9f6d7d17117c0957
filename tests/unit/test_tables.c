/* SPDX-License-Identifier: MIT */
/* tables: what the built-in ones say, that their rows are sorted and unique, and what of a file is
 * refused. */
#include "../compat/cmocka.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "soname.h"
#include "tables.h"

static struct tables *built_in(void)
{
	struct tables *tables;

	assert_int_equal(tables_new(&tables), 0);
	return tables;
}

static void test_builtin(void **state)
{
	_cleanup_(tables_freep) struct tables *tables = built_in();

	(void)state;
	assert_int_equal(tables->n_socs, 5);
	assert_true(tables->n_l4ts > 40);
	assert_true(tables->n_drivers > 20);
	for (int id = 0; id < TABLE_COUNT; id++) {
		assert_true(tables->origins[id].version >= 1);
		assert_string_equal(tables->origins[id].source, "built in");
	}
	assert_string_equal(table_file(TABLE_SOC), "soc.ini");
	assert_string_equal(table_file(TABLE_L4T), "l4t.ini");
	assert_string_equal(table_file(TABLE_DRIVER), "driver.ini");
	assert_null(tables_free(NULL));
}

static int compare_l4t(const struct l4t_row *a, const struct l4t_row *b)
{
	int order = version_compare(a->l4t, b->l4t);

	return order ? order : strcmp(a->soc ? a->soc : "", b->soc ? b->soc : "");
}

static void test_sorted(void **state)
{
	_cleanup_(tables_freep) struct tables *tables = built_in();

	(void)state;
	for (size_t i = 1; i < tables->n_socs; i++)
		assert_true(strcmp(tables->socs[i - 1].soc, tables->socs[i].soc) < 0);
	for (size_t i = 1; i < tables->n_l4ts; i++)
		assert_true(compare_l4t(&tables->l4ts[i - 1], &tables->l4ts[i]) < 0);
	for (size_t i = 1; i < tables->n_drivers; i++) {
		const struct driver_row *row = &tables->drivers[i];

		assert_true(strcmp(row[-1].branch, row->branch) < 0);
		assert_true(version_compare(row[-1].cuda, row->cuda) < 0);
	}
}

/* Each table agrees with the other: a row for a SoC lies in its span; compat is never older than
 * the machine's own CUDA. */
static void test_consistent(void **state)
{
	_cleanup_(tables_freep) struct tables *tables = built_in();

	(void)state;
	for (size_t i = 0; i < tables->n_l4ts; i++) {
		const struct l4t_row *row = &tables->l4ts[i];
		const struct soc_row *soc = row->soc ? tables_soc(tables, row->soc) : NULL;

		print_message("%s\n", row->l4t);
		if (row->compat)
			assert_true(version_compare(row->compat, row->cuda) >= 0);
		if (!row->soc)
			continue;
		assert_non_null(soc);
		assert_true(version_compare(row->l4t, soc->l4t_first) >= 0);
		if (soc->l4t_last)
			assert_true(version_compare(row->l4t, soc->l4t_last) <= 0);
	}
}

static void test_soc(void **state)
{
	static const struct {
		const char *soc, *device, *compute, *first, *last, *stack;
	} cases[] = {
		{ "tegra210", "TX1, Nano", "5.3", "23", "32", "nvgpu" },
		{ "tegra186", "TX2", "6.2", "27", "32", "nvgpu" },
		{ "tegra194", "Xavier", "7.2", "31", "35", "nvgpu" },
		{ "tegra234", "Orin", "8.7", "34", NULL, "nvgpu" },
		{ "tegra264", "Thor", "11.0", "38", NULL, "openrm" },
	};
	_cleanup_(tables_freep) struct tables *tables = built_in();

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct soc_row *row = tables_soc(tables, cases[i].soc);

		assert_non_null(row);
		assert_string_equal(row->device, cases[i].device);
		assert_string_equal(row->compute, cases[i].compute);
		assert_string_equal(row->l4t_first, cases[i].first);
		assert_true(string_equal(row->l4t_last, cases[i].last));
		assert_string_equal(row->stack, cases[i].stack);
	}
	assert_null(tables_soc(tables, "tegra2340"));
	assert_null(tables_soc(tables, "tegra23"));
	assert_null(tables_soc(tables, NULL));
}

static void test_l4t(void **state)
{
	static const struct {
		const char *l4t, *soc, *jetpack, *cuda, *compat; /* jetpack NULL: no row */
		bool sbsa;
	} cases[] = {
		{ "32.1.0", "tegra210", "4.2", "10.0", NULL, false },
		{ "32.2.1", "tegra194", "4.2.2", "10.0", NULL, false },
		{ "32.3.1", "tegra186", "4.3", "10.0", NULL, false },
		{ "32.4.3", "tegra186", "4.4", "10.2", NULL, false },
		{ "32.7.1", "tegra210", "4.6.1", "10.2", NULL, false },
		{ "32.7.6", "tegra194", "4.6.6", "10.2", NULL, false },
		{ "32.8.1", "tegra194", "4", "10.2", NULL, false },
		{ "34.1.1", "tegra234", "5.0.1 DP", "11.4", "12.2", false },
		{ "35.1", "tegra194", "5.0.2", "11.4", "12.2", false },
		{ "35.4.1", "tegra234", "5.1.2", "11.4", "12.2", false },
		{ "35.6.0", "tegra234", "5.1.4", "11.4", "12.2", false },
		{ "35.6.9", "tegra234", "5.1", "11.4", "12.2", false },
		{ "36.2.0", "tegra234", "6.0 DP", "12.2", "12.9", false },
		{ "36.3.0", "tegra234", "6.0", "12.4", "12.9", false },
		{ "36.4.0", "tegra234", "6.1", "12.6", "12.9", false },
		{ "36.4.3", "tegra234", "6.2", "12.6", "12.9", false },
		{ "36.4.7", "tegra234", "6.2.1", "12.6", "12.9", false },
		{ "36.4.9", "tegra234", "6", "12.6", "12.9", false },
		{ "36.5.0", NULL, "6.2.2", "12.6", "12.9", false },
		{ "36.40.1", "tegra234", "6", "12.6", "12.9", false },
		{ "38.2.0", "tegra264", "7.0", "13.0", NULL, true },
		{ "38.4.0", "tegra264", "7.1", "13.0", NULL, true },
		{ "39.2.0", "tegra234", "7.2", "13.2", "13.2", false },
		{ "39.2.0", "tegra264", "7.2", "13.2", NULL, true },
		{ "39.2.0", NULL, NULL, NULL, NULL, false },
		{ "39.2.0", "tegra194", NULL, NULL, NULL, false },
		{ "3", "tegra234", NULL, NULL, NULL, false },
		{ "28.2.1", "tegra186", NULL, NULL, NULL, false },
		{ "360.1", "tegra234", NULL, NULL, NULL, false },
		{ NULL, "tegra234", NULL, NULL, NULL, false },
	};
	_cleanup_(tables_freep) struct tables *tables = built_in();

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct l4t_row *row = tables_l4t(tables, cases[i].l4t, cases[i].soc);

		print_message("%s\n", cases[i].l4t ? cases[i].l4t : "none");
		if (!cases[i].jetpack) {
			assert_null(row);
			continue;
		}
		assert_non_null(row);
		assert_string_equal(row->jetpack, cases[i].jetpack);
		assert_string_equal(row->cuda, cases[i].cuda);
		assert_true(string_equal(row->compat, cases[i].compat));
		assert_int_equal(row->sbsa, cases[i].sbsa);
	}
}

static void test_driver(void **state)
{
	static const struct {
		const char *driver, *cuda;
	} cases[] = {
		{ "410.129", "10.0" },
		{ "470.256.02", "11.4" },
		{ "535.261.03", "12.2" },
		{ "550.120", "12.4" },
		{ "565.57.01", "12.7" },
		{ "580.126.16", "13.0" },
		{ "595.1", "13.2" },
		{ "540.4.0", NULL },
		{ "34.1.1", NULL },
		{ "1.1", NULL },
		{ "5350.1", NULL },
		{ "535", NULL },
		{ "", NULL },
		{ NULL, NULL },
	};
	_cleanup_(tables_freep) struct tables *tables = built_in();

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		assert_true(string_equal(
			tables_cuda_of_driver(tables, cases[i].driver), cases[i].cuda));
}

static int update(
	struct tables *tables, enum table_id id, const char *text, struct diag_list *diags)
{
	return tables_update(tables, id, "t.ini", text, strlen(text), diags);
}

static void test_newer(void **state)
{
	_cleanup_(tables_freep) struct tables *tables = built_in();
	_cleanup_(diag_clear) struct diag_list diags = { 0 };
	const struct l4t_row *row;

	(void)state;
	/* An older one, and one of the same version, is not looked into. */
	assert_int_equal(
		update(tables, TABLE_L4T, "[table]\nversion = 1\n[x]\ny = z\n", &diags), 0);
	assert_int_equal(update(tables, TABLE_L4T,
				 "[41.2 tegra264]\njetpack = 9\ncuda = 14.1\ncompat = 14.2\n"
				 "sbsa = no\n[41]\njetpack = 8.9 DP\ncuda = 14.0\nsbsa = yes\n"
				 "[table]\nversion = 7\n",
				 &diags),
		1);
	assert_int_equal(diags.count, 0);
	assert_int_equal(tables->n_l4ts, 2);
	assert_int_equal(tables->origins[TABLE_L4T].version, 7);
	assert_string_equal(tables->origins[TABLE_L4T].source, "t.ini");
	assert_int_equal(tables->origins[TABLE_SOC].version, 1);
	row = tables_l4t(tables, "41.2.9", "tegra264");
	assert_string_equal(row->cuda, "14.1");
	assert_string_equal(row->compat, "14.2");
	assert_false(row->sbsa);
	row = tables_l4t(tables, "41.2.9", "tegra234");
	assert_string_equal(row->jetpack, "8.9 DP");
	assert_null(row->compat);
	assert_true(row->sbsa);
	assert_null(tables_l4t(tables, "36.4.7", "tegra234"));
	assert_int_equal(update(tables, TABLE_L4T, "[table]\nversion = 6\n", &diags), 0);
	assert_int_equal(
		update(tables, TABLE_DRIVER, "[table]\nversion = 2\n[600]\ncuda = 14.0\n", &diags),
		1);
	assert_string_equal(tables_cuda_of_driver(tables, "600.1"), "14.0");
	assert_int_equal(diags.count, 0);
}

/* A row for the SoC goes before a longer one for all. */
static void test_soc_first(void **state)
{
	_cleanup_(tables_freep) struct tables *tables = built_in();
	_cleanup_(diag_clear) struct diag_list diags = { 0 };

	(void)state;
	assert_int_equal(update(tables, TABLE_L4T,
				 "[table]\nversion = 9\n[50.1]\njetpack = a\ncuda = 1.0\n"
				 "[50 tegra234]\njetpack = b\ncuda = 1.0\n"
				 "[50.1.1 tegra234]\njetpack = c\ncuda = 1.0\n",
				 &diags),
		1);
	assert_string_equal(tables_l4t(tables, "50.1.1", NULL)->jetpack, "a");
	assert_string_equal(tables_l4t(tables, "50.1", "tegra234")->jetpack, "b");
	assert_string_equal(tables_l4t(tables, "50.1.1", "tegra234")->jetpack, "c");
}

#define VERSIONED   "[table]\nversion = 2\n"
#define SOC_COLUMNS "device = a\ncompute = 1.0\nl4t-first = 1\nstack = nvgpu\n"

static void test_refused(void **state)
{
	static const struct {
		enum table_id id;
		const char *text;
		const char *error; /* "line: text" */
	} cases[] = {
		{ TABLE_DRIVER, "", "0: the file is empty (0 bytes)" },
		{ TABLE_DRIVER, "[table\n", "1: the section's ']' is missing" },
		{ TABLE_DRIVER, "[535]\ncuda = 12.2\n", "0: there is no 'version' in [table]" },
		{ TABLE_DRIVER, "[table]\n[535]\ncuda = 12.2\n",
			"0: there is no 'version' in [table]" },
		{ TABLE_DRIVER, "[table]\nversion = 0\n",
			"2: version: '0' is not a number from 1 to 999999999" },
		{ TABLE_DRIVER, "[table]\nversion = -1\n",
			"2: version: '-1' is not a number from 1 to 999999999" },
		{ TABLE_DRIVER, "[table]\nversion = 2x\n",
			"2: version: '2x' is not a number from 1 to 999999999" },
		{ TABLE_DRIVER, "[table]\nversion = 99999999999999999999999\n",
			"2: version: '99999999999999999999999' is not a number from 1 to "
			"999999999" },
		{ TABLE_DRIVER, "[table]\nversion = 2\nversion = 3\n",
			"3: 'version' is there twice in [table]" },
		{ TABLE_DRIVER, "[table]\nVersion = 2\n", "2: unknown key 'Version' in [table]" },
		{ TABLE_DRIVER, VERSIONED, "0: there is no row" },
		{ TABLE_DRIVER, VERSIONED "[535]\n", "3: [535] has no 'cuda'" },
		{ TABLE_DRIVER, VERSIONED "[535]\n[550]\ncuda = 12.4\n", "3: [535] has no 'cuda'" },
		{ TABLE_DRIVER, VERSIONED "[550]\ncuda = 12.4\n[535]\n", "5: [535] has no 'cuda'" },
		{ TABLE_DRIVER, VERSIONED "[535]\ncuda = 12.2\ncuda = 12.2\n",
			"5: 'cuda' is there twice in [535]" },
		{ TABLE_DRIVER, VERSIONED "[535]\ncuda = 12.2\n[535]\ncuda = 12.3\n",
			"5: [535] is there twice, see line 3" },
		{ TABLE_DRIVER, VERSIONED "[535]\ncude = 12.2\n",
			"4: unknown key 'cude' in [535]" },
		{ TABLE_DRIVER, VERSIONED "[535]\ncuda = 12\n",
			"4: cuda: '12' is not MAJOR.MINOR" },
		{ TABLE_DRIVER, VERSIONED "[535]\ncuda = 12.2.1\n",
			"4: cuda: '12.2.1' is not MAJOR.MINOR" },
		{ TABLE_DRIVER, VERSIONED "[535]\ncuda = 12.\n",
			"4: cuda: '12.' is not MAJOR.MINOR" },
		{ TABLE_DRIVER, VERSIONED "[535]\ncuda = 12.x\n",
			"4: cuda: '12.x' is not MAJOR.MINOR" },
		{ TABLE_DRIVER, VERSIONED "[53]\ncuda = 12.2\n",
			"3: [53]: expected a driver branch such as 535" },
		{ TABLE_DRIVER, VERSIONED "[535.1]\ncuda = 12.2\n",
			"3: [535.1]: expected a driver branch such as 535" },
		{ TABLE_SOC, VERSIONED "[tegra23]\n" SOC_COLUMNS,
			"3: [tegra23]: expected tegraNNN" },
		{ TABLE_SOC, VERSIONED "[tegra23x]\n" SOC_COLUMNS,
			"3: [tegra23x]: expected tegraNNN" },
		{ TABLE_SOC, VERSIONED "[tegra234]\n" SOC_COLUMNS "l4t-last = x\n",
			"8: l4t-last: 'x' is not a release such as 36.4" },
		{ TABLE_SOC, VERSIONED "[tegra234]\nstack = other\n",
			"4: stack: 'other' is not nvgpu or openrm" },
		{ TABLE_SOC, VERSIONED "[tegra234]\ndevice = a\ncompute = 1.0\nstack = nvgpu\n",
			"3: [tegra234] has no 'l4t-first'" },
		{ TABLE_L4T, VERSIONED "[36.4 orin]\n",
			"3: [36.4 orin]: expected an L4T release such as 36.4, or a release and "
			"tegraNNN" },
		{ TABLE_L4T, VERSIONED "[r36]\n",
			"3: [r36]: expected an L4T release such as 36.4, or a release and "
			"tegraNNN" },
		{ TABLE_L4T, VERSIONED "[36 tegra234]\njetpack = 6\ncuda = 12.6\n[36  tegra234]\n",
			"6: [36  tegra234] is there twice, see line 3" },
		{ TABLE_L4T, VERSIONED "[36]\njetpack = 6\ncuda = 12.6\nsbsa = maybe\n",
			"6: sbsa: 'maybe' is not yes or no" },
		{ TABLE_L4T, VERSIONED "[36]\njetpack = 6\ncuda = 12.6\nsbsa = no\nsbsa = no\n",
			"7: 'sbsa' is there twice in [36]" },
	};
	_cleanup_(tables_freep) struct tables *tables = built_in();

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_(diag_clear) struct diag_list diags = { 0 };
		_cleanup_(freep) char *error = NULL;

		assert_int_equal(update(tables, cases[i].id, cases[i].text, &diags), -EINVAL);
		assert_int_equal(diags.count, 1);
		assert_int_equal(diags.items[0].level, DIAG_ERROR);
		assert_string_equal(diags.items[0].file, "t.ini");
		error = string_format("%u: %s", diags.items[0].line, diags.items[0].text);
		assert_string_equal(error, cases[i].error);
		assert_string_equal(tables->origins[cases[i].id].source, "built in");
	}
	/* What was refused has changed nothing. */
	assert_string_equal(tables_cuda_of_driver(tables, "535.1"), "12.2");
	assert_non_null(tables_soc(tables, "tegra234"));
	assert_non_null(tables_l4t(tables, "36.4", NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_builtin),
		cmocka_unit_test(test_sorted),
		cmocka_unit_test(test_consistent),
		cmocka_unit_test(test_soc),
		cmocka_unit_test(test_l4t),
		cmocka_unit_test(test_driver),
		cmocka_unit_test(test_newer),
		cmocka_unit_test(test_soc_first),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
