/* SPDX-License-Identifier: MIT */
/* manifest: those of a view. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "manifest.h"

struct job {
	const char *mountpoint;
	struct diag_list *diags;
	struct namemap libraries; /* names in lib/ → index of the entry */
	const struct view_directory *lib;
};

/* The view is not finished, so nothing is sorted; few manifests name what is below lib/. */
static const struct source *find_below(const struct view_directory *directory, const char *path)
{
	size_t size = strcspn(path, "/");

	for (size_t i = 0; i < directory->count; i++) {
		const struct view_entry *entry = &directory->entries[i];

		if (strlen(entry->name) != size || memcmp(entry->name, path, size) != 0)
			continue;
		if (path[size] == '\0')
			return entry->source;
		return entry->kind == VIEW_DIRECTORY ? find_below(entry->directory, path + size + 1)
						     : NULL;
	}
	return NULL;
}

static const struct source *find_library(void *context, const char *path)
{
	const struct job *job = context;
	size_t index;

	if (strchr(path, '/'))
		return job->lib ? find_below(job->lib, path) : NULL;
	return namemap_get(&job->libraries, path, &index) ? job->lib->entries[index].source : NULL;
}

static int list_libraries(struct job *job, const struct view *view)
{
	for (size_t i = 0; i < view->root.count && !job->lib; i++)
		if (view->root.entries[i].kind == VIEW_DIRECTORY &&
			strcmp(view->root.entries[i].name, "lib") == 0)
			job->lib = view->root.entries[i].directory;
	for (size_t i = 0; job->lib && i < job->lib->count; i++) {
		const struct view_entry *entry = &job->lib->entries[i];

		if (entry->source && namemap_put(&job->libraries, entry->name, i) == -ENOMEM)
			return -ENOMEM;
	}
	return 0;
}

/* The whole text is one edit over nothing: a manifest may become shorter, too. */
static struct overlay *whole(const char *text, size_t size)
{
	struct overlay *overlay = overlay_new(0);

	if (overlay && overlay_write(overlay, 0, text, size) < 0)
		return overlay_unref(overlay);
	if (overlay)
		overlay_finish(overlay);
	return overlay;
}

static void warn(const struct job *job, const struct view_entry *entry, const char *path,
	const struct string_list *outside)
{
	for (size_t i = 0; i < outside->count; i++)
		diag_add_as(job->diags, DIAG_WARNING, "manifest-outside", entry->source->real_path,
			0, "%s names %s, which lib/ does not have: it is served as it is", path,
			outside->items[i]);
}

static int edit_entry(struct job *job, struct view_entry *entry, const char *path)
{
	const struct manifest_place place = { path, job->mountpoint, find_library, job };
	const struct source *source = entry->source;
	_cleanup_(overlay_unrefp) struct overlay *overlay = NULL;
	_cleanup_(freep) char *text = NULL;
	struct string_list outside = { 0 };
	size_t size;
	int r = manifest_edit(
		&place, source->text, (size_t)source->identity.size, &text, &size, &outside);

	if (r >= 0)
		warn(job, entry, path, &outside);
	string_list_clear(&outside);
	if (r <= 0)
		return r;
	overlay = whole(text, size);
	if (!overlay)
		return -ENOMEM;
	view_patch(entry, overlay);
	return 0;
}

static int edit_directory(struct job *job, struct view_directory *directory)
{
	for (size_t i = 0; i < directory->count; i++) {
		struct view_entry *entry = &directory->entries[i];
		_cleanup_(freep) char *path = NULL;
		int r = 0;

		if (entry->kind == VIEW_DIRECTORY) {
			r = edit_directory(job, entry->directory);
		} else if (entry->kind == VIEW_FILE && entry->source->text) {
			path = string_format("%s/%s", directory->path, entry->name);
			if (!path)
				return -ENOMEM;
			if (manifest_kind(path) != MANIFEST_NONE)
				r = edit_entry(job, entry, path);
		}
		if (r < 0)
			return r;
	}
	return 0;
}

int manifest_edit_view(struct view *view, const char *mountpoint, struct diag_list *diags)
{
	struct job job = { .mountpoint = mountpoint, .diags = diags };
	int r = list_libraries(&job, view);

	if (r == 0)
		r = edit_directory(&job, &view->root);
	namemap_clear(&job.libraries);
	return r;
}
