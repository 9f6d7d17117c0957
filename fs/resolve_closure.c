/* SPDX-License-Identifier: MIT */
#include "resolve_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "soname.h"
#include "util.h"

static bool is_served(const struct resolve_group *group, const struct resolve_item *item)
{
	return group->serves && !group->waits && (item == group->winner || item->fate == FATE_OWN);
}

static int note_needed(struct namemap *needed, const struct source *source)
{
	for (size_t i = 0; source->is_elf && i < source->elf.needed.count; i++) {
		if (namemap_put(needed, source->elf.needed.items[i], 0) == -ENOMEM)
			return -ENOMEM;
	}
	return 0;
}

static int note_all_needed(const struct resolve_job *job, struct namemap *needed)
{
	for (size_t i = 0; i < job->n_groups; i++) {
		const struct resolve_group *group = &job->groups[i];

		for (size_t k = 0; k < group->n_own; k++) {
			if (is_served(group, &group->items[k]) &&
				note_needed(needed, group->items[k].candidate->source) < 0)
				return -ENOMEM;
		}
	}
	return 0;
}

static int hide_rest(const struct resolve_job *job)
{
	for (size_t i = 0; i < job->n_groups; i++) {
		struct resolve_group *group = &job->groups[i];

		if (!group->waits)
			continue;
		group->serves = false;
		for (size_t k = 0; k < group->n_items; k++) {
			group->items[k].fate = FATE_LOST;
			if (resolve_say(&group->items[k], VERDICT_HIDDEN_BY_COMPAT, NULL,
				    "compat is on: the CUDA libraries come from layer %s, and "
				    "nothing else needs %s",
				    job->decision->layer->policy->name, group->key) < 0)
				return -ENOMEM;
		}
	}
	return 0;
}

int resolve_keep(struct resolve_job *job)
{
	struct namemap needed = { 0 };
	bool changed = true;
	int result = note_all_needed(job, &needed);

	while (result == 0 && changed) {
		changed = false;
		for (size_t i = 0; i < job->n_groups && result == 0; i++) {
			struct resolve_group *group = &job->groups[i];

			if (!group->waits || !namemap_get(&needed, group->key, NULL))
				continue;
			group->waits = false;
			group->kept = true;
			changed = true;
			result = note_needed(&needed, group->winner->candidate->source);
		}
	}
	namemap_clear(&needed);
	return result == 0 ? hide_rest(job) : result;
}

static int add_unresolved(
	struct resolution *resolution, size_t *capacity, const char *needed, const char *by)
{
	struct unresolved *unresolved;

	if (array_grow(&resolution->unresolved, capacity, resolution->n_unresolved,
		    sizeof(*resolution->unresolved)) < 0)
		return -ENOMEM;
	unresolved = &resolution->unresolved[resolution->n_unresolved++];
	unresolved->needed = strdup(needed);
	unresolved->by = strdup(by);
	return unresolved->needed && unresolved->by ? 0 : -ENOMEM;
}

static int compare_unresolved(const void *a, const void *b)
{
	const struct unresolved *left = a;
	const struct unresolved *right = b;
	int order = strcmp(left->needed, right->needed);

	return order ? order : strcmp(left->by, right->by);
}

static void sort_unresolved(struct resolution *resolution)
{
	struct unresolved *items = resolution->unresolved;
	size_t count = 0;

	if (resolution->n_unresolved > 1)
		qsort(items, resolution->n_unresolved, sizeof(*items), compare_unresolved);
	for (size_t i = 0; i < resolution->n_unresolved; i++) {
		if (count > 0 && compare_unresolved(&items[count - 1], &items[i]) == 0) {
			free(items[i].needed);
			free(items[i].by);
		} else {
			items[count++] = items[i];
		}
	}
	resolution->n_unresolved = count;
}

static int check_needed(const struct resolve_job *job, size_t *capacity,
	const struct source *source, const char *by)
{
	const struct elf_facts *elf = &source->elf;

	/* found by its own RUNPATH, or not: that cannot be told from here */
	if (!source->is_elf || (elf->runpath && *elf->runpath))
		return 0;
	for (size_t i = 0; i < elf->needed.count; i++) {
		const char *needed = elf->needed.items[i];

		if (soname_classify(needed) != SONAME_NEVER &&
			!namemap_get(&job->names, needed, NULL) &&
			add_unresolved(job->resolution, capacity, needed, by) < 0)
			return -ENOMEM;
	}
	return 0;
}

int resolve_unresolved(struct resolve_job *job)
{
	size_t capacity = 0;

	for (size_t i = 0; i < job->n_groups; i++) {
		const struct resolve_group *group = &job->groups[i];

		for (size_t k = 0; k < group->n_own; k++) {
			const struct resolve_item *item = &group->items[k];
			bool winner = item == group->winner;

			if (is_served(group, item) &&
				check_needed(job, &capacity, item->candidate->source,
					winner ? path_base(group->served)
					       : path_base(item->candidate->path)) < 0)
				return -ENOMEM;
		}
	}
	sort_unresolved(job->resolution);
	return 0;
}
