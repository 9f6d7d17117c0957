/* SPDX-License-Identifier: MIT */
/* driver_closure: which libraries a libcuda is loaded with, in the order in which they can be.
 * Core.
 */
#pragma once

#include "layer.h"

#define DRIVER_CLOSURE_MAX 64

/* All that the libcuda needs, and so on, as the layers have it, each behind what it needs itself;
 * the libcuda is the last one. What no layer has is left to the loader. */
struct driver_closure {
	const struct source *items[DRIVER_CLOSURE_MAX]; /* borrowed from the layers */
	size_t count;
};

/* layer and set: where the libcuda lies; a compat layer's other sets and other compat layers give
 * nothing. Returns 0, or -E2BIG: there are more. */
int driver_closure_find(struct layer *const *layers, size_t n_layers, const struct layer *layer,
	const struct candidate *libcuda, struct driver_closure *ret_closure);
