/* SPDX-License-Identifier: MIT */
/* pipeline: load policy → scan → load tables → probe → decide → resolve → plan, the same for the
 * daemon's start and reloads and for `gldriverctl check`. Edge. */
#pragma once

#include "driver_probe.h"
#include "generation.h"
#include "load.h"
#include "plan.h"
#include "scan.h"
#include "watch.h"

struct pipeline_request {
	struct load_request load;
	const char *profile;    /* NULL: the policy's own */
	const char *mountpoint; /* as status shows it; NULL: the policy's, or none */
	/* The machine's root for layers and facts; `scan.policy` is filled in here. */
	struct scan_request scan;
	/* Answers of earlier runs; NULL: no libcuda is asked, whatever the policy says. */
	struct driver_probe_cache *driver_probes;
	struct fdpool *pool;      /* of the sources' descriptors; NULL: none are held */
	struct plan_cache *plans; /* NULL: none */
	struct watch *watch;      /* is to follow what is looked at, if the policy says so; NULL */
	/* The published one, whose CUDA sets go on being served; NULL: none. */
	const struct generation *before;
	struct sets_usage usage; /* of those */
};

/* Builds a generation (not published; the inode numbers of its view are 0). Returns 0, or -errno
 * with at least one error in diags. Findings of a success are in the generation. */
int pipeline_run(const struct pipeline_request *request, struct generation **ret_generation,
	struct diag_list *diags);
