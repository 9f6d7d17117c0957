/* SPDX-License-Identifier: MIT */
#include "tables.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "soname.h"
#include "tables_internal.h"

/* The table's rows change places with those of `rows`. */
static void swap_rows(struct tables *tables, enum table_id id, struct table_rows *rows)
{
	char *items = rows->items;
	size_t count = rows->count;

	switch (id) {
	case TABLE_SOC:
		rows->items = (char *)tables->socs;
		rows->count = tables->n_socs;
		tables->socs = (struct soc_row *)(void *)items;
		tables->n_socs = count;
		break;
	case TABLE_L4T:
		rows->items = (char *)tables->l4ts;
		rows->count = tables->n_l4ts;
		tables->l4ts = (struct l4t_row *)(void *)items;
		tables->n_l4ts = count;
		break;
	case TABLE_DRIVER:
	case TABLE_COUNT:
		rows->items = (char *)tables->drivers;
		rows->count = tables->n_drivers;
		tables->drivers = (struct driver_row *)(void *)items;
		tables->n_drivers = count;
		break;
	}
}

static int update(struct tables *tables, enum table_id id, const char *name,
	const struct ini_file *file, struct diag_list *diags)
{
	_cleanup_(table_rows_clear) struct table_rows rows = { .kind = table_kind(id) };
	_cleanup_(freep) char *source = NULL;
	struct table_origin *origin = &tables->origins[id];
	unsigned version;
	int r = table_read_version(file, &version, diags);

	if (r < 0)
		return r;
	/* An older one may be of a form that is no more: it is not looked into. */
	if (version <= origin->version)
		return 0;
	r = table_read_rows(&rows, file, diags);
	if (r < 0)
		return r;
	source = strdup(name);
	if (!source)
		return -ENOMEM;
	swap_rows(tables, id, &rows);
	free(origin->source);
	origin->source = steal_pointer(source);
	origin->version = version;
	return 1;
}

int tables_update(struct tables *tables, enum table_id id, const char *file, const char *text,
	size_t size, struct diag_list *diags)
{
	_cleanup_(ini_file_freep) struct ini_file *parsed = NULL;
	int r = inifile_parse(file, text, size, &parsed, diags);

	return r < 0 ? r : update(tables, id, file, parsed, diags);
}

int tables_new(struct tables **ret_tables)
{
	_cleanup_(tables_freep) struct tables *tables = calloc(1, sizeof(*tables));
	_cleanup_(diag_clear) struct diag_list diags = { 0 };

	if (!tables)
		return -ENOMEM;
	for (int id = 0; id < TABLE_COUNT; id++) {
		const struct table_text *text = &tables_builtin[id];
		int r = tables_update(
			tables, (enum table_id)id, "built in", text->data, text->size, &diags);

		assert(r != -EINVAL && r != 0); /* test_tables reads them as the build does */
		if (r < 0)
			return r;
	}
	*ret_tables = steal_pointer(tables);
	return 0;
}

struct tables *tables_free(struct tables *tables)
{
	if (!tables)
		return NULL;
	for (int id = 0; id < TABLE_COUNT; id++) {
		_cleanup_(table_rows_clear) struct table_rows rows = { .kind = table_kind(
									       (enum table_id)id) };

		swap_rows(tables, (enum table_id)id, &rows);
		free(tables->origins[id].source);
	}
	free(tables);
	return NULL;
}

void tables_freep(struct tables **tables)
{
	*tables = tables_free(*tables);
}

const struct soc_row *tables_soc(const struct tables *tables, const char *soc)
{
	for (size_t i = 0; i < tables->n_socs; i++)
		if (string_equal(tables->socs[i].soc, soc))
			return &tables->socs[i];
	return NULL;
}

/* The release is `row` or one under it: 36.4.7 is under 36.4, 36.40 is not. */
static bool is_under(const char *release, const char *row)
{
	size_t length = strlen(row);

	return strncmp(release, row, length) == 0 &&
	       (release[length] == '.' || release[length] == '\0');
}

const struct l4t_row *tables_l4t(const struct tables *tables, const char *l4t, const char *soc)
{
	const struct l4t_row *best = NULL;

	if (!l4t)
		return NULL;
	for (size_t i = 0; i < tables->n_l4ts; i++) {
		const struct l4t_row *row = &tables->l4ts[i];

		if (!is_under(l4t, row->l4t) || (row->soc && !string_equal(row->soc, soc)))
			continue;
		if (!best || (row->soc && !best->soc) ||
			(!row->soc == !best->soc && strlen(row->l4t) > strlen(best->l4t)))
			best = row;
	}
	return best;
}

const char *tables_cuda_of_driver(const struct tables *tables, const char *driver)
{
	if (!version_is_driver(driver))
		return NULL;
	for (size_t i = 0; i < tables->n_drivers; i++)
		if (is_under(driver, tables->drivers[i].branch))
			return tables->drivers[i].cuda;
	return NULL;
}
