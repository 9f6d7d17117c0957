/* SPDX-License-Identifier: MIT */
/* runpath: which RUNPATH a served library is to have (DESIGN 6), and what came of it. The string
 * depends on the policy, the mountpoint, the library and its CUDA set only, so that a file's bytes
 * are the same in every generation. Core. */
#pragma once

#include "elfpatch.h"
#include "layer.h"

/* Where a library stands in the view. */
struct runpath_place {
	/* The CUDA set that it must stay with, NULL: none. */
	const char *set;
	/* Directories between lib/ and its deepest place: 0 in lib/, 1 in lib/gbm/. */
	unsigned depth;
};

/* The wanted RUNPATH. Returns 0 with *ret_wanted (owned by the caller), or with NULL and *ret_why,
 * a constant string, where the library is left as it is; or -ENOMEM. mountpoint NULL: not known;
 * then the RUNPATH has nothing absolute. */
int runpath_wanted(const struct policy *policy, const char *mountpoint, const struct source *source,
	const struct runpath_place *place, char **ret_wanted, const char **ret_why);

/* What is done to one library of a view. */
struct plan {
	struct source *source;      /* a reference */
	char *wanted;               /* NULL: nothing; `why` says so */
	const char *why;            /* constant */
	struct elfpatch_plan patch; /* where something is wanted */
};

/* Sorted by the sources' identities, one for each. */
struct plan_list {
	struct plan *items;
	size_t count;
};

/* The plan of the file, or NULL: it is no library in lib/. */
const struct plan *plan_find(const struct plan_list *plans, const struct source *source);
/* "in place", "tail", "none"; and why it is none, or NULL. Constant strings. */
const char *plan_kind_name(const struct plan *plan);
const char *plan_reason(const struct plan *plan);
void plan_list_clear(struct plan_list *plans);
