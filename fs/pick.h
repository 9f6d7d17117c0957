/* SPDX-License-Identifier: MIT */
/* pick: which of several versions in one layer is shown, the same for all of its libraries
 * (DESIGN 3.3): the kernel driver's, else what the layer's own SONAME link says, else the
 * numerically highest. Core. */
#pragma once

#include "layer.h"

enum pick_reason { PICK_KERNEL, PICK_LINK, PICK_HIGHEST };

struct pick {
	const char *version; /* NULL: none is preferred. Points into the layer or `kernel` */
	enum pick_reason reason;
};

#define PICK_ALL_SETS UINT32_MAX

/* The preferred version of the layer, or of one of its sets. kernel: the kernel driver's version,
 * NULL: unknown or of no importance. */
struct pick pick_version(const struct layer *layer, uint32_t set, const char *kernel);
/* Picks among count > 0 candidates of one layer that have the same key; *ret_reason says by what.
 * Those whose name has the key's stem go before others. */
const struct candidate *pick_candidate(const struct pick *pick, const char *key,
	const struct candidate *const *candidates, size_t count, enum pick_reason *ret_reason);
