/* SPDX-License-Identifier: MIT */
/* overlay: edits kept sorted and apart, so that one pass puts them over what was read. */
#include "overlay.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "util.h"

struct overlay *overlay_new(uint64_t base)
{
	struct overlay *overlay = calloc(1, sizeof(*overlay));

	if (!overlay)
		return NULL;
	atomic_init(&overlay->references, 1);
	overlay->base = base;
	overlay->size = base;
	return overlay;
}

struct overlay *overlay_ref(struct overlay *overlay)
{
	atomic_fetch_add_explicit(&overlay->references, 1, memory_order_relaxed);
	return overlay;
}

struct overlay *overlay_unref(struct overlay *overlay)
{
	if (!overlay ||
		atomic_fetch_sub_explicit(&overlay->references, 1, memory_order_acq_rel) > 1)
		return NULL;
	for (size_t i = 0; i < overlay->count; i++)
		free(overlay->edits[i].bytes);
	free(overlay->edits);
	free(overlay);
	return NULL;
}

void overlay_unrefp(struct overlay **overlay)
{
	overlay_unref(*overlay);
}

static uint64_t edit_end(const struct overlay_edit *edit)
{
	return edit->offset + edit->size;
}

/* The first edit that ends at offset or behind it; count where there is none. */
static size_t find_edit(const struct overlay *overlay, uint64_t offset)
{
	size_t low = 0, high = overlay->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (edit_end(&overlay->edits[middle]) < offset)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Puts `edit` in the place of the edits [first, last). */
static int replace_edits(
	struct overlay *overlay, size_t first, size_t last, const struct overlay_edit *edit)
{
	size_t count = overlay->count - (last - first) + 1;
	struct overlay_edit *edits = malloc(count * sizeof(*edits));

	if (!edits)
		return -ENOMEM;
	if (first > 0)
		memcpy(edits, overlay->edits, first * sizeof(*edits));
	edits[first] = *edit;
	if (last < overlay->count)
		memcpy(edits + first + 1, overlay->edits + last,
			(overlay->count - last) * sizeof(*edits));
	for (size_t i = first; i < last; i++)
		free(overlay->edits[i].bytes);
	free(overlay->edits);
	overlay->edits = edits;
	overlay->count = count;
	return 0;
}

int overlay_write(struct overlay *overlay, uint64_t offset, const void *bytes, size_t size)
{
	struct overlay_edit merged = { .offset = offset };
	size_t first, last;
	uint64_t end;
	int r;

	assert(overlay->id == 0);
	if (size == 0)
		return 0;
	if (size > UINT32_MAX || offset > INT64_MAX - size)
		return -EOVERFLOW;
	end = offset + size;
	first = last = find_edit(overlay, offset);
	while (last < overlay->count && overlay->edits[last].offset <= end)
		last++;
	if (last > first) {
		if (overlay->edits[first].offset < offset)
			merged.offset = overlay->edits[first].offset;
		if (edit_end(&overlay->edits[last - 1]) > end)
			end = edit_end(&overlay->edits[last - 1]);
	}
	if (end - merged.offset > UINT32_MAX)
		return -EOVERFLOW;
	merged.size = (uint32_t)(end - merged.offset);
	merged.bytes = malloc(merged.size);
	if (!merged.bytes)
		return -ENOMEM;
	for (size_t i = first; i < last; i++)
		memcpy(merged.bytes + (overlay->edits[i].offset - merged.offset),
			overlay->edits[i].bytes, overlay->edits[i].size);
	memcpy(merged.bytes + (offset - merged.offset), bytes, size);
	r = replace_edits(overlay, first, last, &merged);
	if (r < 0) {
		free(merged.bytes);
		return r;
	}
	if (end > overlay->size)
		overlay->size = end;
	return 0;
}

void overlay_finish(struct overlay *overlay)
{
	uint64_t id = fnv1a(FNV_START, &overlay->size, sizeof(overlay->size));

	for (size_t i = 0; i < overlay->count; i++) {
		const struct overlay_edit *edit = &overlay->edits[i];

		id = fnv1a(id, &edit->offset, sizeof(edit->offset));
		id = fnv1a(id, &edit->size, sizeof(edit->size));
		id = fnv1a(id, edit->bytes, edit->size);
	}
	overlay->id = id ? id : 1;
}

size_t overlay_apply(
	const struct overlay *overlay, void *buffer, size_t size, size_t got, uint64_t offset)
{
	uint64_t end;

	if (offset >= overlay->size)
		return 0;
	if (size > overlay->size - offset)
		size = (size_t)(overlay->size - offset);
	end = offset + size;
	/* What the host file has behind its size of before is not served. */
	if (offset >= overlay->base)
		got = 0;
	else if (got > overlay->base - offset)
		got = (size_t)(overlay->base - offset);
	if (got < size)
		memset((char *)buffer + got, 0, size - got);
	for (size_t i = find_edit(overlay, offset); i < overlay->count; i++) {
		const struct overlay_edit *edit = &overlay->edits[i];
		uint64_t from = edit->offset > offset ? edit->offset : offset;
		uint64_t to = edit_end(edit) < end ? edit_end(edit) : end;

		if (edit->offset >= end)
			break;
		if (from < to)
			memcpy((char *)buffer + (from - offset),
				edit->bytes + (from - edit->offset), (size_t)(to - from));
	}
	return size;
}
