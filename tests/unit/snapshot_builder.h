/* SPDX-License-Identifier: MIT */
/* A snapshot with one of everything: plain and patched files, links, content, hidden and empty
 * directories, two sets, nodes that no view has, each kind of change. */
#pragma once

#include "fake.h"
#include "snapshot.h"

enum { BUILDER_SOURCES = 5, BUILDER_OVERLAYS = 3, BUILDER_SETS = 2, BUILDER_NODES = 5 };

struct builder {
	struct snapshot snapshot; /* borrows all that is below */
	struct source *sources[BUILDER_SOURCES];
	struct overlay *overlays[BUILDER_OVERLAYS];
	struct snapshot_node nodes[BUILDER_NODES];
	struct viewdiff_name names[3];
	uint32_t directories[2];
	uint32_t attributes[2];
};

static struct source *builder_source(unsigned i)
{
	static const char *const paths[BUILDER_SOURCES] = { "/usr/lib/libcuda.so.470.1",
		"/nix/store/x/lib/libGL.so.1", "/under/x.json", "/compat/libcuda.so.600.1",
		"/usr/lib/libcuda.so.1" };
	struct source *source = fake_source(paths[i]);

	source->identity.size = UINT64_C(0x100000000) + i;
	source->identity.mtime_sec = i ? 1700000000 + (int64_t)i : -1;
	source->identity.mtime_nsec = 999999990 + i;
	source->identity.build_id_size = i == 0 ? ELF_BUILD_ID_MAX : i * 4;
	memset(source->identity.build_id, (int)(0x80 + i), source->identity.build_id_size);
	source->ctime_sec = -5 - (int64_t)i;
	source->ctime_nsec = 123 + i;
	source->mode = 0100000 | (0640 + i);
	source->uid = 1000 + i;
	source->gid = UINT32_MAX - i;
	source->covered = i == 2;
	free(source->real_path);
	source->real_path = string_format("/root%s", paths[i]);
	return source;
}

static struct overlay *builder_overlay(unsigned i)
{
	/* A file with two edits and a tail that ends in zeros; a whole text; one byte. */
	struct overlay *overlay = overlay_new(i == 1 ? 0 : 4096);

	overlay_write(overlay, 0, "{}\n", i == 1 ? 3 : 1);
	if (i == 0) {
		overlay_write(overlay, 64, "\0\1\2\3", 4);
		overlay_write(overlay, 5000, "tail", 4);
		overlay->size = 8192;
	}
	overlay_finish(overlay);
	return overlay;
}

static struct cuda_set *builder_set(const char *id, const char *file, struct source *source,
	struct overlay *overlay, const char *layer)
{
	struct cuda_set *set = calloc(1, sizeof(*set));

	atomic_init(&set->references, 1);
	memcpy(set->id, id, strlen(id) + 1);
	set->entries = calloc(2, sizeof(*set->entries));
	set->count = 2;
	set->entries[0] = (struct set_entry){ .name = strdup(file),
		.kind = VIEW_FILE,
		.layer = strdup(layer),
		.source = source_ref(source),
		.overlay = overlay ? overlay_ref(overlay) : NULL };
	set->entries[1] = (struct set_entry){ .name = strdup("libcuda.so.1"),
		.kind = VIEW_LINK,
		.target = strdup(file),
		.layer = strdup(layer),
		.source = source_ref(source) };
	return set;
}

static void builder_number(struct view_directory *directory, uint32_t *last)
{
	for (size_t i = 0; i < directory->count; i++) {
		struct view_entry *entry = &directory->entries[i];

		entry->ino = ++*last;
		if (entry->kind == VIEW_DIRECTORY) {
			entry->directory->ino = entry->ino;
			builder_number(entry->directory, last);
		}
	}
}

static void builder_view(struct builder *builder)
{
	static const struct decision off;
	struct snapshot *snapshot = &builder->snapshot;
	struct view *view = snapshot->view = view_new();
	struct source **sources = builder->sources;

	view_add_patched(view, "lib/libcuda.so.470.1", sources[0], builder->overlays[0], "host");
	view_add_link(view, "lib/libcuda.so.1", "libcuda.so.470.1", sources[0], "host");
	view_add_link(view, "lib/libGL.so.1", "/nix/store/x/lib/libGL.so.1", sources[1], "store");
	view_add_file(view, "lib/gbm/x_gbm.so", sources[1], "store");
	view_add_patched(view, "share/vulkan/icd.d/x.json", sources[2], builder->overlays[1], "u");
	view_add_file(view, "share/plain", sources[2], "u");
	view_add_content(view, "share/empty", "", 0);
	view_add_directory(view, "etc", false);
	view_add_directory(view, ".gldriverfs", true);
	view_add_content(view, ".gldriverfs/status.json", "{\0}\n", 4);
	snapshot->sets.items[0] = builder_set(
		"0123abcd", "libcuda.so.470.1", sources[0], builder->overlays[0], "host");
	snapshot->sets.items[1] =
		builder_set("deadbeef", "libcuda.so.600.1", sources[3], NULL, "compat");
	snapshot->sets.count = BUILDER_SETS;
	sets_add(view, &off, &snapshot->sets);
	view_identify(view);
	view_finish(view);
	view->root.ino = snapshot->last_ino = 1;
	builder_number(&view->root, &snapshot->last_ino);
}

static void builder_nodes(struct builder *builder)
{
	const uint32_t last = builder->snapshot.last_ino;

	builder->nodes[0] = (struct snapshot_node){ .ino = 1,
		.kind = VIEW_DIRECTORY,
		.mtime = { 1700000000, 999999999 },
		.path = (char *)"" };
	builder->nodes[1] = (struct snapshot_node){ .ino = last + 1,
		.kind = VIEW_DIRECTORY,
		.mtime = { -1, 1 },
		.path = (char *)"lib/gone" };
	builder->nodes[2] = (struct snapshot_node){ .ino = last + 2,
		.kind = VIEW_LINK,
		.path = (char *)"lib/old",
		.target = (char *)"older",
		.target_size = 5 };
	builder->nodes[3] = (struct snapshot_node){ .ino = last + 3,
		.kind = VIEW_CONTENT,
		.path = (char *)".gldriverfs/status.json",
		.target = (char *)"a\0b",
		.target_size = 3 };
	builder->nodes[4] = (struct snapshot_node){ .ino = last + 4,
		.kind = VIEW_FILE,
		.source = builder->sources[4],
		.overlay = builder->overlays[2] };
	builder->snapshot.nodes = builder->nodes;
	builder->snapshot.n_nodes = BUILDER_NODES;
	builder->snapshot.last_ino = UINT32_MAX;
}

/* Of the third source none is kept. */
static uint64_t builder_pin(void *context, const struct source *source)
{
	const struct builder *builder = context;

	for (unsigned i = 0; i < BUILDER_SOURCES; i++)
		if (source == builder->sources[i])
			return i == 2 ? 0 : UINT64_MAX - i;
	return 0;
}

static void builder_make(struct builder *builder)
{
	struct snapshot *snapshot = &builder->snapshot;

	*builder = (struct builder){
		.names = { { VIEWDIFF_ADDED, 1, 0, "new" }, { VIEWDIFF_REMOVED, 1, 90, "old" },
			{ VIEWDIFF_CHANGED, 3, UINT32_MAX, "libcuda.so.1" } },
		.directories = { 1, 3 },
		.attributes = { 7, UINT32_MAX },
	};
	for (unsigned i = 0; i < BUILDER_SOURCES; i++)
		builder->sources[i] = builder_source(i);
	for (unsigned i = 0; i < BUILDER_OVERLAYS; i++)
		builder->overlays[i] = builder_overlay(i);
	snapshot->name = (char *)"gldriverfs";
	snapshot->mountpoint = (char *)"/run/opengl-driver";
	snapshot->compat_on = true;
	builder_view(builder);
	builder_nodes(builder);
	snapshot->change.names = builder->names;
	snapshot->change.n_names = ARRAY_SIZE(builder->names);
	snapshot->change.directories = builder->directories;
	snapshot->change.n_directories = ARRAY_SIZE(builder->directories);
	snapshot->attributes = builder->attributes;
	snapshot->n_attributes = ARRAY_SIZE(builder->attributes);
	snapshot->pin_of = builder_pin;
	snapshot->context = builder;
}

static void builder_clear(struct builder *builder)
{
	view_free(builder->snapshot.view);
	sets_clear(&builder->snapshot.sets);
	for (unsigned i = 0; i < BUILDER_SOURCES; i++)
		source_unref(builder->sources[i]);
	for (unsigned i = 0; i < BUILDER_OVERLAYS; i++)
		overlay_unref(builder->overlays[i]);
}
