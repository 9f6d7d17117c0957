/* SPDX-License-Identifier: MIT */
#include "resume.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "findings.h"
#include "scan.h"

struct source_list {
	struct source **items; /* borrowed */
	size_t count;
	size_t capacity;
};

static int add_source(struct source_list *list, struct source *source)
{
	if (!source)
		return 0;
	if (array_grow(&list->items, &list->capacity, list->count, sizeof(struct source *)) < 0)
		return -ENOMEM;
	list->items[list->count++] = source;
	return 0;
}

static int list_files(const struct view_directory *directory, struct source_list *list)
{
	int error = 0;

	for (size_t i = 0; error == 0 && i < directory->count; i++) {
		const struct view_entry *entry = &directory->entries[i];

		if (entry->kind == VIEW_DIRECTORY)
			error = list_files(entry->directory, list);
		else if (entry->kind == VIEW_FILE)
			error = add_source(list, entry->source);
	}
	return error;
}

/* The descriptors of all that the snapshot's requests may read. One that finds no room is lost in a
 * crash: its file is opened again then. */
static int keep_descriptors(struct resume *resume, const struct snapshot *snapshot)
{
	struct source_list list = { 0 };
	int result = list_files(&snapshot->view->root, &list);

	for (size_t i = 0; result == 0 && i < snapshot->n_nodes; i++)
		result = add_source(&list, snapshot->nodes[i].source);
	if (result == 0)
		result = fdpool_keep(resume->pool, &resume->state->chest,
			&resume->state->memory->last_pin, list.items, list.count);
	free(list.items);
	return result < 0 ? result : 0;
}

int resume_save(struct resume *resume, const struct tree_change *change)
{
	struct state_memory *memory = resume->state->memory;
	_cleanup_(freep) uint8_t *bytes = NULL;
	_cleanup_(freep) struct snapshot_node *nodes = NULL;
	struct snapshot snapshot;
	size_t size;
	int result = tree_snapshot(resume->tree, change, &snapshot);

	if (result < 0)
		return result;
	nodes = snapshot.nodes;
	snapshot.name = memory->name;
	snapshot.mountpoint = memory->mountpoint;
	snapshot.compat_on = change->after->decision.on;
	snapshot.sets = change->after->sets;
	snapshot.pin_of = fdpool_kept_as;
	snapshot.context = resume->pool;
	result = keep_descriptors(resume, &snapshot);
	if (result < 0)
		return result;
	result = snapshot_encode(&snapshot, &bytes, &size);
	if (result < 0)
		return result;
	result = state_write(resume->state, bytes, size);
	if (result < 0)
		return result;
	resume->place = result;
	return 0;
}

void resume_published(void *context)
{
	struct resume *resume = context;

	state_publish(resume->state, resume->place);
}

void resume_told(struct resume *resume)
{
	state_told(resume->state);
}

/* Descriptors from the chest, by number. */
struct found {
	struct chest_item *items;
	size_t count;
	size_t capacity;
};

static void take(void *context, uint64_t id, int fd)
{
	struct found *found = context;

	if (array_grow(&found->items, &found->capacity, found->count, sizeof(*found->items)) < 0) {
		closep(&fd);
		return;
	}
	found->items[found->count++] = (struct chest_item){ .id = id, .fd = fd };
}

static int compare_items(const void *a, const void *b)
{
	const struct chest_item *left = a, *right = b;

	return left->id < right->id ? -1 : left->id > right->id;
}

/* Takes the descriptor out of the list; -1: it is not there. */
static int found_take(struct found *found, uint64_t id)
{
	struct chest_item key = { .id = id };
	struct chest_item *item =
		bsearch(&key, found->items, found->count, sizeof(*found->items), compare_items);

	return item ? steal_fd(&item->fd) : -1;
}

static int found_read(struct found *found, struct chest *chest)
{
	int result = chest_look(chest, take, found);

	if (result < 0 && result != -EMFILE)
		return result;
	if (found->count > 1)
		qsort(found->items, found->count, sizeof(*found->items), compare_items);
	return 0;
}

static void found_clear(struct found *found)
{
	for (size_t i = 0; i < found->count; i++)
		closep(&found->items[i].fd);
	free(found->items);
}

/* A file that is opened again is opened by the path that everybody uses; its layer's root is not
 * known any more. */
static int bind_source(struct source *source, struct rootfs *host, struct rootfs *under)
{
	char *path;

	if (source->covered) {
		if (under)
			scan_bind(source, under);
		return under ? 0 : -ENODATA;
	}
	path = strdup(source->real_path);
	if (!path)
		return -ENOMEM;
	free(source->path);
	source->path = path;
	scan_bind(source, host);
	return 0;
}

static int bind_sources(struct resume *resume, struct resume_loaded *loaded, struct found *found,
	struct rootfs *host)
{
	for (size_t i = 0; i < loaded->snapshot.n_sources; i++) {
		struct source *source = loaded->snapshot.sources[i];
		uint64_t pin = loaded->snapshot.pins[i];
		int error = bind_source(source, host, loaded->under);
		int fd = pin ? found_take(found, pin) : -1;

		if (error < 0) {
			closep(&fd);
			return error;
		}
		if (fd >= 0)
			fdpool_restore(resume->pool, source, fd, pin);
	}
	return 0;
}

/* A generation that has what requests need and what the status said. Takes parts of the snapshot.
 */
static int make_generation(struct snapshot *snapshot, struct generation **ret_generation)
{
	_cleanup_(generation_unrefp) struct generation *generation = calloc(1, sizeof(*generation));
	const struct view_entry *status;

	if (!generation)
		return -ENOMEM;
	atomic_init(&generation->references, 1);
	generation->resumed = true;
	generation->resolution = calloc(1, sizeof(*generation->resolution));
	generation->findings = calloc(1, sizeof(*generation->findings));
	generation->name = strdup(snapshot->name);
	generation->mountpoint = strdup(snapshot->mountpoint);
	if (!generation->resolution || !generation->findings || !generation->name ||
		!generation->mountpoint)
		return -ENOMEM;
	generation->decision.on = snapshot->compat_on;
	generation->sets = snapshot->sets;
	snapshot->sets = (struct set_list){ 0 };
	generation->layer_names = snapshot->layers;
	snapshot->layers = (struct string_list){ 0 };
	generation->view = generation->resolution->view = steal_pointer(snapshot->view);
	status = view_find(generation->view, ".gldriverfs/status.json");
	generation->status = strdup(status && status->content ? status->content : "{}");
	if (!generation->status)
		return -ENOMEM;
	*ret_generation = steal_pointer(generation);
	return 0;
}

static int load(struct resume *resume, struct resume_loaded *loaded, struct found *found)
{
	_cleanup_(rootfs_unrefp) struct rootfs *host = NULL;
	_cleanup_(freep) uint8_t *bytes = NULL;
	size_t size;
	int under, error;

	error = state_read(resume->state, &bytes, &size);
	if (error == 0)
		error = snapshot_decode(bytes, size, &loaded->snapshot);
	if (error == 0)
		error = found_read(found, &resume->state->chest);
	if (error == 0)
		error = rootfs_open("/", &host);
	if (error < 0)
		return error;
	loaded->fuse = found_take(found, CHEST_FUSE);
	loaded->listener = found_take(found, CHEST_LISTENER);
	under = found_take(found, CHEST_UNDER);
	if (under >= 0)
		error = rootfs_from_fd(
			under, resume->state->memory->mountpoint, host, &loaded->under);
	if (error == 0)
		error = bind_sources(resume, loaded, found, host);
	if (error == 0)
		error = make_generation(&loaded->snapshot, &loaded->generation);
	if (error == 0)
		error = tree_restore(resume->tree, loaded->generation, &loaded->snapshot);
	return error;
}

int resume_load(struct resume *resume, struct resume_loaded *ret_loaded)
{
	struct resume_loaded loaded = { .fuse = -1, .listener = -1 };
	struct found found = { 0 };
	int error = load(resume, &loaded, &found);

	found_clear(&found);
	if (error < 0) {
		resume_loaded_clear(&loaded);
		return error;
	}
	*ret_loaded = loaded;
	return 0;
}

void resume_loaded_clear(struct resume_loaded *loaded)
{
	generation_unref(loaded->generation);
	snapshot_clear(&loaded->snapshot);
	rootfs_unref(loaded->under);
	closep(&loaded->fuse);
	closep(&loaded->listener);
	*loaded = (struct resume_loaded){ .fuse = -1, .listener = -1 };
}
