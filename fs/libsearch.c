/* SPDX-License-Identifier: MIT */
#include "libsearch.h"

#include <string.h>

#define DEFAULT_MOUNTPOINT "/run/opengl-driver"

/* The path is the directory or lies in it. */
static bool is_in(const char *path, const char *directory)
{
	size_t size = directory ? strlen(directory) : 0;

	while (size > 1 && directory[size - 1] == '/')
		size--;
	return size > 1 && strncmp(path, directory, size) == 0 &&
	       (path[size] == '/' || path[size] == '\0');
}

static bool has_file(const struct libsearch *runpath, struct rootfs *root, const char *directory,
	const char *name)
{
	_cleanup_(rootfs_node_clear) struct rootfs_node node = { .fd = -1 };
	_cleanup_(freep) char *path = string_format("%s/%s", directory, name);

	return path && rootfs_walk(root, path, runpath->avoid, &node) == 0 &&
	       S_ISREG(node.stat.st_mode) && node.stat.st_size > 0;
}

/* What follows $ORIGIN or ${ORIGIN} at the start; NULL: it does not start so. */
static const char *after_origin(const char *directory)
{
	static const char *const words[] = { "$ORIGIN", "${ORIGIN}" };

	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		const char *rest = directory + strlen(words[i]);

		if (string_has_prefix(directory, words[i]) && (*rest == '/' || *rest == '\0'))
			return rest;
	}
	return NULL;
}

static bool finds_in(const struct libsearch *runpath, const struct source *source,
	const char *directory, const char *needed)
{
	struct rootfs *root = source->root;
	const char *rest = after_origin(directory);

	if (rest) {
		_cleanup_(freep) char *origin = string_format("%.*s%s",
			(int)(path_base(source->path) - source->path), source->path, rest);

		return origin && !strchr(rest, '$') && has_file(runpath, root, origin, needed);
	}
	if (strchr(directory, '$'))
		return true;
	if (*directory != '/' || is_in(directory, DEFAULT_MOUNTPOINT) ||
		is_in(directory, runpath->mountpoint))
		return false;
	return has_file(runpath, root->outer ? root->outer : root, directory, needed);
}

bool libsearch_finds(void *context, const struct source *source, const char *needed)
{
	_cleanup_(freep) char *list = source->elf.runpath ? strdup(source->elf.runpath) : NULL;
	char *rest = list;
	const char *directory;

	if (!list || !source->root || strchr(needed, '/'))
		return false;
	while ((directory = strsep(&rest, ":")) != NULL)
		if (finds_in(context, source, directory, needed))
			return true;
	return false;
}
