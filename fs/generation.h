/* SPDX-License-Identifier: MIT */
/* generation: everything that one successful load made, immutable, shared by reference: policy,
 * layers, facts, decision, resolution, view, findings. Built by `pipeline`, published by `tree`.
 */
#pragma once

#include <stdatomic.h>

#include "resolve.h"
#include "runpath.h"
#include "sets.h"

struct findings;

struct generation {
	atomic_uint references;
	char *name;       /* of the instance */
	char *mountpoint; /* NULL: not known (an offline check) */
	struct policy *policy;
	struct string_list files; /* policy files */
	struct layer **layers;
	size_t n_layers;
	struct decision decision;
	struct resolution *resolution;
	struct plan_list plans;    /* what is done to each library */
	struct set_list sets;      /* CUDA sets that are served */
	struct view *view;         /* resolution->view, finished, with .gldriverfs */
	struct diag_list diags;    /* as noted while it was made */
	struct findings *findings; /* all there is to say; owned */
	char *status;              /* JSON text of .gldriverfs/status.json */
	/* Taken over from an earlier process: there is no policy, no layer, no finding; layer names
	 * and `status` are what that process wrote. */
	bool resumed;
	struct string_list layer_names;
};

struct generation *generation_ref(struct generation *generation);
/* Drops a reference; the last one frees. Accepts NULL, returns NULL. */
struct generation *generation_unref(struct generation *generation);
void generation_unrefp(struct generation **generation);
