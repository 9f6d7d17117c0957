/* SPDX-License-Identifier: MIT */
/* driver_probe: asks the libcudas that a decision may use for their version (policy key
 * driver-probe), each file once, in a child (driver_child). Edge. */
#pragma once

#include "decide.h"

/* Answers by the identities of the libcuda and of all that it is loaded with. Used by one thread at
 * a time. */
struct driver_probe_cache;
/* helper: path of gldriverfs-probe; NULL: to be found. NULL without memory. */
struct driver_probe_cache *driver_probe_cache_new(const char *helper);
/* Accepts NULL, returns NULL. */
struct driver_probe_cache *driver_probe_cache_free(struct driver_probe_cache *cache);

/* Asks the host's libcuda and each compat directory's. Returns 0 and an array to be freed, whose
 * strings live until the next call with this cache; or -ENOMEM. A child that crashes, hangs or lies
 * is an answer that is unknown. */
int driver_probe_run(struct driver_probe_cache *cache, const struct decide_input *input,
	struct driver_probe **ret_probes, size_t *ret_count);
/* Adds an info for each answer that is unknown. */
void driver_probe_tell(const struct driver_probe *probes, size_t count, struct diag_list *diags);
