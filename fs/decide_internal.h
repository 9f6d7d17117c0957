/* SPDX-License-Identifier: MIT */
/* decide_internal: what the parts of `decide` share. Core. */
#pragma once

#include "decide.h"

/* What stands against what. Strings point into policy, layers and probed facts, or are constant. */
struct decide_host {
	const struct layer *layer; /* that has the libcuda; NULL: none has */
	const struct candidate *libcuda;
	const char *file_driver; /* of libcuda's file name; NULL: it has none */
	const char *driver;      /* the kernel's, else file_driver; of the driver form; or NULL */
	const char *cuda;        /* NULL: unknown */
	const struct policy_value *said; /* the `cuda =` that told; NULL: the table did */
};

/* One compat directory with a libcuda. */
struct decide_set {
	const struct layer *layer;
	uint32_t set;
	size_t order;   /* as written */
	size_t n_files; /* named libcuda.so.*.*, without links */
	const struct candidate *libcuda;
	const char *driver;
	const char *cuda;
	const struct policy_value *said;
};

void decide_find_host(struct layer *const *layers, size_t n_layers, const struct facts *probed,
	struct decide_host *ret_host);
/* The compat directories that are there and have a libcuda, as written. Returns 0 and an array to
 * be freed, or -ENOMEM. */
int decide_find_sets(struct layer *const *layers, size_t n_layers, struct decide_set **ret_sets,
	size_t *ret_count);
/* Sorts: highest CUDA version first. */
void decide_rank_sets(struct decide_set *sets, size_t count);
/* Fills in host's and, where there is one, compat's facts. Returns 0 or -ENOMEM. */
int decide_set_facts(
	struct facts *facts, const struct decide_host *host, const struct decide_set *set);
/* Whether all that the set's libcuda needs, and so on, is there. Returns 0 and in *ret_missing
 * NULL, or the name that is missing and *ret_by who needs it (pointing into the layers); or
 * -ENOMEM. */
int decide_closure(struct layer *const *layers, size_t n_layers, const struct decide_set *set,
	const char **ret_missing, const char **ret_by);
