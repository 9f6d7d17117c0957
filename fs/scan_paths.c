/* SPDX-License-Identifier: MIT */
/* scan: host files named by their paths, as the container lists have them: wildcards expanded
 * inside the root, each file taken where it belongs. */
#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "hostplace.h"
#include "scan_internal.h"
#include "soname.h"

int scan_read(struct scan_job *job, struct rootfs *root, const char *path, size_t max,
	char **ret_data, size_t *ret_size, char **ret_why)
{
	_cleanup_(rootfs_node_clear) struct rootfs_node node = { .fd = -1 };
	_cleanup_(freep) char *why = NULL;
	int result = rootfs_walk(root, path, &job->avoid, &node);

	if (result == -ENOENT || result == -ENOTDIR)
		return -ENOENT;
	if (result == 0 && scan_distrusts(job, &node))
		why = string_format("it is not read: %s can be changed by others than root (trust "
				    "= yes in the layer reads it)",
			node.untrusted);
	else if (result == -EREMOTE || result == -ELOOP)
		why = string_format("it %s", scan_walk_text(result));
	else if (result == 0)
		result = rootfs_read(node.root, node.path, max, ret_data, ret_size);
	if (scan_is_shortage(result))
		return result;
	if (result < 0 && !why)
		why = string_format("it cannot be read: %s",
			result == -ENOTSUP ? "it is not a regular file" : strerror(-result));
	else if (result == 0 && !why)
		return 0;
	*ret_why = steal_pointer(why);
	return *ret_why ? 1 : -ENOMEM;
}

static int take_name(const struct scan_place *place, char *name)
{
	struct scan_name entry = { name, DT_UNKNOWN };

	if (strcmp(place->into, "lib") == 0)
		return scan_take_library(place, &entry);
	return string_has_prefix(place->into, "lib/") ? scan_take_plugin(place, &entry)
						      : scan_take_manifest(place, &entry);
}

static void drop_last(struct layer *layer)
{
	struct candidate *last = &layer->candidates[--layer->n_candidates];

	free(last->path);
	free(last->link);
	source_unref(last->source);
}

/* A place that the list has filled before is not filled again. */
static int keep_once(struct scan_paths *paths)
{
	struct layer *layer = paths->job->layer;
	size_t index = layer->n_candidates - 1, before = 0;
	const struct candidate *last = &layer->candidates[index];
	int result = namemap_put(&paths->taken, last->path, index);

	if (result != -EEXIST)
		return result;
	namemap_get(&paths->taken, last->path, &before);
	result = 0;
	if (layer->candidates[before].source != last->source)
		result = layer_add_rejection(layer, last->source->real_path,
			"another file of the list has its place: %s",
			layer->candidates[before].source->real_path);
	drop_last(layer);
	return result;
}

/* A list may name the SONAME's link only: the file that it leads to has its own name too. */
static int take_target(struct scan_paths *paths)
{
	struct layer *layer = paths->job->layer;
	const struct candidate *last = &layer->candidates[layer->n_candidates - 1];
	const char *name = path_base(last->path), *own = path_base(last->source->path), *why;
	struct source *source = last->source;
	_cleanup_(freep) char *path = NULL;

	if (!last->link || strcmp(paths->into, "lib") != 0 || strcmp(name, own) == 0 ||
		!soname_same_stem(name, own) || !soname_is_library(own) ||
		!layer_wants(&paths->job->policy, own, &why))
		return 0;
	path = string_format("lib/%s", own);
	if (!path)
		return -ENOMEM;
	if (namemap_get(&paths->taken, path, NULL))
		return 0;
	if (layer_add_candidate(layer, path, source, NULL, last->set, false) < 0)
		return -ENOMEM;
	return keep_once(paths);
}

/* Walks to the directory of the path, unless it is the last one's. Returns 1, 0 where there is
 * nothing to take, or a shortage's -errno. */
static int enter(struct scan_paths *paths, const char *path, const char *into)
{
	size_t size = (size_t)(path_base(path) - path);
	_cleanup_(freep) char *directory = strndup(path, size > 1 ? size - 1 : 1);
	int result;

	if (!directory)
		return -ENOMEM;
	if (!paths->directory_path || strcmp(paths->directory_path, directory) != 0) {
		free(paths->directory_path);
		paths->directory_path = NULL;
		scan_opened_clear(&paths->directory);
		result = scan_open(paths->job, paths->root, directory, into, &paths->directory);
		if (result < 0 && result != -ENOENT && result != -ENOTDIR &&
			!scan_is_shortage(result))
			result = layer_add_rejection(paths->job->layer, paths->directory.shown,
				"it %s", scan_walk_text(result));
		else if (result == 0)
			paths->directory_path = steal_pointer(directory);
		if (!paths->directory_path)
			return result == -ENOENT || result == -ENOTDIR ? 0 : result;
	}
	paths->directory.place.into = paths->into = into;
	paths->directory.place.set = paths->set;
	return 1;
}

static int take_path(struct scan_paths *paths, const char *path, const char *as)
{
	const char *into = hostplace_of(as), *name = path_base(as);
	struct layer *layer = paths->job->layer;
	size_t before = layer->n_candidates;
	_cleanup_(freep) char *place = NULL;
	const char *why;
	int result;

	if (!into || !*path_base(path))
		return 0;
	/* Under another name than the host's it has to be wanted by both. */
	if (strcmp(name, path_base(path)) != 0 && strcmp(into, "lib") == 0 &&
		!layer_wants(&paths->job->policy, name, &why))
		return 0;
	result = enter(paths, path, into);
	if (result == 1)
		result = take_name(&paths->directory.place, (char *)path_base(path));
	if (result < 0 || layer->n_candidates == before)
		return result;
	if (strcmp(name, path_base(path)) != 0) {
		place = string_format("%s/%s", into, name);
		if (!place)
			return -ENOMEM;
		free(layer->candidates[before].path);
		layer->candidates[before].path = steal_pointer(place);
	}
	result = keep_once(paths);
	return result < 0 || layer->n_candidates == before ? result : take_target(paths);
}

/* The first component with a wildcard at or behind `from`: *ret_start and *ret_size in path. */
static bool find_wildcard(const char *path, size_t from, size_t *ret_start, size_t *ret_size)
{
	for (size_t at = from + strspn(path + from, "/"); path[at];) {
		size_t size = strcspn(path + at, "/");

		if (strcspn(path + at, "*?[") < size) {
			*ret_start = at;
			*ret_size = size;
			return true;
		}
		at += size;
		at += strspn(path + at, "/");
	}
	return false;
}

static int take_pattern(struct scan_paths *paths, const char *path, size_t from);

/* All names of the directory that match, with what follows them in the path. */
static int take_matches(struct scan_paths *paths, const char *path, size_t start, size_t size)
{
	_cleanup_(freep) char *directory = strndup(path, start);
	_cleanup_(freep) char *pattern = strndup(path + start, size);
	_cleanup_(scan_opened_clear) struct scan_opened opened = { .node.fd = -1 };
	_cleanup_(scan_names_clear) struct scan_names names = { 0 };
	struct touched_names matter = { 0 };
	int result;

	if (!directory || !pattern)
		return -ENOMEM;
	matter.pattern = pattern;
	result = scan_open(paths->job, paths->root, directory, "", &opened);
	if (result == 0)
		result = scan_list(paths->job, &opened.node, &matter, &names);
	if (result < 0)
		return scan_is_shortage(result) ? result : 0;
	/* A path has as many wildcards as it has room for: none keeps a descriptor. */
	rootfs_node_clear(&opened.node);
	for (size_t i = 0; result == 0 && i < names.count; i++) {
		_cleanup_(freep) char *match = NULL;

		if (fnmatch(pattern, names.items[i].name, FNM_PERIOD) != 0)
			continue;
		if (!scan_visit(&opened.place))
			break;
		match = string_format(
			"%s%s%s", directory, names.items[i].name, path + start + size);
		result = match ? take_pattern(paths, match, start + strlen(names.items[i].name))
			       : -ENOMEM;
	}
	return result;
}

/* What stands before `from` is a path and no pattern. */
static int take_pattern(struct scan_paths *paths, const char *path, size_t from)
{
	size_t start, size;

	if (!find_wildcard(path, from, &start, &size))
		return take_path(paths, path, path);
	return take_matches(paths, path, start, size);
}

int scan_path(struct scan_paths *paths, const char *path, const char *as)
{
	return as ? take_path(paths, path, as) : take_pattern(paths, path, 0);
}

void scan_paths_clear(struct scan_paths *paths)
{
	free(paths->directory_path);
	paths->directory_path = NULL;
	scan_opened_clear(&paths->directory);
	namemap_clear(&paths->taken);
}
