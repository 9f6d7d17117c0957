/* SPDX-License-Identifier: MIT */
/* listing: what a view shows, as JSON (DESIGN 7). Core. */
#pragma once

#include "generation.h"
#include "jsonhelp.h"

/* What the directory (or the one entry) at path shows, and with `recursive` all below it; hidden
 * entries only by their own path. Sorted by path: {path, entries[{path, type, layer, source,
 * target, size}]}. Returns 0, -ENOENT, or -ENOMEM. */
int listing_json(
	const struct generation *generation, const char *path, bool recursive, json_t **ret_list);
/* Path in the view of one that may be absolute or below the mountpoint, with double slashes, "."
 * and a slash at its end: "lib/x", "" for the root. Owned by the caller; NULL without memory. */
char *listing_path(const struct generation *generation, const char *path);
