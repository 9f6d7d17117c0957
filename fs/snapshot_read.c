/* SPDX-License-Identifier: MIT */
/* snapshot_read: the decoder's frame, the tables that are referred to, and the change. */
#include "snapshot_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int read_layers(struct snapshot_reader *reader, struct snapshot *snapshot)
{
	size_t count = snapshot_get_count(reader);

	for (size_t i = 0; i < count; i++) {
		_cleanup_(freep) char *name = snapshot_get_text(reader);

		if (!name)
			return reader->error;
		if (string_list_add(&snapshot->layers, name) < 0)
			return -ENOMEM;
	}
	return reader->error;
}

static int read_source(struct snapshot_reader record, struct source **ret_source, uint64_t *ret_pin)
{
	_cleanup_(source_unrefp) struct source *source = NULL;
	struct file_identity *identity;
	const uint8_t *build_id;
	size_t size;

	if (record.error < 0)
		return record.error;
	source = calloc(1, sizeof(*source));
	if (!source)
		return -ENOMEM;
	atomic_init(&source->references, 1);
	identity = &source->identity;
	identity->dev = snapshot_get64(&record);
	identity->ino = snapshot_get64(&record);
	identity->size = snapshot_get64(&record);
	identity->mtime_sec = (int64_t)snapshot_get64(&record);
	identity->mtime_nsec = snapshot_get32(&record);
	build_id = snapshot_get_bytes(&record, &size);
	if (size > sizeof(identity->build_id))
		return -EBADMSG;
	if (build_id)
		memcpy(identity->build_id, build_id, size);
	identity->build_id_size = (uint32_t)size;
	source->ctime_sec = (int64_t)snapshot_get64(&record);
	source->ctime_nsec = snapshot_get32(&record);
	source->mode = snapshot_get32(&record);
	source->uid = snapshot_get32(&record);
	source->gid = snapshot_get32(&record);
	source->in_store = snapshot_get8(&record);
	source->covered = snapshot_get8(&record);
	source->path = snapshot_get_text(&record);
	source->real_path = snapshot_get_text(&record);
	*ret_pin = snapshot_get64(&record);
	if (record.error < 0)
		return record.error;
	*ret_source = steal_pointer(source);
	return 0;
}

static int read_sources(struct snapshot_reader *reader, struct snapshot *snapshot)
{
	size_t count = snapshot_get_count(reader);
	int error = reader->error;

	snapshot->sources = calloc(count + 1, sizeof(*snapshot->sources));
	snapshot->pins = calloc(count + 1, sizeof(*snapshot->pins));
	if (!snapshot->sources || !snapshot->pins)
		return -ENOMEM;
	for (; error == 0 && snapshot->n_sources < count; snapshot->n_sources++)
		error = read_source(snapshot_get_record(reader),
			&snapshot->sources[snapshot->n_sources],
			&snapshot->pins[snapshot->n_sources]);
	return error;
}

/* The edits as overlay_finish left them: sorted, apart, none empty. Not by overlay_write, which
 * takes a time that grows with their square. */
static int read_edits(struct snapshot_reader *record, struct overlay *overlay)
{
	size_t count = snapshot_get_count(record);
	uint64_t end = 0;

	overlay->edits = calloc(count + 1, sizeof(*overlay->edits));
	if (!overlay->edits)
		return -ENOMEM;
	while (overlay->count < count) {
		struct overlay_edit *edit = &overlay->edits[overlay->count];
		size_t size;
		const uint8_t *bytes;

		edit->offset = snapshot_get64(record);
		bytes = snapshot_get_bytes(record, &size);
		if (size == 0 || (overlay->count > 0 && edit->offset <= end) ||
			edit->offset > overlay->size || size > overlay->size - edit->offset)
			return -EBADMSG;
		edit->bytes = malloc(size);
		if (!edit->bytes)
			return -ENOMEM;
		memcpy(edit->bytes, bytes, size);
		edit->size = (uint32_t)size;
		end = edit->offset + size;
		overlay->count++;
	}
	return record->error;
}

static int read_overlay(struct snapshot_reader record, struct overlay **ret_overlay)
{
	_cleanup_(overlay_unrefp) struct overlay *overlay = NULL;
	uint64_t id;
	int error;

	if (record.error < 0)
		return record.error;
	overlay = overlay_new(snapshot_get64(&record));
	if (!overlay)
		return -ENOMEM;
	overlay->size = snapshot_get64(&record);
	id = snapshot_get64(&record);
	error = read_edits(&record, overlay);
	if (error < 0)
		return error;
	overlay_finish(overlay);
	/* INT64_MAX: what a file offset can be. */
	if (overlay->id != id || overlay->base > overlay->size || overlay->size > INT64_MAX)
		return -EBADMSG;
	*ret_overlay = steal_pointer(overlay);
	return 0;
}

static int read_overlays(struct snapshot_reader *reader, struct snapshot_decoding *decoding)
{
	size_t count = snapshot_get_count(reader);
	int error = reader->error;

	decoding->overlays = calloc(count + 1, sizeof(struct overlay *));
	if (!decoding->overlays)
		return -ENOMEM;
	for (; error == 0 && decoding->n_overlays < count; decoding->n_overlays++)
		error = read_overlay(
			snapshot_get_record(reader), &decoding->overlays[decoding->n_overlays]);
	return error;
}

static int read_numbers(struct snapshot_reader *reader, uint32_t **ret_numbers, size_t *ret_count)
{
	size_t count = snapshot_get_count(reader);

	*ret_numbers = calloc(count + 1, sizeof(uint32_t));
	if (!*ret_numbers)
		return -ENOMEM;
	while (*ret_count < count)
		(*ret_numbers)[(*ret_count)++] = snapshot_get32(reader);
	return reader->error;
}

static int read_name(
	struct snapshot_reader record, struct string_list *names, struct viewdiff_name *ret_name)
{
	uint8_t what = snapshot_get8(&record);
	uint32_t parent = snapshot_get32(&record);
	uint32_t before = snapshot_get32(&record);
	_cleanup_(freep) char *name = snapshot_get_text(&record);

	if (record.error < 0)
		return record.error;
	if (what > VIEWDIFF_CHANGED)
		return -EBADMSG;
	if (string_list_add(names, name) < 0)
		return -ENOMEM;
	*ret_name = (struct viewdiff_name){
		.what = (enum viewdiff_what)what,
		.parent = parent,
		.before = before,
		.name = names->items[names->count - 1],
	};
	return 0;
}

static int read_change(struct snapshot_reader *reader, struct snapshot *snapshot)
{
	struct viewdiff *change = &snapshot->change;
	size_t count = snapshot_get_count(reader);
	int error = reader->error;

	change->names = calloc(count + 1, sizeof(*change->names));
	if (!change->names)
		return -ENOMEM;
	for (; error == 0 && change->n_names < count; change->n_names++)
		error = read_name(snapshot_get_record(reader), &snapshot->change_names,
			&change->names[change->n_names]);
	if (error == 0)
		error = read_numbers(reader, &change->directories, &change->n_directories);
	if (error == 0)
		error = read_numbers(reader, &snapshot->attributes, &snapshot->n_attributes);
	return error;
}

/* What the snapshot is of. */
static int read_subject(struct snapshot_reader record, struct snapshot *snapshot)
{
	_cleanup_(freep) char *id = NULL;
	struct view *view = view_new();

	if (!view)
		return -ENOMEM;
	snapshot->view = view;
	snapshot->name = snapshot_get_text(&record);
	snapshot->mountpoint = snapshot_get_text(&record);
	snapshot->compat_on = snapshot_get8(&record);
	snapshot->last_ino = snapshot_get32(&record);
	view->root.ino = snapshot_get32(&record);
	id = snapshot_get_text(&record);
	view->n_entries = (size_t)snapshot_get64(&record);
	if (record.error < 0)
		return record.error;
	if (strlen(id) >= sizeof(view->id))
		return -EBADMSG;
	memcpy(view->id, id, strlen(id) + 1);
	return 0;
}

static int read_all(struct snapshot_reader *reader, struct snapshot_decoding *decoding)
{
	struct snapshot *snapshot = &decoding->snapshot;
	int error = read_subject(snapshot_get_record(reader), snapshot);

	if (error == 0)
		error = read_layers(reader, snapshot);
	if (error == 0)
		error = read_sources(reader, snapshot);
	if (error == 0)
		error = read_overlays(reader, decoding);
	if (error == 0)
		error = snapshot_read_view(reader, decoding);
	if (error == 0)
		error = snapshot_read_sets(reader, decoding);
	if (error == 0)
		error = snapshot_read_nodes(reader, decoding);
	if (error == 0)
		error = read_change(reader, snapshot);
	return error;
}

static int read_header(struct snapshot_reader *reader)
{
	const uint8_t *magic = reader->at;
	uint32_t version;
	uint64_t checksum;

	if ((size_t)(reader->end - reader->at) < sizeof(struct snapshot_header) ||
		memcmp(magic, SNAPSHOT_MAGIC, 8) != 0)
		return -EBADMSG;
	reader->at += 8;
	version = snapshot_get32(reader);
	checksum = snapshot_get64(reader);
	if (version > SNAPSHOT_VERSION)
		return -EPROTO;
	if (version == 0 ||
		checksum != fnv1a(FNV_START, reader->at, (size_t)(reader->end - reader->at)))
		return -EBADMSG;
	return 0;
}

int snapshot_decode(const uint8_t *bytes, size_t size, struct snapshot *ret_snapshot)
{
	struct snapshot_reader reader = { .at = bytes, .end = bytes + size };
	struct snapshot_decoding decoding = { 0 };
	int error = read_header(&reader);

	if (error == 0)
		error = read_all(&reader, &decoding);
	for (size_t i = 0; i < decoding.n_overlays; i++)
		overlay_unref(decoding.overlays[i]);
	free(decoding.overlays);
	if (error < 0) {
		snapshot_clear(&decoding.snapshot);
		return error;
	}
	*ret_snapshot = decoding.snapshot;
	return 0;
}

void snapshot_clear(struct snapshot *snapshot)
{
	for (size_t i = 0; snapshot->nodes && i < snapshot->n_nodes; i++) {
		free(snapshot->nodes[i].path);
		free(snapshot->nodes[i].target);
		source_unref(snapshot->nodes[i].source);
		overlay_unref(snapshot->nodes[i].overlay);
	}
	for (size_t i = 0; snapshot->sources && i < snapshot->n_sources; i++)
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
