/* SPDX-License-Identifier: MIT */
/* snapshot_read_view: what refers to sources and overlays: the view's entries, the CUDA sets and
 * the nodes. */
#include "snapshot_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Of directories in each other: freeing and finishing a view recurses. A scan stops long before. */
#define DEPTH_MAX 256

static struct source *get_source(
	struct snapshot_reader *reader, const struct snapshot_decoding *decoding)
{
	uint32_t place = snapshot_get32(reader);

	if (place <= decoding->snapshot.n_sources)
		return place ? decoding->snapshot.sources[place - 1] : NULL;
	reader->error = reader->error ? reader->error : -EBADMSG;
	return NULL;
}

static struct overlay *get_overlay(
	struct snapshot_reader *reader, const struct snapshot_decoding *decoding)
{
	uint32_t place = snapshot_get32(reader);

	if (place <= decoding->n_overlays)
		return place ? decoding->overlays[place - 1] : NULL;
	reader->error = reader->error ? reader->error : -EBADMSG;
	return NULL;
}

/* An entry as it is added to the view, and what it gets once it has its place there. */
struct entry {
	char *path;
	enum view_kind kind;
	uint32_t ino;
	bool hidden;
	struct source *source;
	struct overlay *overlay;
	char *target;
	char *content;
	size_t content_size;
	const char *layer;
};

/* Paths, names, numbers: what is left to do when all entries are there. */
struct entries {
	struct entry *items; /* their strings but `path` are gone */
	size_t count;
	struct namemap directories; /* paths of those that are there */
};

static void entries_clear(struct entries *entries)
{
	namemap_clear(&entries->directories);
	for (size_t i = 0; i < entries->count; i++)
		free(entries->items[i].path);
	free(entries->items);
}

/* Whether the directory above was added before: else each byte of a path would make one. */
static bool parent_is_there(const struct entries *entries, char *path)
{
	char *slash = strrchr(path, '/');
	size_t depth = 1;
	bool there = true;

	for (const char *p = path; *p; p++)
		depth += *p == '/';
	if (slash) {
		*slash = '\0';
		there = namemap_get(&entries->directories, path, NULL);
		*slash = '/';
	}
	return there && depth <= DEPTH_MAX;
}

static int add_entry(struct view *view, const struct entry *entry)
{
	switch (entry->kind) {
	case VIEW_DIRECTORY:
		return view_add_directory(view, entry->path, entry->hidden);
	case VIEW_FILE:
		return entry->source ? view_add_patched(view, entry->path, entry->source,
					       entry->overlay, entry->layer)
				     : -EBADMSG;
	case VIEW_LINK:
		return entry->target ? view_add_link(view, entry->path, entry->target,
					       entry->source, entry->layer)
				     : -EBADMSG;
	case VIEW_CONTENT:
		return entry->content ? view_add_content(view, entry->path, entry->content,
						entry->content_size)
				      : -EBADMSG;
	}
	return -EBADMSG;
}

static int read_entry(
	struct snapshot_reader record, struct snapshot_decoding *decoding, struct entries *entries)
{
	struct snapshot *snapshot = &decoding->snapshot;
	struct entry *entry = &entries->items[entries->count++];
	_cleanup_(freep) char *target = NULL, *content = NULL;
	size_t target_size;
	uint32_t layer;
	int error;

	entry->path = snapshot_get_text(&record);
	entry->kind = snapshot_get_kind(&record);
	entry->ino = snapshot_get32(&record);
	entry->hidden = snapshot_get8(&record);
	entry->source = get_source(&record, decoding);
	entry->overlay = get_overlay(&record, decoding);
	entry->target = target = snapshot_get_string(&record, &target_size);
	entry->content = content = snapshot_get_string(&record, &entry->content_size);
	layer = snapshot_get32(&record);
	if (record.error < 0)
		return record.error;
	if (layer > snapshot->layers.count || !parent_is_there(entries, entry->path))
		return -EBADMSG;
	entry->layer = layer ? snapshot->layers.items[layer - 1] : NULL;
	error = add_entry(snapshot->view, entry);
	if (error == 0 && entry->kind == VIEW_DIRECTORY)
		error = namemap_put(&entries->directories, entry->path, entries->count);
	return error == 0 || error == -ENOMEM ? error : -EBADMSG;
}

static int finish_entries(struct view *view, const struct entries *entries)
{
	if (view_finish(view) < 0)
		return -EBADMSG;
	for (size_t i = 0; i < entries->count; i++) {
		struct view_entry *entry = view_find(view, entries->items[i].path);

		if (!entry)
			return -EBADMSG;
		entry->ino = entries->items[i].ino;
		entry->hidden = entries->items[i].hidden;
		if (entry->kind == VIEW_DIRECTORY)
			entry->directory->ino = entry->ino;
	}
	return 0;
}

int snapshot_read_view(struct snapshot_reader *reader, struct snapshot_decoding *decoding)
{
	_cleanup_(entries_clear) struct entries entries = { 0 };
	struct view *view = decoding->snapshot.view;
	size_t count = snapshot_get_count(reader);
	size_t n_entries = view->n_entries;
	int error = reader->error;

	entries.items = calloc(count + 1, sizeof(*entries.items));
	if (!entries.items)
		return -ENOMEM;
	while (error == 0 && entries.count < count)
		error = read_entry(snapshot_get_record(reader), decoding, &entries);
	/* Adding counted those of set directories too. */
	view->n_entries = n_entries;
	return error < 0 ? error : finish_entries(view, &entries);
}

static int read_set_entry(struct snapshot_reader record, const struct snapshot_decoding *decoding,
	struct set_entry *entry)
{
	struct source *source;
	struct overlay *overlay;
	size_t size;

	entry->name = snapshot_get_text(&record);
	entry->kind = snapshot_get_kind(&record);
	entry->target = snapshot_get_string(&record, &size);
	entry->layer = snapshot_get_text(&record);
	source = get_source(&record, decoding);
	overlay = get_overlay(&record, decoding);
	entry->source = source ? source_ref(source) : NULL;
	entry->overlay = overlay ? overlay_ref(overlay) : NULL;
	if (record.error < 0)
		return record.error;
	if (!source || (entry->kind != VIEW_FILE && !(entry->kind == VIEW_LINK && entry->target)))
		return -EBADMSG;
	return 0;
}

static int read_set(struct snapshot_reader record, struct snapshot_decoding *decoding)
{
	struct set_list *sets = &decoding->snapshot.sets;
	_cleanup_(freep) char *id = NULL;
	struct cuda_set *set = calloc(1, sizeof(*set));
	size_t count;
	int error;

	if (!set)
		return -ENOMEM;
	atomic_init(&set->references, 1);
	sets->items[sets->count++] = set;
	id = snapshot_get_text(&record);
	count = snapshot_get_count(&record);
	error = record.error;
	if (error < 0)
		return error;
	if (strlen(id) >= sizeof(set->id))
		return -EBADMSG;
	memcpy(set->id, id, strlen(id) + 1);
	set->entries = calloc(count + 1, sizeof(*set->entries));
	if (!set->entries)
		return -ENOMEM;
	while (error == 0 && set->count < count)
		error = read_set_entry(
			snapshot_get_record(&record), decoding, &set->entries[set->count++]);
	return error;
}

int snapshot_read_sets(struct snapshot_reader *reader, struct snapshot_decoding *decoding)
{
	size_t count = snapshot_get_count(reader);
	int error = count > SETS_MAX ? -EBADMSG : reader->error;

	while (error == 0 && decoding->snapshot.sets.count < count)
		error = read_set(snapshot_get_record(reader), decoding);
	return error;
}

static int read_node(struct snapshot_reader record, const struct snapshot_decoding *decoding,
	struct snapshot_node *node)
{
	struct source *source;
	struct overlay *overlay;
	size_t size;

	node->ino = snapshot_get32(&record);
	node->kind = snapshot_get_kind(&record);
	node->mtime.tv_sec = (time_t)snapshot_get64(&record);
	node->mtime.tv_nsec = (long)snapshot_get32(&record);
	node->path = snapshot_get_string(&record, &size);
	node->target = snapshot_get_string(&record, &node->target_size);
	source = get_source(&record, decoding);
	overlay = get_overlay(&record, decoding);
	node->source = source ? source_ref(source) : NULL;
	node->overlay = overlay ? overlay_ref(overlay) : NULL;
	if (record.error < 0)
		return record.error;
	return (node->kind == VIEW_FILE ? source != NULL : node->path != NULL) ? 0 : -EBADMSG;
}

int snapshot_read_nodes(struct snapshot_reader *reader, struct snapshot_decoding *decoding)
{
	struct snapshot *snapshot = &decoding->snapshot;
	size_t count = snapshot_get_count(reader);
	int error = reader->error;

	snapshot->nodes = calloc(count + 1, sizeof(*snapshot->nodes));
	if (!snapshot->nodes)
		return -ENOMEM;
	while (error == 0 && snapshot->n_nodes < count)
		error = read_node(snapshot_get_record(reader), decoding,
			&snapshot->nodes[snapshot->n_nodes++]);
	return error;
}
