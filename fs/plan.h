/* SPDX-License-Identifier: MIT */
/* plan: gives the libraries of a resolved view the RUNPATH that they are to have: each file is read
 * through its descriptor once, and never again while it stays the same. Edge. */
#pragma once

#include "decide.h"
#include "fdpool.h"
#include "runpath.h"
#include "view.h"

/* Plans of earlier runs by file (identity, ctime) and wanted RUNPATH. Not thread-safe. */
struct plan_cache;
/* NULL without memory. */
struct plan_cache *plan_cache_new(void);
/* Accepts NULL, returns NULL. */
struct plan_cache *plan_cache_free(struct plan_cache *cache);

struct plan_request {
	const struct policy *policy;
	const char *mountpoint; /* NULL: not known */
	const struct decision *decision;
	struct fdpool *pool;      /* of the sources' descriptors; NULL: files are opened again */
	struct plan_cache *cache; /* NULL: none */
};

/* Plans each library in lib/ of a view that is not finished, and puts the overlays on its entries:
 * those become regular files. Returns 0 and the plans (plan_list_clear), or -ENOMEM. */
int plan_view(const struct plan_request *request, struct view *view, struct plan_list *ret_plans);
