/* SPDX-License-Identifier: MIT */
#include "view.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <uuid.h>

#include "util.h"

/* gldriverfs' own namespace (RFC 4122, 4.3), made once at random. */
static const uuid_t namespace = { 0x3b, 0x1e, 0x5c, 0x0a, 0x96, 0x4d, 0x4f, 0x27, 0xa2, 0x70, 0x8e,
	0xd1, 0x0f, 0x54, 0xc3, 0x69 };

/* A large view is hashed in parts of about this size. */
#define FOLD_AT (64 * 1024)

/* An entry with its directory's path, to be sorted by path. */
struct place {
	const char *directory;
	const struct view_entry *entry;
};

struct places {
	struct place *items;
	size_t count;
	size_t capacity;
};

struct bytes {
	char *data;
	size_t size;
	size_t capacity;
};

static int collect(const struct view_directory *directory, struct places *places)
{
	for (size_t i = 0; i < directory->count; i++) {
		const struct view_entry *entry = &directory->entries[i];

		if (entry->hidden)
			continue;
		if (array_grow(&places->items, &places->capacity, places->count,
			    sizeof(*places->items)) < 0)
			return -ENOMEM;
		places->items[places->count++] = (struct place){ directory->path, entry };
		if (entry->kind == VIEW_DIRECTORY && collect(entry->directory, places) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int compare_places(const void *a, const void *b)
{
	const struct place *left = a;
	const struct place *right = b;
	int order =
		left->directory == right->directory ? 0 : strcmp(left->directory, right->directory);

	return order ? order : strcmp(left->entry->name, right->entry->name);
}

static int put(struct bytes *bytes, const void *data, size_t size)
{
	if (bytes->capacity - bytes->size < size) {
		size_t capacity = (bytes->size + size) * 2;
		char *grown = realloc(bytes->data, capacity);

		if (!grown)
			return -ENOMEM;
		bytes->data = grown;
		bytes->capacity = capacity;
	}
	if (size > 0)
		memcpy(bytes->data + bytes->size, data, size);
	bytes->size += size;
	return 0;
}

/* Each string with its NUL, each blob with its size: no two entries give the same bytes. */
static int describe(const struct place *place, struct bytes *bytes)
{
	const struct view_entry *entry = place->entry;
	const struct source *source = entry->source;
	const unsigned char kind = (unsigned char)entry->kind;
	const uint64_t content_size = entry->content_size;
	const uint64_t overlay_id = entry->overlay ? entry->overlay->id : 0;
	int result = 0;

	if (put(bytes, place->directory, strlen(place->directory) + 1) < 0 ||
		put(bytes, entry->name, strlen(entry->name) + 1) < 0 ||
		put(bytes, &kind, sizeof(kind)) < 0)
		return -ENOMEM;
	switch (entry->kind) {
	case VIEW_DIRECTORY:
		break;
	case VIEW_LINK:
		result = put(bytes, entry->target, strlen(entry->target) + 1);
		break;
	case VIEW_CONTENT:
		result = put(bytes, &content_size, sizeof(content_size));
		if (result == 0)
			result = put(bytes, entry->content, entry->content_size);
		break;
	case VIEW_FILE:
		if (put(bytes, &source->identity, sizeof(source->identity)) < 0 ||
			put(bytes, &source->mode, sizeof(source->mode)) < 0 ||
			put(bytes, &source->uid, sizeof(source->uid)) < 0 ||
			put(bytes, &source->gid, sizeof(source->gid)) < 0 ||
			put(bytes, &overlay_id, sizeof(overlay_id)) < 0)
			result = -ENOMEM;
		break;
	}
	return result;
}

/* Takes the bytes into the id. */
static void fold(uuid_t id, struct bytes *bytes)
{
	uuid_t next;

	uuid_generate_sha1(next, id, bytes->data ? bytes->data : "", bytes->size);
	uuid_copy(id, next);
	bytes->size = 0;
}

int view_identify(struct view *view)
{
	_cleanup_(freep) struct place *owned = NULL;
	_cleanup_(freep) char *data = NULL;
	struct places places = { 0 };
	struct bytes bytes = { 0 };
	uuid_t id;
	int result = collect(&view->root, &places);

	owned = places.items;
	if (result < 0)
		return result;
	if (places.count > 1)
		qsort(places.items, places.count, sizeof(*places.items), compare_places);
	uuid_copy(id, namespace);
	for (size_t i = 0; i < places.count && result == 0; i++) {
		result = describe(&places.items[i], &bytes);
		if (bytes.size >= FOLD_AT)
			fold(id, &bytes);
	}
	data = bytes.data;
	if (result < 0)
		return result;
	fold(id, &bytes);
	uuid_unparse_lower(id, view->id);
	return 0;
}
