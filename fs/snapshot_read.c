/* SPDX-License-Identifier: MIT */
#include "snapshot_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Bytes that are left of the whole or of one record. */
struct reader {
	const uint8_t *at;
	const uint8_t *end;
	bool failed; /* less than was asked for, or what cannot be */
};

static uint64_t get(struct reader *reader, size_t size)
{
	uint64_t value = 0;

	if ((size_t)(reader->end - reader->at) < size) {
		reader->failed = true;
		return 0;
	}
	for (size_t i = 0; i < size; i++)
		value |= (uint64_t)reader->at[i] << (8 * i);
	reader->at += size;
	return value;
}

static uint8_t get8(struct reader *reader)
{
	return (uint8_t)get(reader, 1);
}

static uint32_t get32(struct reader *reader)
{
	return (uint32_t)get(reader, 4);
}

static uint64_t get64(struct reader *reader)
{
	return get(reader, 8);
}

/* NULL where there are none; they are not copied. */
static const uint8_t *get_bytes(struct reader *reader, size_t *ret_size)
{
	size_t size = get32(reader);
	const uint8_t *bytes = reader->at;

	*ret_size = 0;
	if (size == 0)
		return NULL;
	size--;
	if ((size_t)(reader->end - reader->at) < size) {
		reader->failed = true;
		return NULL;
	}
	reader->at += size;
	*ret_size = size;
	return bytes;
}

/* A copy with a NUL behind it, or NULL where there is none. */
static char *get_string(struct reader *reader, size_t *ret_size)
{
	const uint8_t *bytes = get_bytes(reader, ret_size);
	char *copy = bytes ? malloc(*ret_size + 1) : NULL;

	if (!bytes)
		return NULL;
	if (!copy) {
		reader->failed = true;
		return NULL;
	}
	memcpy(copy, bytes, *ret_size);
	copy[*ret_size] = '\0';
	return copy;
}

/* A string that must be there and have no NUL of its own. */
static char *get_text(struct reader *reader)
{
	size_t size;
	char *text = get_string(reader, &size);

	if (text && strlen(text) == size)
		return text;
	free(text);
	reader->failed = true;
	return NULL;
}

/* The next record. */
static struct reader get_record(struct reader *reader)
{
	size_t size = get32(reader);
	struct reader record = { .at = reader->at, .end = reader->at };

	if ((size_t)(reader->end - reader->at) < size) {
		reader->failed = true;
		return record;
	}
	reader->at += size;
	record.end = reader->at;
	return record;
}

/* How many records come; each has at least four bytes. */
static size_t get_count(struct reader *reader)
{
	size_t count = get32(reader);

	if (count > (size_t)(reader->end - reader->at) / 4) {
		reader->failed = true;
		return 0;
	}
	return count;
}

struct decoding {
	struct snapshot snapshot;
	struct overlay **overlays;
	size_t n_overlays;
};

static struct source *source_at(
	struct decoding *decoding, struct reader *reader, const struct snapshot *snapshot)
{
	uint32_t place = get32(reader);

	(void)decoding;
	if (place <= snapshot->n_sources)
		return place ? snapshot->sources[place - 1] : NULL;
	reader->failed = true;
	return NULL;
}

static struct overlay *overlay_at(struct decoding *decoding, struct reader *reader)
{
	uint32_t place = get32(reader);

	if (place <= decoding->n_overlays)
		return place ? decoding->overlays[place - 1] : NULL;
	reader->failed = true;
	return NULL;
}

static enum view_kind get_kind(struct reader *reader)
{
	uint8_t kind = get8(reader);

	reader->failed |= kind > VIEW_CONTENT;
	return kind > VIEW_CONTENT ? VIEW_DIRECTORY : (enum view_kind)kind;
}

static int read_source(struct reader record, struct source **ret_source, uint64_t *ret_pin)
{
	_cleanup_(source_unrefp) struct source *source = calloc(1, sizeof(*source));
	const uint8_t *build_id;
	size_t size;

	if (!source)
		return -ENOMEM;
	atomic_init(&source->references, 1);
	source->identity.dev = get64(&record);
	source->identity.ino = get64(&record);
	source->identity.size = get64(&record);
	source->identity.mtime_sec = (int64_t)get64(&record);
	source->identity.mtime_nsec = get32(&record);
	build_id = get_bytes(&record, &size);
	if (size > sizeof(source->identity.build_id))
		return -EBADMSG;
	if (build_id)
		memcpy(source->identity.build_id, build_id, size);
	source->identity.build_id_size = (uint32_t)size;
	source->ctime_sec = (int64_t)get64(&record);
	source->ctime_nsec = get32(&record);
	source->mode = get32(&record);
	source->uid = get32(&record);
	source->gid = get32(&record);
	source->in_store = get8(&record);
	source->covered = get8(&record);
	source->path = get_text(&record);
	source->real_path = get_text(&record);
	*ret_pin = get64(&record);
	if (record.failed)
		return -EBADMSG;
	*ret_source = steal_pointer(source);
	return 0;
}

static int read_sources(struct reader *reader, struct snapshot *snapshot)
{
	size_t count = get_count(reader);

	snapshot->sources = calloc(count + 1, sizeof(*snapshot->sources));
	snapshot->pins = calloc(count + 1, sizeof(*snapshot->pins));
	if (!snapshot->sources || !snapshot->pins)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		int r = read_source(get_record(reader), &snapshot->sources[i], &snapshot->pins[i]);

		if (r < 0)
			return r;
		snapshot->n_sources++;
	}
	return 0;
}

static int read_overlay(struct reader record, struct overlay **ret_overlay)
{
	_cleanup_(overlay_unrefp) struct overlay *overlay = NULL;
	uint64_t base = get64(&record), size = get64(&record), id = get64(&record);
	size_t count = get_count(&record);

	overlay = overlay_new(base);
	if (!overlay)
		return -ENOMEM;
	for (size_t i = 0; i < count && !record.failed; i++) {
		uint64_t offset = get64(&record);
		size_t length;
		const uint8_t *bytes = get_bytes(&record, &length);
		int r = bytes ? overlay_write(overlay, offset, bytes, length) : -EBADMSG;

		if (r < 0)
			return r == -ENOMEM ? r : -EBADMSG;
	}
	/* A tail may end in zeros that no edit has. */
	if (record.failed || size < overlay->size)
		return -EBADMSG;
	overlay->size = size;
	overlay_finish(overlay);
	if (overlay->id != id)
		return -EBADMSG;
	*ret_overlay = steal_pointer(overlay);
	return 0;
}

static int read_overlays(struct reader *reader, struct decoding *decoding)
{
	size_t count = get_count(reader);

	decoding->overlays = calloc(count + 1, sizeof(struct overlay *));
	if (!decoding->overlays)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		int r = read_overlay(get_record(reader), &decoding->overlays[i]);

		if (r < 0)
			return r;
		decoding->n_overlays++;
	}
	return 0;
}

/* One entry: what is added to the view, and what is set when its place is known. */
struct entry {
	char *path;
	enum view_kind kind;
	uint32_t ino;
};

struct entry_list {
	struct entry *items;
	size_t count;
};

static void entry_list_clear(struct entry_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		free(list->items[i].path);
	free(list->items);
}

static int add_entry(struct view *view, const struct entry *entry, bool hidden,
	struct source *source, struct overlay *overlay, const char *target, const char *content,
	size_t content_size, const char *layer)
{
	switch (entry->kind) {
	case VIEW_DIRECTORY:
		return view_add_directory(view, entry->path, hidden);
	case VIEW_FILE:
		return source ? view_add_patched(view, entry->path, source, overlay, layer)
			      : -EBADMSG;
	case VIEW_LINK:
		return target ? view_add_link(view, entry->path, target, source, layer) : -EBADMSG;
	case VIEW_CONTENT:
		return content ? view_add_content(view, entry->path, content, content_size)
			       : -EBADMSG;
	}
	return -EBADMSG;
}

static int read_entry(struct reader record, struct decoding *decoding, struct entry *entry)
{
	struct snapshot *snapshot = &decoding->snapshot;
	_cleanup_(freep) char *target = NULL, *content = NULL;
	struct source *source;
	struct overlay *overlay;
	size_t target_size, content_size;
	uint32_t layer;
	bool hidden;
	int r;

	entry->path = get_text(&record);
	entry->kind = get_kind(&record);
	entry->ino = get32(&record);
	hidden = get8(&record);
	source = source_at(decoding, &record, snapshot);
	overlay = overlay_at(decoding, &record);
	target = get_string(&record, &target_size);
	content = get_string(&record, &content_size);
	layer = get32(&record);
	if (record.failed || layer > snapshot->layers.count)
		return -EBADMSG;
	r = add_entry(snapshot->view, entry, hidden, source, overlay, target, content, content_size,
		layer ? snapshot->layers.items[layer - 1] : NULL);
	return r == 0 || r == -ENOMEM ? r : -EBADMSG;
}

static int give_numbers(struct view *view, const struct entry_list *list)
{
	for (size_t i = 0; i < list->count; i++) {
		struct view_entry *entry = view_find(view, list->items[i].path);

		if (!entry)
			return -EBADMSG;
		entry->ino = list->items[i].ino;
		if (entry->kind == VIEW_DIRECTORY)
			entry->directory->ino = entry->ino;
	}
	return 0;
}

static int read_view(struct reader *reader, struct decoding *decoding, uint64_t n_entries)
{
	_cleanup_(entry_list_clear) struct entry_list list = { 0 };
	struct view *view = decoding->snapshot.view;
	size_t count = get_count(reader);
	int r = 0;

	list.items = calloc(count + 1, sizeof(*list.items));
	if (!list.items)
		return -ENOMEM;
	for (; r == 0 && list.count < count; list.count++)
		r = read_entry(get_record(reader), decoding, &list.items[list.count]);
	if (r == 0)
		r = view_finish(view) < 0 ? -EBADMSG : give_numbers(view, &list);
	view->n_entries = (size_t)n_entries;
	return r;
}

static int read_set_entry(struct reader record, struct decoding *decoding, struct set_entry *entry)
{
	struct source *source;
	struct overlay *overlay;
	size_t size;

	entry->name = get_text(&record);
	entry->kind = get_kind(&record);
	entry->target = get_string(&record, &size);
	entry->layer = get_text(&record);
	source = source_at(decoding, &record, &decoding->snapshot);
	overlay = overlay_at(decoding, &record);
	if (!record.failed && source) {
		entry->source = source_ref(source);
		entry->overlay = overlay ? overlay_ref(overlay) : NULL;
	}
	if (record.failed || !source || (entry->kind == VIEW_LINK) != (entry->target != NULL) ||
		(entry->kind != VIEW_LINK && entry->kind != VIEW_FILE))
		return -EBADMSG;
	return 0;
}

static int read_set(struct reader record, struct decoding *decoding, struct set_list *sets)
{
	struct cuda_set *set = calloc(1, sizeof(*set));
	_cleanup_(freep) char *id = NULL;
	size_t count;
	int r = 0;

	if (!set)
		return -ENOMEM;
	atomic_init(&set->references, 1);
	sets->items[sets->count++] = set;
	id = get_text(&record);
	count = get_count(&record);
	if (!id || strlen(id) >= sizeof(set->id))
		return -EBADMSG;
	strcpy(set->id, id);
	set->entries = calloc(count + 1, sizeof(*set->entries));
	if (!set->entries)
		return -ENOMEM;
	while (r == 0 && set->count < count)
		r = read_set_entry(get_record(&record), decoding, &set->entries[set->count++]);
	return record.failed ? -EBADMSG : r;
}

static int read_sets(struct reader *reader, struct decoding *decoding)
{
	size_t count = get_count(reader);
	int r = count > SETS_MAX ? -EBADMSG : 0;

	for (size_t i = 0; r == 0 && i < count; i++)
		r = read_set(get_record(reader), decoding, &decoding->snapshot.sets);
	return r;
}

static int read_node(struct reader record, struct decoding *decoding, struct snapshot_node *node)
{
	struct source *source;
	struct overlay *overlay;
	size_t size;

	node->ino = get32(&record);
	node->kind = get_kind(&record);
	node->mtime.tv_sec = (time_t)get64(&record);
	node->mtime.tv_nsec = (long)get32(&record);
	node->path = get_string(&record, &size);
	node->target = get_string(&record, &node->target_size);
	source = source_at(decoding, &record, &decoding->snapshot);
	overlay = overlay_at(decoding, &record);
	if (record.failed || (node->kind == VIEW_FILE ? !source : !node->path))
		return -EBADMSG;
	node->source = source ? source_ref(source) : NULL;
	node->overlay = overlay ? overlay_ref(overlay) : NULL;
	return 0;
}

static int read_nodes(struct reader *reader, struct decoding *decoding)
{
	struct snapshot *snapshot = &decoding->snapshot;
	size_t count = get_count(reader);
	int r = 0;

	snapshot->nodes = calloc(count + 1, sizeof(*snapshot->nodes));
	if (!snapshot->nodes)
		return -ENOMEM;
	while (r == 0 && snapshot->n_nodes < count)
		r = read_node(get_record(reader), decoding, &snapshot->nodes[snapshot->n_nodes++]);
	return r;
}

static int read_numbers(struct reader *reader, uint32_t **ret_numbers, size_t *ret_count)
{
	size_t count = get_count(reader);

	*ret_numbers = calloc(count + 1, sizeof(uint32_t));
	if (!*ret_numbers)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		(*ret_numbers)[(*ret_count)++] = get32(reader);
	return 0;
}

static int read_change(struct reader *reader, struct snapshot *snapshot)
{
	size_t count = get_count(reader);
	int r;

	snapshot->change.names = calloc(count + 1, sizeof(*snapshot->change.names));
	if (!snapshot->change.names)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		struct reader record = get_record(reader);
		struct viewdiff_name *name = &snapshot->change.names[i];
		_cleanup_(freep) char *text = NULL;

		name->what = (enum viewdiff_what)get8(&record);
		name->parent = get32(&record);
		name->before = get32(&record);
		text = get_text(&record);
		if (record.failed || name->what > VIEWDIFF_CHANGED)
			return -EBADMSG;
		if (string_list_add(&snapshot->change_names, text) < 0)
			return -ENOMEM;
		name->name = snapshot->change_names.items[snapshot->change_names.count - 1];
		snapshot->change.n_names++;
	}
	r = read_numbers(reader, &snapshot->change.directories, &snapshot->change.n_directories);
	return r < 0 ? r : read_numbers(reader, &snapshot->attributes, &snapshot->n_attributes);
}

static int read_layers(struct reader *reader, struct snapshot *snapshot)
{
	size_t count = get_count(reader);
	int r = 0;

	for (size_t i = 0; r == 0 && i < count; i++) {
		_cleanup_(freep) char *name = get_text(reader);

		r = name ? string_list_add(&snapshot->layers, name) : -EBADMSG;
	}
	return r;
}

static int read_all(struct reader *reader, struct decoding *decoding)
{
	struct snapshot *snapshot = &decoding->snapshot;
	struct reader head = get_record(reader);
	_cleanup_(freep) char *id = NULL;
	uint64_t n_entries;
	int r;

	snapshot->name = get_text(&head);
	snapshot->mountpoint = get_text(&head);
	snapshot->compat_on = get8(&head);
	snapshot->last_ino = get32(&head);
	snapshot->view = view_new();
	if (!snapshot->view)
		return -ENOMEM;
	snapshot->view->root.ino = get32(&head);
	id = get_text(&head);
	n_entries = get64(&head);
	if (head.failed || strlen(id) >= sizeof(snapshot->view->id))
		return -EBADMSG;
	strcpy(snapshot->view->id, id);
	r = read_layers(reader, snapshot);
	if (r == 0)
		r = read_sources(reader, snapshot);
	if (r == 0)
		r = read_overlays(reader, decoding);
	if (r == 0)
		r = read_view(reader, decoding, n_entries);
	if (r == 0)
		r = read_sets(reader, decoding);
	if (r == 0)
		r = read_nodes(reader, decoding);
	if (r == 0)
		r = read_change(reader, snapshot);
	return r == 0 && reader->failed ? -EBADMSG : r;
}

int snapshot_decode(const uint8_t *bytes, size_t size, struct snapshot *ret_snapshot)
{
	const size_t header = sizeof(struct snapshot_header);
	struct reader reader = { .at = bytes, .end = bytes + size };
	struct decoding decoding = { 0 };
	int r;

	if (size < header || memcmp(bytes, SNAPSHOT_MAGIC, 8) != 0)
		return -EBADMSG;
	reader.at += offsetof(struct snapshot_header, version);
	if (get32(&reader) > SNAPSHOT_VERSION)
		return -EPROTO;
	if (get64(&reader) != fnv1a(FNV_START, bytes + header, size - header))
		return -EBADMSG;
	r = read_all(&reader, &decoding);
	for (size_t i = 0; i < decoding.n_overlays; i++)
		overlay_unref(decoding.overlays[i]);
	free(decoding.overlays);
	if (r < 0) {
		snapshot_clear(&decoding.snapshot);
		return r;
	}
	*ret_snapshot = decoding.snapshot;
	return 0;
}

void snapshot_clear(struct snapshot *snapshot)
{
	for (size_t i = 0; i < snapshot->n_nodes; i++) {
		free(snapshot->nodes[i].path);
		free(snapshot->nodes[i].target);
		source_unref(snapshot->nodes[i].source);
		overlay_unref(snapshot->nodes[i].overlay);
	}
	for (size_t i = 0; i < snapshot->n_sources; i++)
		source_unref(snapshot->sources[i]);
	view_free(snapshot->view);
	sets_clear(&snapshot->sets);
	viewdiff_clear(&snapshot->change);
	string_list_clear(&snapshot->layers);
	string_list_clear(&snapshot->change_names);
	free(snapshot->nodes);
	free(snapshot->sources);
	free(snapshot->pins);
	free(snapshot->attributes);
	free(snapshot->name);
	free(snapshot->mountpoint);
	*snapshot = (struct snapshot){ 0 };
}
