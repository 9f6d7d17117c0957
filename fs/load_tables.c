/* SPDX-License-Identifier: MIT */
#include "load_tables.h"

#include <errno.h>

#include "load_file.h"

/* PREFIX/lib/gldriverfs: the Makefile's. */
#ifndef TABLES_DIRECTORY
#define TABLES_DIRECTORY "/usr/local/lib/gldriverfs"
#endif

static const char *const directories[] = { TABLES_DIRECTORY, "/etc/gldriverfs" };

/* Returns 0, -EINVAL and other errors of the file with an error in diags, or -ENOMEM. */
static int load_one(
	struct tables *tables, enum table_id id, const char *path, struct diag_list *diags)
{
	_cleanup_(freep) char *text = NULL;
	size_t size;
	int r = load_file_text(path, &text, &size, diags);

	if (r == -ENOENT)
		return 0;
	if (r < 0)
		return r;
	r = tables_update(tables, id, path, text, size, diags);
	return r < 0 ? r : 0;
}

static int load_directory(struct tables *tables, const char *directory, struct diag_list *diags)
{
	for (int id = 0; id < TABLE_COUNT; id++) {
		_cleanup_(diag_clear) struct diag_list found = { 0 };
		_cleanup_(freep) char *path =
			string_format("%s/%s", directory, table_file((enum table_id)id));

		if (!path || load_one(tables, (enum table_id)id, path, &found) == -ENOMEM)
			return -ENOMEM;
		for (size_t i = 0; i < found.count; i++)
			diag_add(diags, DIAG_WARNING, found.items[i].file, found.items[i].line,
				"%s; the table stays version %u (%s)", found.items[i].text,
				tables->origins[id].version, tables->origins[id].source);
	}
	return 0;
}

/* Before they are read. Returns 0 or -ENOMEM. */
static int touch_files(const char *directory, struct touched *touched)
{
	_cleanup_(rootfs_unrefp) struct rootfs *real = NULL;

	if (!touched || rootfs_open("/", &real) < 0)
		return 0;
	for (int id = 0; id < TABLE_COUNT; id++) {
		_cleanup_(freep) char *path =
			string_format("%s/%s", directory, table_file((enum table_id)id));

		if (!path)
			return -ENOMEM;
		rootfs_touch(real, path, touched);
	}
	return 0;
}

int load_tables(struct touched *touched, struct tables **ret_tables, struct diag_list *diags)
{
	_cleanup_(tables_freep) struct tables *tables = NULL;
	int r = tables_new(&tables);

	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(directories); i++) {
		r = touch_files(directories[i], touched);
		if (r == 0)
			r = load_directory(tables, directories[i], diags);
	}
	if (r == 0)
		*ret_tables = steal_pointer(tables);
	return r;
}
