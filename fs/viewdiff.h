/* SPDX-License-Identifier: MIT */
/* viewdiff: what differs between two views, as the names to be invalidated (DESIGN 6). Core. Both
 * views are finished and their entries have inode numbers. */
#pragma once

#include "view.h"

enum viewdiff_what { VIEWDIFF_ADDED, VIEWDIFF_REMOVED, VIEWDIFF_CHANGED };

struct viewdiff_name {
	enum viewdiff_what what;
	uint32_t parent;  /* inode number of the directory */
	uint32_t before;  /* inode number of the old entry, 0: added */
	const char *name; /* owned by one of the two views */
};

struct viewdiff {
	struct viewdiff_name *names; /* grouped by directory */
	size_t n_names;
	size_t names_capacity;
	uint32_t *directories; /* whose list of names or an entry changed, parents first */
	size_t n_directories;
	size_t directories_capacity;
};

/* Compares. A removed directory counts as one removed name, and so do all names below it.
 * Returns 0 and the list (viewdiff_clear), or -ENOMEM. */
int viewdiff(const struct view *before, const struct view *after, struct viewdiff *ret_diff);
void viewdiff_clear(struct viewdiff *diff);
