/* SPDX-License-Identifier: MIT */
#include "runpath.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A mountpoint that cannot stand in a RUNPATH: ':' separates, '$' begins a substitution. */
static bool is_usable(const char *mountpoint)
{
	return mountpoint && !strpbrk(mountpoint, ":$");
}

static char *pinned(const char *mountpoint, const char *set)
{
	if (!is_usable(mountpoint))
		return string_format("$ORIGIN/../.gldriverfs/set/%s/lib", set);
	return string_format("$ORIGIN/../.gldriverfs/set/%s/lib:%s/.gldriverfs/set/%s/lib", set,
		mountpoint, set);
}

/* The directory that it was opened in and, for a plug-in, lib/ above it; then the mount's lib/. */
static char *beside(const char *mountpoint, unsigned depth)
{
	_cleanup_(freep) char *up = strdup("");

	for (unsigned i = 0; i < depth && up; i++) {
		char *more = string_format("%s/..", up);

		free(up);
		up = more;
	}
	if (!up)
		return NULL;
	return string_format("$ORIGIN%s%s%s%s%s", *up ? ":$ORIGIN" : "", up,
		is_usable(mountpoint) ? ":" : "", is_usable(mountpoint) ? mountpoint : "",
		is_usable(mountpoint) ? "/lib" : "");
}

int runpath_wanted(const struct policy *policy, const char *mountpoint, const struct source *source,
	const struct runpath_place *place, char **ret_wanted, const char **ret_why)
{
	char *wanted;

	*ret_wanted = NULL;
	*ret_why = NULL;
	if (strcmp(policy->runpath, "none") == 0)
		*ret_why = "the policy says runpath = none";
	else if (!place->set && source->in_store)
		*ret_why = "it lies in a Nix store and is not of the CUDA set";
	else if (!place->set && source->elf.runpath && *source->elf.runpath)
		*ret_why = "it has a RUNPATH of its own and is not of the CUDA set";
	if (*ret_why)
		return 0;
	if (strcmp(policy->runpath, "origin") == 0)
		wanted = strdup("$ORIGIN");
	else if (strcmp(policy->runpath, "pin") != 0)
		wanted = strdup(policy->runpath);
	else if (place->set)
		wanted = pinned(mountpoint, place->set);
	else
		wanted = beside(mountpoint, place->depth);
	if (!wanted)
		return -ENOMEM;
	*ret_wanted = wanted;
	return 0;
}

static int compare_plan(const void *key, const void *item)
{
	const struct source *source = key;
	const struct plan *plan = item;

	return memcmp(&source->identity, &plan->source->identity, sizeof(source->identity));
}

const struct plan *plan_find(const struct plan_list *plans, const struct source *source)
{
	if (plans->count == 0)
		return NULL;
	return bsearch(source, plans->items, plans->count, sizeof(*plans->items), compare_plan);
}

const char *plan_kind_name(const struct plan *plan)
{
	if (!plan->wanted || !plan->patch.overlay)
		return "none";
	return elfpatch_kind_name(plan->patch.kind);
}

const char *plan_reason(const struct plan *plan)
{
	if (!plan->wanted)
		return plan->why;
	if (plan->patch.kind == ELFPATCH_NOT_NEEDED)
		return "it has this RUNPATH already";
	return plan->patch.kind == ELFPATCH_REFUSED ? elfpatch_refusal_text(plan->patch.refusal)
						    : NULL;
}

void plan_list_clear(struct plan_list *plans)
{
	for (size_t i = 0; i < plans->count; i++) {
		source_unref(plans->items[i].source);
		free(plans->items[i].wanted);
		elfpatch_clear(&plans->items[i].patch);
	}
	free(plans->items);
	*plans = (struct plan_list){ 0 };
}
