/* SPDX-License-Identifier: MIT */
/* snapshot_write: the encoder. */
#include "snapshot_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct pointers {
	const void **items; /* sorted, unique once they are all there */
	size_t count;
	size_t capacity;
};

struct writer {
	const struct snapshot *snapshot;
	uint8_t *bytes;
	size_t size;
	size_t capacity;
	bool failed;
	struct pointers sources;
	struct pointers overlays;
	struct string_list layers;
};

static uint8_t *reserve(struct writer *writer, size_t size)
{
	if (!writer->failed && writer->size + size > writer->capacity) {
		size_t capacity = (writer->size + size) * 2;
		uint8_t *bytes = realloc(writer->bytes, capacity);

		writer->failed = !bytes;
		if (bytes) {
			writer->bytes = bytes;
			writer->capacity = capacity;
		}
	}
	if (writer->failed)
		return NULL;
	writer->size += size;
	return writer->bytes + writer->size - size;
}

static void store(uint8_t *at, uint64_t value, size_t size)
{
	for (size_t i = 0; at && i < size; i++)
		at[i] = (uint8_t)(value >> (8 * i));
}

static void put8(struct writer *writer, uint8_t value)
{
	store(reserve(writer, 1), value, 1);
}

static void put32(struct writer *writer, uint32_t value)
{
	store(reserve(writer, 4), value, 4);
}

static void put64(struct writer *writer, uint64_t value)
{
	store(reserve(writer, 8), value, 8);
}

static void put_bytes(struct writer *writer, const void *bytes, size_t size)
{
	uint8_t *at;

	put32(writer, bytes ? (uint32_t)size + 1 : 0);
	at = bytes ? reserve(writer, size) : NULL;
	if (at && size > 0)
		memcpy(at, bytes, size);
}

static void put_string(struct writer *writer, const char *text)
{
	put_bytes(writer, text, text ? strlen(text) : 0);
}

static size_t begin(struct writer *writer)
{
	put32(writer, 0);
	return writer->size;
}

static void end(struct writer *writer, size_t start)
{
	if (!writer->failed)
		store(writer->bytes + start - 4, writer->size - start, 4);
}

static void note(struct writer *writer, struct pointers *pointers, const void *item)
{
	if (!item || writer->failed)
		return;
	if (array_grow(&pointers->items, &pointers->capacity, pointers->count, sizeof(void *)) < 0)
		writer->failed = true;
	else
		pointers->items[pointers->count++] = item;
}

static int compare_pointers(const void *a, const void *b)
{
	const uintptr_t left = (uintptr_t) * (const void *const *)a;
	const uintptr_t right = (uintptr_t) * (const void *const *)b;

	return left < right ? -1 : left > right;
}

static void make_unique(struct pointers *pointers)
{
	size_t count = 0;

	if (pointers->count > 1)
		qsort(pointers->items, pointers->count, sizeof(void *), compare_pointers);
	for (size_t i = 0; i < pointers->count; i++)
		if (i == 0 || pointers->items[i] != pointers->items[i - 1])
			pointers->items[count++] = pointers->items[i];
	pointers->count = count;
}

static void put_place(struct writer *writer, const struct pointers *pointers, const void *item)
{
	const void **found = item ? bsearch(&item, pointers->items, pointers->count, sizeof(void *),
					    compare_pointers)
				  : NULL;

	put32(writer, found ? (uint32_t)(found - pointers->items) + 1 : 0);
}

static void put_layer(struct writer *writer, const char *layer)
{
	uint32_t place = 0;

	while (layer && place < writer->layers.count &&
		strcmp(writer->layers.items[place], layer) != 0)
		place++;
	put32(writer, layer && place < writer->layers.count ? place + 1 : 0);
}

static void note_view(struct writer *writer, const struct view_directory *directory)
{
	for (size_t i = 0; i < directory->count; i++) {
		const struct view_entry *entry = &directory->entries[i];

		note(writer, &writer->sources, entry->source);
		note(writer, &writer->overlays, entry->overlay);
		if (entry->layer && !string_list_has(&writer->layers, entry->layer) &&
			string_list_add(&writer->layers, entry->layer) < 0)
			writer->failed = true;
		if (entry->kind == VIEW_DIRECTORY)
			note_view(writer, entry->directory);
	}
}

static void note_all(struct writer *writer)
{
	const struct snapshot *snapshot = writer->snapshot;

	note_view(writer, &snapshot->view->root);
	for (size_t i = 0; i < snapshot->sets.count; i++)
		for (size_t k = 0; k < snapshot->sets.items[i]->count; k++) {
			note(writer, &writer->sources, snapshot->sets.items[i]->entries[k].source);
			note(writer, &writer->overlays,
				snapshot->sets.items[i]->entries[k].overlay);
		}
	for (size_t i = 0; i < snapshot->n_nodes; i++) {
		note(writer, &writer->sources, snapshot->nodes[i].source);
		note(writer, &writer->overlays, snapshot->nodes[i].overlay);
	}
	make_unique(&writer->sources);
	make_unique(&writer->overlays);
}

static void put_source(struct writer *writer, const struct source *source)
{
	const struct snapshot *snapshot = writer->snapshot;
	const struct file_identity *identity = &source->identity;
	size_t start = begin(writer);

	put64(writer, identity->dev);
	put64(writer, identity->ino);
	put64(writer, identity->size);
	put64(writer, (uint64_t)identity->mtime_sec);
	put32(writer, identity->mtime_nsec);
	put_bytes(writer, identity->build_id, identity->build_id_size);
	put64(writer, (uint64_t)source->ctime_sec);
	put32(writer, source->ctime_nsec);
	put32(writer, source->mode);
	put32(writer, source->uid);
	put32(writer, source->gid);
	put8(writer, source->in_store);
	put8(writer, source->covered);
	put_string(writer, source->path);
	put_string(writer, source->real_path);
	put64(writer, snapshot->pin_of ? snapshot->pin_of(snapshot->context, source) : 0);
	end(writer, start);
}

static void put_overlay(struct writer *writer, const struct overlay *overlay)
{
	size_t start = begin(writer);

	put64(writer, overlay->base);
	put64(writer, overlay->size);
	put64(writer, overlay->id);
	put32(writer, (uint32_t)overlay->count);
	for (size_t i = 0; i < overlay->count; i++) {
		put64(writer, overlay->edits[i].offset);
		put_bytes(writer, overlay->edits[i].bytes, overlay->edits[i].size);
	}
	end(writer, start);
}

static uint32_t count_entries(const struct view_directory *directory)
{
	uint32_t count = (uint32_t)directory->count;

	for (size_t i = 0; i < directory->count; i++)
		if (directory->entries[i].kind == VIEW_DIRECTORY)
			count += count_entries(directory->entries[i].directory);
	return count;
}

static void put_entries(struct writer *writer, const struct view_directory *directory)
{
	for (size_t i = 0; i < directory->count; i++) {
		const struct view_entry *entry = &directory->entries[i];
		_cleanup_(freep) char *path = string_format(
			"%s%s%s", directory->path, *directory->path ? "/" : "", entry->name);
		size_t start = begin(writer);

		writer->failed |= !path;
		put_string(writer, path);
		put8(writer, (uint8_t)entry->kind);
		put32(writer, entry->ino);
		put8(writer, entry->hidden);
		put_place(writer, &writer->sources, entry->source);
		put_place(writer, &writer->overlays, entry->overlay);
		put_string(writer, entry->target);
		put_bytes(writer, entry->content, entry->content_size);
		put_layer(writer, entry->layer);
		end(writer, start);
		if (entry->kind == VIEW_DIRECTORY)
			put_entries(writer, entry->directory);
	}
}

static void put_set(struct writer *writer, const struct cuda_set *set)
{
	size_t start = begin(writer);

	put_string(writer, set->id);
	put32(writer, (uint32_t)set->count);
	for (size_t i = 0; i < set->count; i++) {
		const struct set_entry *entry = &set->entries[i];
		size_t inner = begin(writer);

		put_string(writer, entry->name);
		put8(writer, (uint8_t)entry->kind);
		put_string(writer, entry->target);
		put_string(writer, entry->layer);
		put_place(writer, &writer->sources, entry->source);
		put_place(writer, &writer->overlays, entry->overlay);
		end(writer, inner);
	}
	end(writer, start);
}

static void put_node(struct writer *writer, const struct snapshot_node *node)
{
	size_t start = begin(writer);

	put32(writer, node->ino);
	put8(writer, (uint8_t)node->kind);
	put64(writer, (uint64_t)node->mtime.tv_sec);
	put32(writer, (uint32_t)node->mtime.tv_nsec);
	put_string(writer, node->path);
	put_bytes(writer, node->target, node->target_size);
	put_place(writer, &writer->sources, node->source);
	put_place(writer, &writer->overlays, node->overlay);
	end(writer, start);
}

static void put_change(struct writer *writer)
{
	const struct snapshot *snapshot = writer->snapshot;

	put32(writer, (uint32_t)snapshot->change.n_names);
	for (size_t i = 0; i < snapshot->change.n_names; i++) {
		const struct viewdiff_name *name = &snapshot->change.names[i];
		size_t start = begin(writer);

		put8(writer, (uint8_t)name->what);
		put32(writer, name->parent);
		put32(writer, name->before);
		put_string(writer, name->name);
		end(writer, start);
	}
	put32(writer, (uint32_t)snapshot->change.n_directories);
	for (size_t i = 0; i < snapshot->change.n_directories; i++)
		put32(writer, snapshot->change.directories[i]);
	put32(writer, (uint32_t)snapshot->n_attributes);
	for (size_t i = 0; i < snapshot->n_attributes; i++)
		put32(writer, snapshot->attributes[i]);
}

static void put_all(struct writer *writer)
{
	const struct snapshot *snapshot = writer->snapshot;
	size_t start = begin(writer);

	put_string(writer, snapshot->name);
	put_string(writer, snapshot->mountpoint);
	put8(writer, snapshot->compat_on);
	put32(writer, snapshot->last_ino);
	put32(writer, snapshot->view->root.ino);
	put_string(writer, snapshot->view->id);
	put64(writer, snapshot->view->n_entries);
	end(writer, start);
	put32(writer, (uint32_t)writer->layers.count);
	for (size_t i = 0; i < writer->layers.count; i++)
		put_string(writer, writer->layers.items[i]);
	put32(writer, (uint32_t)writer->sources.count);
	for (size_t i = 0; i < writer->sources.count; i++)
		put_source(writer, writer->sources.items[i]);
	put32(writer, (uint32_t)writer->overlays.count);
	for (size_t i = 0; i < writer->overlays.count; i++)
		put_overlay(writer, writer->overlays.items[i]);
	put32(writer, count_entries(&snapshot->view->root));
	put_entries(writer, &snapshot->view->root);
	put32(writer, (uint32_t)snapshot->sets.count);
	for (size_t i = 0; i < snapshot->sets.count; i++)
		put_set(writer, snapshot->sets.items[i]);
	put32(writer, (uint32_t)snapshot->n_nodes);
	for (size_t i = 0; i < snapshot->n_nodes; i++)
		put_node(writer, &snapshot->nodes[i]);
	put_change(writer);
}

int snapshot_encode(const struct snapshot *snapshot, uint8_t **ret_bytes, size_t *ret_size)
{
	struct writer writer = { .snapshot = snapshot };
	const size_t header = sizeof(struct snapshot_header);
	uint8_t *start = reserve(&writer, header);

	if (start)
		memcpy(start, SNAPSHOT_MAGIC, offsetof(struct snapshot_header, version));
	store(start ? start + offsetof(struct snapshot_header, version) : NULL, SNAPSHOT_VERSION,
		4);
	note_all(&writer);
	put_all(&writer);
	free(writer.sources.items);
	free(writer.overlays.items);
	string_list_clear(&writer.layers);
	if (writer.failed) {
		free(writer.bytes);
		return -ENOMEM;
	}
	store(writer.bytes + offsetof(struct snapshot_header, checksum),
		fnv1a(FNV_START, writer.bytes + header, writer.size - header), 8);
	*ret_bytes = writer.bytes;
	*ret_size = writer.size;
	return 0;
}
