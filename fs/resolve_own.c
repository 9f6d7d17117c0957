/* SPDX-License-Identifier: MIT */
#include "resolve_internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "candidate.h"
#include "soname.h"
#include "util.h"

static int compare_items(const void *a, const void *b)
{
	const struct resolve_item *left = a;
	const struct resolve_item *right = b;
	int order = strcmp(left->key, right->key);

	/* a library's key has no '/', a path may be one word: "lib" */
	if (order == 0)
		order = (left->name == NULL) - (right->name == NULL);
	if (order == 0)
		order = left->rank - right->rank;
	if (order == 0 && left->layer_index != right->layer_index)
		order = left->layer_index < right->layer_index ? -1 : 1;
	if (order == 0)
		order = left->index < right->index ? -1 : 1;
	return order;
}

static bool is_same_group(const struct resolve_item *a, const struct resolve_item *b)
{
	return (a->name == NULL) == (b->name == NULL) && strcmp(a->key, b->key) == 0;
}

static int make_groups(struct resolve_job *job)
{
	struct resolve_group *group = NULL;

	if (job->n_items > 1)
		qsort(job->items, job->n_items, sizeof(*job->items), compare_items);
	job->groups = calloc(job->n_items + 1, sizeof(*job->groups));
	if (!job->groups)
		return -ENOMEM;
	for (size_t i = 0; i < job->n_items; i++) {
		struct resolve_item *item = &job->items[i];

		if (!group || !is_same_group(item, group->items)) {
			group = &job->groups[job->n_groups++];
			*group = (struct resolve_group){
				.key = item->key, .items = item, .serves = true
			};
		}
		group->n_items++;
		if (item->layer_index == group->items->layer_index)
			group->n_own++;
	}
	return 0;
}

/* Hides all of the group: of the CUDA set, which the compat layer gives. */
static int hide(const struct resolve_job *job, struct resolve_group *group)
{
	group->serves = false;
	for (size_t i = 0; i < group->n_items; i++) {
		group->items[i].fate = FATE_LOST;
		if (resolve_say(&group->items[i], VERDICT_HIDDEN_BY_COMPAT, NULL,
			    "compat is on: the CUDA libraries all come from layer %s, which has no "
			    "%s",
			    job->decision->layer->policy->name, group->key) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* The other layers' candidates of the key. */
static int refuse_others(const struct resolve_job *job, struct resolve_group *group)
{
	const char *owner = group->items[0].layer->policy->name;
	_cleanup_(freep) char *what = resolve_describe_key(group);
	bool compat = job->decision->on && group->items[0].rank == 0;
	int result = what ? 0 : -ENOMEM;

	for (size_t i = group->n_own; i < group->n_items && result == 0; i++) {
		struct resolve_item *item = &group->items[i];

		item->fate = FATE_LOST;
		if (compat)
			result = resolve_say(item, VERDICT_HIDDEN_BY_COMPAT, NULL,
				"compat is on: the copy of layer %s is used, both have %s", owner,
				what);
		else
			result = resolve_say(item, VERDICT_LOST_ORDER, NULL,
				"the copy of layer %s is used: both have %s and %s comes first",
				owner, what, owner);
	}
	return result;
}

static int choose(struct resolve_job *job, struct resolve_group *group)
{
	const struct pick *pick = &job->picks[group->items[0].layer_index];
	_cleanup_(freep) const struct candidate **candidates = NULL;
	const struct candidate *chosen;

	group->winner = &group->items[0];
	if (!group->items[0].name || group->n_own == 1)
		return 0;
	candidates = calloc(group->n_own, sizeof(*candidates));
	if (!candidates)
		return -ENOMEM;
	for (size_t i = 0; i < group->n_own; i++)
		candidates[i] = group->items[i].candidate;
	chosen = pick_candidate(pick, group->key, candidates, group->n_own, &group->reason);
	for (size_t i = 0; i < group->n_own; i++) {
		if (group->items[i].candidate == chosen)
			group->winner = &group->items[i];
	}
	return 0;
}

/* The name, or that of the file behind it, has the SONAME's stem. */
static bool has_stem(const struct resolve_item *item, const char *key)
{
	return soname_same_stem(item->name, key) ||
	       soname_same_stem(path_base(item->candidate->source->path), key);
}

static enum resolve_fate fate_of(const struct resolve_group *group, const struct resolve_item *item)
{
	const char *version;

	if (candidate_is_same(item->candidate, group->winner->candidate))
		return FATE_WINNER;
	if (!item->name)
		return FATE_COPY;
	if (!has_stem(item, group->key))
		return FATE_OWN;
	version = soname_version(item->name);
	if (version_parts(version) >= 2 && strcmp(item->name, group->key) != 0 &&
		!string_equal(version, candidate_version(group->winner->candidate)))
		return FATE_VERSION;
	return FATE_COPY;
}

static int compare_key(const void *key, const void *group)
{
	return strcmp(key, ((const struct resolve_group *)group)->key);
}

/* Its SONAME is of another driver version than the one that is shown of its layer, and the layer
 * has the same library in the shown version. */
static bool is_other_version(const struct resolve_job *job, const struct resolve_group *group)
{
	const struct resolve_item *owner = &group->items[0];
	const char *shown = job->picks[owner->layer_index].version;
	const struct resolve_group *sibling;
	char key[512];

	if (!owner->name || !owner->candidate->source->elf.soname || !version_is_driver(shown) ||
		!version_is_driver(soname_version(group->key)) ||
		strcmp(soname_version(group->key), shown) == 0)
		return false;
	if (snprintf(key, sizeof(key), "%.*s.so.%s", (int)soname_stem(group->key), group->key,
		    shown) >= (int)sizeof(key))
		return false;
	sibling = bsearch(key, job->groups, job->n_groups, sizeof(*job->groups), compare_key);
	return sibling && sibling->items[0].layer_index == owner->layer_index;
}

static int own_group(struct resolve_job *job, struct resolve_group *group)
{
	const struct resolve_item *owner = &group->items[0];
	int result;

	if (job->decision->on && owner->name && owner->rank != 0 &&
		soname_is_cuda_set(group->key)) {
		if (!version_is_driver(soname_version(group->key)))
			return hide(job, group);
		group->waits = true;
	}
	result = refuse_others(job, group);
	if (result == 0)
		result = choose(job, group);
	if (result < 0)
		return result;
	if (is_other_version(job, group)) {
		group->serves = false;
		group->waits = false;
		group->reason = job->picks[owner->layer_index].reason;
	}
	for (size_t i = 0; i < group->n_own; i++) {
		group->items[i].fate =
			group->serves ? fate_of(group, &group->items[i]) : FATE_VERSION;
	}
	return 0;
}

int resolve_own(struct resolve_job *job)
{
	int result = make_groups(job);

	for (size_t i = 0; i < job->n_groups && result == 0; i++)
		result = own_group(job, &job->groups[i]);
	return result;
}
