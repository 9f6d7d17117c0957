/* SPDX-License-Identifier: MIT */
/* scan: the container lists of a layer: CSV files and CDI specs, named or in a directory. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cdi.h"
#include "csv.h"
#include "scan_internal.h"

#define CSV_BYTES_MAX (1024 * 1024)
#define CDI_BYTES_MAX (4 * 1024 * 1024)

/* One file of a list: its real path for messages. */
struct list_file {
	const struct scan_origin *at;
	const char *path;
	char *shown;
	bool named; /* by the policy itself */
};

static int take_csv(struct scan_paths *paths, const struct list_file *file, const char *text,
	size_t size, char **ret_why)
{
	_cleanup_(csv_clear) struct csv csv = { 0 };
	int result = csv_parse(file->shown, text, size, &csv, &paths->job->diags);

	(void)ret_why;
	for (size_t i = 0; result == 0 && i < csv.count; i++)
		if (csv.items[i].type == CSV_LIB || csv.items[i].type == CSV_SYM)
			result = scan_path(paths, csv.items[i].path, NULL);
	return result;
}

static int take_cdi(struct scan_paths *paths, const struct list_file *file, const char *text,
	size_t size, char **ret_why)
{
	_cleanup_(cdi_clear) struct cdi cdi = { 0 };
	int result = cdi_parse(file->shown, text, size, &cdi, &paths->job->diags, ret_why);

	if (result == -EINVAL)
		return 1;
	for (size_t i = 0; result == 0 && i < cdi.count; i++)
		result = scan_path(paths, cdi.items[i].host_path, cdi.items[i].container_path);
	return result;
}

struct list_kind {
	size_t bytes_max;
	bool (*is_list)(const char *name);
	/* Of a directory's names: told to be unreadable. */
	bool (*is_foreign)(const char *name);
	/* A named file that cannot be used fails the layer. */
	bool strict;
	/* Returns 0, 1 with *ret_why, or -errno. */
	int (*take)(struct scan_paths *paths, const struct list_file *file, const char *text,
		size_t size, char **ret_why);
};

static const struct list_kind csv_kind = { CSV_BYTES_MAX, csv_is_list, NULL, false, take_csv };
static const struct list_kind cdi_kind = { CDI_BYTES_MAX, cdi_is_json, cdi_is_yaml, true,
	take_cdi };

/* The file cannot be used. */
static int complain(const struct list_kind *kind, struct scan_job *job,
	const struct list_file *file, const char *why)
{
	_cleanup_(freep) char *text = NULL;

	if (!file->named || !kind->strict) {
		diag_add_as(&job->diags, DIAG_WARNING, "layer-unread", file->shown, 0, "%s", why);
		return 0;
	}
	text = string_format(": %s", why);
	return text ? scan_miss_because(job, file->at, text, -EINVAL) : -ENOMEM;
}

static int take_file(
	const struct list_kind *kind, struct scan_paths *paths, const struct list_file *file)
{
	_cleanup_(freep) char *text = NULL, *why = NULL;
	size_t size;
	int result;

	result =
		scan_read(paths->job, paths->root, file->path, kind->bytes_max, &text, &size, &why);
	if (result == 0)
		result = kind->take(paths, file, text, size, &why);
	if (result == -ENOENT)
		return file->named ? scan_miss(paths->job, file->at, result) : 0;
	return result == 1 ? complain(kind, paths->job, file, why) : result;
}

static int take_listed(const struct list_kind *kind, struct scan_paths *paths,
	const struct scan_opened *opened, const struct scan_origin *at)
{
	_cleanup_(scan_names_clear) struct scan_names names = { 0 };
	int result = scan_list(paths->job, &opened->node, &scan_all_names, &names);

	if (result < 0)
		return scan_miss(paths->job, at, result);
	for (size_t i = 0; result == 0 && i < names.count; i++) {
		const char *name = names.items[i].name;
		_cleanup_(freep) char *path = string_format("%s/%s", at->path, name);
		_cleanup_(freep) char *shown = string_format("%s/%s", opened->shown, name);
		struct list_file file = { at, path, shown, false };

		if (!path || !shown)
			return -ENOMEM;
		if (kind->is_list(name))
			result = take_file(kind, paths, &file);
		else if (kind->is_foreign && kind->is_foreign(name))
			diag_add_as(&paths->job->diags, DIAG_WARNING, "layer-unread", shown, 0,
				"only specs in JSON are read, not YAML");
	}
	return result;
}

static int scan_lists(
	const struct list_kind *kind, struct scan_job *job, const struct scan_origin *at)
{
	_cleanup_(scan_paths_clear) struct scan_paths paths = {
		.job = job, .root = at->root, .directory.node.fd = -1
	};
	_cleanup_(scan_opened_clear) struct scan_opened opened = { .node.fd = -1 };
	struct list_file file = { at, at->path, NULL, true };
	int result = scan_open(job, at->root, at->path, "", &opened);
	size_t set = job->layer->n_sets;

	file.shown = opened.shown;
	if (layer_add_set(job->layer, at->path, at->file, at->line,
		    result == 0 || result == -ENOTDIR) < 0)
		return -ENOMEM;
	paths.set = (uint32_t)set;
	if (result == -ENOTDIR)
		return take_file(kind, &paths, &file);
	return result < 0 ? scan_miss(job, at, result) : take_listed(kind, &paths, &opened, at);
}

int scan_csv(struct scan_job *job, const struct scan_origin *at)
{
	return scan_lists(&csv_kind, job, at);
}

int scan_cdi(struct scan_job *job, const struct scan_origin *at)
{
	return scan_lists(&cdi_kind, job, at);
}
