/* SPDX-License-Identifier: MIT */
#include "listing.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Takes double slashes, "." and a slash at the end out of a path, in place. */
static void tidy(char *path)
{
	char *out = path, *rest = path, *part;
	bool absolute = *path == '/';

	while ((part = strsep(&rest, "/"))) {
		size_t length = strlen(part);

		if (length == 0 || strcmp(part, ".") == 0)
			continue;
		if (absolute || out > path)
			*out++ = '/';
		memmove(out, part, length);
		out += length;
	}
	*out = '\0';
}

char *listing_path(const struct generation *generation, const char *path)
{
	_cleanup_(freep) char *copy = strdup(path);
	const char *mountpoint = generation->mountpoint, *inside = copy;
	size_t length = mountpoint ? strlen(mountpoint) : 0;

	if (!copy)
		return NULL;
	tidy(copy);
	if (length > 0 && strncmp(copy, mountpoint, length) == 0 &&
		(copy[length] == '/' || copy[length] == '\0'))
		inside += length;
	return strdup(inside + (*inside == '/'));
}

static const char *kind_name(enum view_kind kind)
{
	static const char *const names[] = {
		[VIEW_DIRECTORY] = "directory",
		[VIEW_FILE] = "file",
		[VIEW_LINK] = "link",
		[VIEW_CONTENT] = "content",
	};

	return names[kind];
}

static json_t *size_json(const struct view_entry *entry)
{
	if (entry->kind == VIEW_FILE || entry->kind == VIEW_CONTENT)
		return json_integer((json_int_t)view_entry_size(entry));
	return json_null();
}

static json_t *entry_json(const char *path, const struct view_entry *entry)
{
	return json_pack("{s:o, s:s, s:o, s:o, s:o, s:o}", "path", jsonhelp_text(path), "type",
		kind_name(entry->kind), "layer", jsonhelp_text(entry->layer), "source",
		jsonhelp_text(entry->source ? entry->source->real_path : NULL), "target",
		jsonhelp_text(entry->target), "size", size_json(entry));
}

static int compare_entries(const void *a, const void *b)
{
	const struct view_entry *const *left = a, *const *right = b;

	return strcmp((*left)->name, (*right)->name);
}

static int add_directory(json_t *entries, const struct view_directory *directory, bool recursive);

static int add_entry(json_t *entries, const struct view_directory *directory,
	const struct view_entry *entry, bool recursive)
{
	_cleanup_(freep) char *path =
		string_format("%s%s%s", directory->path, *directory->path ? "/" : "", entry->name);

	if (!path || json_array_append_new(entries, entry_json(path, entry)) < 0)
		return -ENOMEM;
	if (recursive && entry->kind == VIEW_DIRECTORY)
		return add_directory(entries, entry->directory, true);
	return 0;
}

static int add_directory(json_t *entries, const struct view_directory *directory, bool recursive)
{
	_cleanup_(freep) const struct view_entry **sorted =
		calloc(directory->count + 1, sizeof(*sorted));
	size_t count = 0;
	int r = 0;

	if (!sorted)
		return -ENOMEM;
	for (size_t i = 0; i < directory->count; i++)
		if (!directory->entries[i].hidden)
			sorted[count++] = &directory->entries[i];
	qsort(sorted, count, sizeof(*sorted), compare_entries);
	for (size_t i = 0; r == 0 && i < count; i++)
		r = add_entry(entries, directory, sorted[i], recursive);
	return r;
}

int listing_json(
	const struct generation *generation, const char *path, bool recursive, json_t **ret_list)
{
	_cleanup_(jsonhelp_decrefp) json_t *entries = json_array();
	_cleanup_(freep) char *inside = listing_path(generation, path);
	const struct view_directory *directory;
	const struct view_entry *entry;
	int r;

	if (!entries || !inside)
		return -ENOMEM;
	directory = view_find_directory(generation->view, inside);
	entry = directory ? NULL : view_find(generation->view, inside);
	if (!directory && !entry)
		return -ENOENT;
	if (directory)
		r = add_directory(entries, directory, recursive);
	else
		r = json_array_append_new(entries, entry_json(inside, entry)) < 0 ? -ENOMEM : 0;
	if (r < 0)
		return r;
	*ret_list = json_pack("{s:o, s:O}", "path", jsonhelp_text(inside), "entries", entries);
	return *ret_list ? 0 : -ENOMEM;
}
