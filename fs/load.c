/* SPDX-License-Identifier: MIT */
#include "load.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "load_file.h"
#include "touched.h"

/* One of the directories that are searched, the first of which wins. */
struct place {
	struct rootfs *root;
	const char *path; /* inside root */
	bool system;
};

struct places {
	struct place items[4];
	size_t count;
	struct rootfs *real; /* the process' own root, of a user's places */
	char *texts[2];
};

struct drop_in {
	char *name;
	size_t place;
};

struct drop_ins {
	struct drop_in *items;
	size_t count;
	size_t capacity;
};

struct loader {
	const struct load_request *request;
	struct rootfs_avoid avoid; /* for `touched` only */
	struct diag_list *diags;
	struct ini_file **files;
	size_t n_files;
	size_t files_capacity;
	struct ini_file *override;
	struct string_list names;
};

static void places_clear(struct places *places)
{
	rootfs_unref(places->real);
	for (size_t i = 0; i < ARRAY_SIZE(places->texts); i++)
		free(places->texts[i]);
}

static void drop_ins_clear(struct drop_ins *drop_ins)
{
	for (size_t i = 0; i < drop_ins->count; i++)
		free(drop_ins->items[i].name);
	free(drop_ins->items);
}

static void loader_clear(struct loader *loader)
{
	for (size_t i = 0; i < loader->n_files; i++)
		ini_file_free(loader->files[i]);
	free(loader->files);
	ini_file_free(loader->override);
	string_list_clear(&loader->names);
}

void load_result_clear(struct load_result *result)
{
	policy_free(result->policy);
	string_list_clear(&result->files);
	*result = (struct load_result){ 0 };
}

static void closedirp(DIR **directory)
{
	if (*directory)
		closedir(*directory);
}

/* Takes the file; NULL: it is empty. */
static int keep_file(struct loader *loader, const char *name, struct ini_file *file, bool system)
{
	_cleanup_(ini_file_freep) struct ini_file *owned = file;
	int r = string_list_add(&loader->names, name);

	if (r < 0 || !file)
		return r;
	file->system = system;
	if (array_grow(&loader->files, &loader->files_capacity, loader->n_files,
		    sizeof(struct ini_file *)) < 0)
		return -ENOMEM;
	loader->files[loader->n_files++] = steal_pointer(owned);
	return 0;
}

/* Returns 1 where the directory is not there, else 0 or -errno. */
static int walk_place(
	struct loader *loader, const struct place *place, struct rootfs_node *ret_node)
{
	int r = rootfs_walk(place->root, place->path, &loader->avoid, ret_node);

	if (r == -ENOENT)
		return 1;
	return r < 0 ? load_fail(loader->diags, place->path, r, "cannot be reached") : 0;
}

static char *place_name(const struct place *place, const char *entry)
{
	return string_format("%s%s/%s", place->root->prefix, place->path, entry);
}

/* The first place that has NAME.conf. */
static int load_main(struct loader *loader, const struct places *places)
{
	_cleanup_(freep) char *entry = string_format("%s.conf", loader->request->name);

	if (!entry)
		return -ENOMEM;
	for (size_t i = 0; i < places->count; i++) {
		const struct place *place = &places->items[i];
		_cleanup_(rootfs_node_clear) struct rootfs_node node = { .fd = -1 };
		_cleanup_(freep) char *name = place_name(place, entry);
		struct ini_file *file = NULL;
		int r = name ? walk_place(loader, place, &node) : -ENOMEM;

		if (r == 0)
			r = load_file_entry(&node, entry, name, false, loader->avoid.touched, &file,
				loader->diags);
		if (r == 0)
			return keep_file(loader, name, file, place->system);
		if (r < 0)
			return r;
	}
	return 0;
}

static bool has_drop_in(const struct drop_ins *drop_ins, const char *name)
{
	for (size_t i = 0; i < drop_ins->count; i++)
		if (strcmp(drop_ins->items[i].name, name) == 0)
			return true;
	return false;
}

static int drop_in_compare(const void *a, const void *b)
{
	return strcmp(((const struct drop_in *)a)->name, ((const struct drop_in *)b)->name);
}

/* Adds the names of one drop-in directory that no earlier one has. */
static int list_drop_ins(struct loader *loader, const struct rootfs_node *node, const char *name,
	size_t place, struct drop_ins *drop_ins)
{
	_cleanup_(closedirp) DIR *directory = NULL;
	size_t earlier = drop_ins->count;
	int fd;

	touched_list(loader->avoid.touched, node, &(struct touched_names){ .pattern = "*.conf" });
	fd = rootfs_reopen(node->fd, O_RDONLY | O_DIRECTORY);
	if (fd < 0)
		return load_fail(loader->diags, name, fd, "cannot be opened");
	directory = fdopendir(fd);
	if (!directory) {
		close(fd);
		return -ENOMEM;
	}
	for (;;) {
		const struct dirent *item;
		const struct drop_ins before = { drop_ins->items, earlier, earlier };
		struct drop_in new = { .place = place };

		errno = 0;
		item = readdir(directory);
		if (!item)
			return errno ? load_fail(loader->diags, name, -errno, "cannot be listed")
				     : 0;
		if (item->d_name[0] == '.' || !string_has_suffix(item->d_name, ".conf") ||
			has_drop_in(&before, item->d_name))
			continue;
		if (array_grow(&drop_ins->items, &drop_ins->capacity, drop_ins->count,
			    sizeof(new)) < 0)
			return -ENOMEM;
		new.name = strdup(item->d_name);
		if (!new.name)
			return -ENOMEM;
		drop_ins->items[drop_ins->count++] = new;
	}
}

/* Walks to NAME.conf.d of a place. Returns 1 where it is not there, else 0 or -errno. */
static int walk_drop_in_directory(struct loader *loader, const struct place *place,
	struct rootfs_node *ret_node, char **ret_name)
{
	_cleanup_(rootfs_node_clear) struct rootfs_node node = { .fd = -1 };
	_cleanup_(freep) char *entry = string_format("%s.conf.d", loader->request->name);
	_cleanup_(freep) char *name = entry ? place_name(place, entry) : NULL;
	int r = name ? walk_place(loader, place, &node) : -ENOMEM;

	if (r != 0)
		return r;
	r = rootfs_walk_at(&node, entry, &loader->avoid, ret_node);
	if (r == -ENOENT)
		return 1;
	if (r < 0)
		return load_fail(loader->diags, name, r, "cannot be reached");
	*ret_name = steal_pointer(name);
	return 0;
}

static int load_drop_in(
	struct loader *loader, const struct places *places, const struct drop_in *drop_in)
{
	const struct place *place = &places->items[drop_in->place];
	_cleanup_(rootfs_node_clear) struct rootfs_node node = { .fd = -1 };
	_cleanup_(freep) char *directory = NULL;
	_cleanup_(freep) char *name = NULL;
	struct ini_file *file = NULL;
	int r = walk_drop_in_directory(loader, place, &node, &directory);

	if (r == 0) {
		name = string_format("%s/%s", directory, drop_in->name);
		if (!name)
			return -ENOMEM;
		r = load_file_entry(&node, drop_in->name, name, true, loader->avoid.touched, &file,
			loader->diags);
	}
	if (r == 0)
		return keep_file(loader, name, file, place->system);
	return r < 0 ? r : 0;
}

static int load_drop_ins(struct loader *loader, const struct places *places)
{
	_cleanup_(drop_ins_clear) struct drop_ins drop_ins = { 0 };

	for (size_t i = 0; i < places->count; i++) {
		_cleanup_(rootfs_node_clear) struct rootfs_node node = { .fd = -1 };
		_cleanup_(freep) char *name = NULL;
		int r = walk_drop_in_directory(loader, &places->items[i], &node, &name);

		if (r == 0)
			r = list_drop_ins(loader, &node, name, i, &drop_ins);
		if (r < 0)
			return r;
	}
	if (drop_ins.count)
		qsort(drop_ins.items, drop_ins.count, sizeof(*drop_ins.items), drop_in_compare);
	for (size_t i = 0; i < drop_ins.count; i++) {
		int r = load_drop_in(loader, places, &drop_ins.items[i]);

		if (r < 0)
			return r;
	}
	return 0;
}

static void add_place(struct places *places, struct rootfs *root, const char *path, bool system)
{
	places->items[places->count++] = (struct place){ root, path, system };
}

static int find_places(struct loader *loader, struct places *places)
{
	const struct load_request *request = loader->request;
	const char *homes[] = { request->runtime_dir, request->config_home };

	if (!request->user)
		add_place(places, request->root, "/run/gldriverfs", true);
	for (size_t i = 0; request->user && i < ARRAY_SIZE(homes); i++) {
		int r = places->real ? 0 : rootfs_open("/", &places->real);

		if (r < 0)
			return load_fail(loader->diags, "/", r, "cannot be opened");
		if (!homes[i])
			continue;
		places->texts[i] = string_format("%s/gldriverfs", homes[i]);
		if (!places->texts[i])
			return -ENOMEM;
		add_place(places, places->real, places->texts[i], false);
	}
	add_place(places, request->root, "/etc/gldriverfs", true);
	add_place(places, request->root, "/usr/lib/gldriverfs", true);
	return 0;
}

static int load_config(struct loader *loader)
{
	const char *path = loader->request->config;
	_cleanup_(rootfs_unrefp) struct rootfs *real = NULL;
	struct ini_file *file = NULL;
	int r;

	if (loader->avoid.touched && rootfs_open("/", &real) == 0)
		rootfs_touch(real, path, loader->avoid.touched);
	r = load_file_path(path, false, &file, loader->diags);
	if (r == -ENOENT)
		return load_fail(loader->diags, path, r, "cannot be opened");
	return r < 0 ? r : keep_file(loader, path, file, false);
}

static int load_override(struct loader *loader)
{
	const char *path = loader->request->override;
	int r = path ? load_file_path(path, true, &loader->override, loader->diags) : -ENOENT;

	if (r == 0)
		return string_list_add(&loader->names, path);
	return r == -ENOENT ? 0 : r;
}

static int load_files(struct loader *loader)
{
	_cleanup_(places_clear) struct places places = { 0 };
	int r;

	if (loader->request->config)
		return load_config(loader);
	r = find_places(loader, &places);
	if (r == 0)
		r = load_main(loader, &places);
	return r == 0 ? load_drop_ins(loader, &places) : r;
}

static int load(struct loader *loader, const char *profile, struct policy **ret_policy)
{
	struct policy_input input = { .profile = profile, .user = loader->request->user };
	int r = load_files(loader);

	if (r == 0)
		r = load_override(loader);
	if (r < 0)
		return r;
	input.files = (const struct ini_file *const *)loader->files;
	input.n_files = loader->n_files;
	input.override = loader->override;
	return policy_build(&input, ret_policy, loader->diags);
}

int load_policy(const struct load_request *request, const char *profile,
	struct load_result *ret_result, struct diag_list *diags)
{
	_cleanup_(loader_clear) struct loader loader = {
		.request = request, .avoid.touched = request->touched, .diags = diags
	};
	struct policy *policy = NULL;
	int r = load(&loader, profile, &policy);

	if (r == -ENOMEM)
		diag_add(diags, DIAG_ERROR, NULL, 0, "out of memory");
	if (r < 0)
		return r;
	*ret_result = (struct load_result){ .policy = policy, .files = loader.names };
	loader.names = (struct string_list){ 0 };
	return 0;
}
