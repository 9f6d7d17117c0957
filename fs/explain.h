/* SPDX-License-Identifier: MIT */
/* explain: the listing of a view and the story of one name in it, as JSON (DESIGN 7). Core. */
#pragma once

#include "generation.h"
#include "jsonhelp.h"

/* What the directory (or the one entry) at path shows, and with `recursive` all below it; hidden
 * entries only by their own path. Sorted by path: {path, entries[{path, type, layer, source, target,
 * size}]}. Returns 0, -ENOENT, or -ENOMEM. */
int explain_list(
	const struct generation *generation, const char *path, bool recursive, json_t **ret_list);

/* Why the name is what it is. name: a path in the view (also below the mountpoint), a host path, a
 * file name or a SONAME. {name, found, summary, served[], aliases[], lost[], rejected[]}: served
 * {path, layer, source, soname, why, needed[{name, path, layer, note}], names[]}, lost {path, layer,
 * source, verdict, why}. NULL without memory. */
json_t *explain_name(const struct generation *generation, const char *name);
