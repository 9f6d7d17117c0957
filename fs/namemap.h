/* SPDX-License-Identifier: MIT */
/* namemap: a hash table from borrowed names to numbers, for building views. Core. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct namemap_slot {
	const char *name; /* NULL: free */
	size_t value;
};

/* Zero-initialised is empty. */
struct namemap {
	struct namemap_slot *slots;
	size_t capacity; /* 0 or a power of two */
	size_t count;
};

/* Puts a name, which must outlive the map. Returns 0; -EEXIST: it is there already (its value is
 * kept); or -ENOMEM with nothing changed. */
int namemap_put(struct namemap *map, const char *name, size_t value);
/* Returns whether the name is there; *ret_value (may be NULL) is its value. */
bool namemap_get(const struct namemap *map, const char *name, size_t *ret_value);
/* Frees the table; the map is empty afterwards. Fits _cleanup_. */
void namemap_clear(struct namemap *map);
