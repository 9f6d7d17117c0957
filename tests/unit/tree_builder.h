/* SPDX-License-Identifier: MIT */
/* tree_builder: made-up machines below a temporary directory. */
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util.h"

struct tree {
	char top[64];
};

static inline void tree_new(struct tree *tree)
{
	umask(022);
	strcpy(tree->top, "/tmp/gldriverfs-test.XXXXXX");
	assert_non_null(mkdtemp(tree->top));
	assert_int_equal(chmod(tree->top, 0755), 0);
}

static inline void tree_remove(struct tree *tree)
{
	_cleanup_(freep) char *command = string_format("rm -rf '%s'", tree->top);

	assert_int_equal(system(command), 0);
}

/* The real path of an inside one, with the directories above it made. */
static inline char *tree_path(const struct tree *tree, const char *path)
{
	char *full = string_format("%s/%s", tree->top, path);

	assert_non_null(full);
	for (char *at = full + strlen(tree->top) + 1; (at = strchr(at, '/')); at++) {
		*at = '\0';
		mkdir(full, 0755);
		*at = '/';
	}
	return full;
}

static inline void tree_write(
	const struct tree *tree, const char *path, const void *data, size_t size)
{
	_cleanup_(freep) char *full = tree_path(tree, path);
	FILE *stream = fopen(full, "w");

	assert_non_null(stream);
	assert_int_equal(fwrite(data, 1, size, stream), size);
	assert_int_equal(fclose(stream), 0);
}

static inline void tree_text(const struct tree *tree, const char *path, const char *text)
{
	tree_write(tree, path, text, strlen(text));
}

static inline void tree_link(const struct tree *tree, const char *path, const char *target)
{
	_cleanup_(freep) char *full = tree_path(tree, path);

	assert_int_equal(symlink(target, full), 0);
}
