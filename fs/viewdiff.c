/* SPDX-License-Identifier: MIT */
#include "viewdiff.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "util.h"

static int add_name(struct viewdiff *diff, enum viewdiff_what what, uint32_t parent,
	const struct view_entry *before, const struct view_entry *after)
{
	if (array_grow(&diff->names, &diff->names_capacity, diff->n_names, sizeof(*diff->names)) <
		0)
		return -ENOMEM;
	diff->names[diff->n_names++] = (struct viewdiff_name){
		.what = what,
		.parent = parent,
		.before = before ? before->ino : 0,
		.name = before ? before->name : after->name,
	};
	return 0;
}

static int add_directory(struct viewdiff *diff, uint32_t ino)
{
	if (array_grow(&diff->directories, &diff->directories_capacity, diff->n_directories,
		    sizeof(*diff->directories)) < 0)
		return -ENOMEM;
	diff->directories[diff->n_directories++] = ino;
	return 0;
}

static bool is_same(const struct view_entry *a, const struct view_entry *b)
{
	return a->ino == b->ino && a->kind == b->kind;
}

/* The directory in `other` that stands for the same node, or NULL. */
static const struct view_directory *counterpart(
	const struct view_directory *other, const struct view_entry *entry)
{
	const struct view_entry *found = other ? view_lookup(other, entry->name) : NULL;

	return found && found->kind == VIEW_DIRECTORY && is_same(found, entry) ? found->directory
									       : NULL;
}

/* Compares the names of one directory; either may be NULL: there is none with this node. */
static int compare_names(const struct view_directory *before, const struct view_directory *after,
	struct viewdiff *diff)
{
	const uint32_t parent = before ? before->ino : after->ino;

	for (size_t i = 0; before && i < before->count; i++) {
		const struct view_entry *old = &before->entries[i];
		const struct view_entry *new = after ? view_lookup(after, old->name) : NULL;
		int result = 0;

		if (!new)
			result = add_name(diff, VIEWDIFF_REMOVED, parent, old, NULL);
		else if (!is_same(old, new))
			result = add_name(diff, VIEWDIFF_CHANGED, parent, old, new);
		if (result < 0)
			return result;
	}
	for (size_t i = 0; after && i < after->count; i++) {
		const struct view_entry *new = &after->entries[i];

		if ((!before || !view_lookup(before, new->name)) &&
			add_name(diff, VIEWDIFF_ADDED, parent, NULL, new) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int compare_directories(const struct view_directory *before,
	const struct view_directory *after, struct viewdiff *diff)
{
	const size_t n_names = diff->n_names;
	int result = compare_names(before, after, diff);

	if (result == 0 && diff->n_names > n_names)
		result = add_directory(diff, before ? before->ino : after->ino);
	for (size_t i = 0; result == 0 && before && i < before->count; i++) {
		const struct view_entry *old = &before->entries[i];

		if (old->kind == VIEW_DIRECTORY)
			result = compare_directories(old->directory, counterpart(after, old), diff);
	}
	for (size_t i = 0; result == 0 && after && i < after->count; i++) {
		const struct view_entry *new = &after->entries[i];

		if (new->kind == VIEW_DIRECTORY && !counterpart(before, new))
			result = compare_directories(NULL, new->directory, diff);
	}
	return result;
}

int viewdiff(const struct view *before, const struct view *after, struct viewdiff *ret_diff)
{
	struct viewdiff diff = { 0 };
	int result = compare_directories(&before->root, &after->root, &diff);

	if (result < 0) {
		viewdiff_clear(&diff);
		return result;
	}
	*ret_diff = diff;
	return 0;
}

void viewdiff_clear(struct viewdiff *diff)
{
	free(diff->names);
	free(diff->directories);
	*diff = (struct viewdiff){ 0 };
}
