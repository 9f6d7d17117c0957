/* SPDX-License-Identifier: MIT */
#include "view.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "util.h"

enum {
	FIRST_COOKIE = 3,         /* 1 and 2 are "." and ".." */
	LAST_COOKIE = 0x7fffffff, /* what a 32-bit off_t can hold */
	HASH_RANGE = 0x7fff0000,  /* leaves 65,000 cookies for collisions at the end */
};

static uint32_t name_hash(const char *name)
{
	uint64_t hash = fnv1a(FNV_START, name, strlen(name));

	return FIRST_COOKIE + (uint32_t)((hash ^ hash >> 32) % HASH_RANGE);
}

static struct view_directory *directory_free(struct view_directory *directory);

static void entry_clear(struct view_entry *entry)
{
	free(entry->name);
	free(entry->target);
	free(entry->content);
	source_unref(entry->source);
	overlay_unref(entry->overlay);
	directory_free(entry->directory);
}

static void directory_clear(struct view_directory *directory)
{
	for (size_t i = 0; i < directory->count; i++)
		entry_clear(&directory->entries[i]);
	free(directory->entries);
	free(directory->path);
	namemap_clear(&directory->index);
}

static struct view_directory *directory_free(struct view_directory *directory)
{
	if (directory) {
		directory_clear(directory);
		free(directory);
	}
	return NULL;
}

struct view *view_new(void)
{
	struct view *view = calloc(1, sizeof(*view));

	if (!view)
		return NULL;
	view->root.path = strdup("");
	if (!view->root.path)
		return view_free(view);
	return view;
}

struct view *view_free(struct view *view)
{
	if (view) {
		directory_clear(&view->root);
		free(view);
	}
	return NULL;
}

/* Takes the entry: its name is set, its strings are owned. On failure it is cleared. */
static int append(struct view_directory *directory, struct view_entry *entry)
{
	int result = namemap_put(&directory->index, entry->name, directory->count);

	if (result < 0) {
		entry_clear(entry);
		return result;
	}
	directory->entries[directory->count++] = *entry;
	return 0;
}

/* Adds the directory `name`, whose whole path is the first size bytes of path. */
static int append_directory(struct view_directory *parent, const char *name, size_t name_size,
	const char *path, size_t size, bool hidden, struct view_directory **ret_directory)
{
	struct view_entry entry = { .kind = VIEW_DIRECTORY, .hidden = hidden };
	struct view_directory *directory = calloc(1, sizeof(*directory));
	int result;

	if (!directory)
		return -ENOMEM;
	entry.directory = directory;
	entry.name = strndup(name, name_size);
	directory->path = strndup(path, size);
	if (!entry.name || !directory->path ||
		array_grow(&parent->entries, &parent->capacity, parent->count,
			sizeof(*parent->entries)) < 0) {
		entry_clear(&entry);
		return -ENOMEM;
	}
	result = append(parent, &entry);
	if (result == 0)
		*ret_directory = directory;
	return result;
}

static bool path_is_valid(const char *path)
{
	while (true) {
		size_t size = strcspn(path, "/");

		if (size == 0 || size > NAME_MAX || (size == 1 && path[0] == '.') ||
			(size == 2 && path[0] == '.' && path[1] == '.'))
			return false;
		if (path[size] == '\0')
			return true;
		path += size + 1;
	}
}

/* The directory that path's last name belongs into, made where it is missing, with room for one
 * more entry; *ret_name is that name. */
static int make_parents(struct view *view, const char *path, struct view_directory **ret_directory,
	const char **ret_name)
{
	struct view_directory *directory = &view->root;
	const char *name = path;
	const char *slash;

	if (!path_is_valid(path))
		return -EINVAL;
	while ((slash = strchr(name, '/')) != NULL) {
		char component[NAME_MAX + 1];
		size_t index;

		memcpy(component, name, (size_t)(slash - name));
		component[slash - name] = '\0';
		if (namemap_get(&directory->index, component, &index)) {
			if (directory->entries[index].kind != VIEW_DIRECTORY)
				return -ENOTDIR;
			directory = directory->entries[index].directory;
		} else {
			int result = append_directory(directory, name, (size_t)(slash - name), path,
				(size_t)(slash - path), false, &directory);

			if (result < 0)
				return result;
		}
		name = slash + 1;
	}
	if (namemap_get(&directory->index, name, NULL))
		return -EEXIST;
	if (array_grow(&directory->entries, &directory->capacity, directory->count,
		    sizeof(*directory->entries)) < 0)
		return -ENOMEM;
	*ret_directory = directory;
	*ret_name = name;
	return 0;
}

/* Adds the entry under path's last name. It is taken: on failure it is cleared. */
static int add(struct view *view, const char *path, struct view_entry *entry)
{
	struct view_directory *directory;
	const char *name;
	int result = make_parents(view, path, &directory, &name);

	if (result == 0) {
		entry->name = strdup(name);
		if (!entry->name)
			result = -ENOMEM;
	}
	if (result < 0) {
		entry_clear(entry);
		return result;
	}
	result = append(directory, entry);
	if (result == 0)
		view->n_entries++;
	return result;
}

int view_add_patched(struct view *view, const char *path, struct source *source,
	struct overlay *overlay, const char *layer)
{
	struct view_entry entry = {
		.kind = VIEW_FILE,
		.source = source_ref(source),
		.overlay = overlay ? overlay_ref(overlay) : NULL,
		.layer = layer,
	};

	return add(view, path, &entry);
}

int view_add_file(struct view *view, const char *path, struct source *source, const char *layer)
{
	return view_add_patched(view, path, source, NULL, layer);
}

void view_patch(struct view_entry *entry, struct overlay *overlay)
{
	assert(entry->source && entry->kind != VIEW_DIRECTORY);
	free(entry->target);
	entry->target = NULL;
	entry->kind = VIEW_FILE;
	overlay_unref(entry->overlay);
	entry->overlay = overlay_ref(overlay);
}

uint64_t view_entry_size(const struct view_entry *entry)
{
	switch (entry->kind) {
	case VIEW_DIRECTORY:
		return 0;
	case VIEW_FILE:
		return entry->overlay ? entry->overlay->size : entry->source->identity.size;
	case VIEW_LINK:
		return strlen(entry->target);
	case VIEW_CONTENT:
		return entry->content_size;
	}
	return 0;
}

int view_add_link(struct view *view, const char *path, const char *target, struct source *source,
	const char *layer)
{
	struct view_entry entry = { .kind = VIEW_LINK, .layer = layer };

	entry.target = strdup(target);
	if (!entry.target)
		return -ENOMEM;
	entry.source = source ? source_ref(source) : NULL;
	return add(view, path, &entry);
}

int view_add_content(struct view *view, const char *path, const char *content, size_t size)
{
	struct view_entry entry = { .kind = VIEW_CONTENT, .content_size = size };

	entry.content = malloc(size + 1);
	if (!entry.content)
		return -ENOMEM;
	memcpy(entry.content, content, size);
	entry.content[size] = '\0';
	return add(view, path, &entry);
}

int view_add_directory(struct view *view, const char *path, bool hidden)
{
	struct view_directory *parent;
	struct view_directory *directory;
	const char *name;
	int result = make_parents(view, path, &parent, &name);

	if (result < 0)
		return result;
	return append_directory(parent, name, strlen(name), path, strlen(path), hidden, &directory);
}

/* While sorting, the cookie holds the hash. */
static int compare_entries(const void *a, const void *b)
{
	const struct view_entry *left = a;
	const struct view_entry *right = b;

	if (left->cookie != right->cookie)
		return left->cookie < right->cookie ? -1 : 1;
	return strcmp(left->name, right->name);
}

static int finish_directory(struct view_directory *directory)
{
	uint32_t previous = FIRST_COOKIE - 1;

	namemap_clear(&directory->index);
	for (size_t i = 0; i < directory->count; i++)
		directory->entries[i].cookie = name_hash(directory->entries[i].name);
	if (directory->count > 1)
		qsort(directory->entries, directory->count, sizeof(*directory->entries),
			compare_entries);
	for (size_t i = 0; i < directory->count; i++) {
		struct view_entry *entry = &directory->entries[i];

		if (entry->cookie <= previous)
			entry->cookie = previous + 1;
		if (entry->cookie > LAST_COOKIE)
			return -EOVERFLOW;
		previous = entry->cookie;
		if (entry->kind == VIEW_DIRECTORY) {
			int result = finish_directory(entry->directory);

			if (result < 0)
				return result;
		}
	}
	return 0;
}

int view_finish(struct view *view)
{
	return finish_directory(&view->root);
}

size_t view_after(const struct view_directory *directory, uint32_t cookie)
{
	size_t low = 0;
	size_t high = directory->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (directory->entries[middle].cookie > cookie)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

struct view_entry *view_lookup(const struct view_directory *directory, const char *name)
{
	uint32_t hash = name_hash(name);

	/* a cookie is its name's hash, or more where names collide */
	for (size_t i = view_after(directory, hash - 1); i < directory->count; i++) {
		struct view_entry *entry = &directory->entries[i];

		if (strcmp(entry->name, name) == 0)
			return entry;
		if (name_hash(entry->name) > hash)
			return NULL;
	}
	return NULL;
}

struct view_entry *view_find(struct view *view, const char *path)
{
	const struct view_directory *directory = &view->root;

	if (!path_is_valid(path))
		return NULL;
	while (true) {
		char name[NAME_MAX + 1];
		size_t size = strcspn(path, "/");
		struct view_entry *entry;

		memcpy(name, path, size);
		name[size] = '\0';
		entry = view_lookup(directory, name);
		if (!entry || path[size] == '\0')
			return entry;
		if (entry->kind != VIEW_DIRECTORY)
			return NULL;
		directory = entry->directory;
		path += size + 1;
	}
}

struct view_directory *view_find_directory(struct view *view, const char *path)
{
	struct view_entry *entry;

	if (*path == '\0')
		return &view->root;
	entry = view_find(view, path);
	return entry && entry->kind == VIEW_DIRECTORY ? entry->directory : NULL;
}
