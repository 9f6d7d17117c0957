/* SPDX-License-Identifier: MIT */
#include "decide_internal.h"

#include <errno.h>
#include <stdlib.h>

#include "candidate.h"
#include "namemap.h"
#include "soname.h"
#include "util.h"

struct walk {
	const struct decide_input *input;
	struct namemap provided; /* name or SONAME → its candidate's address */
	struct namemap seen;
	const struct candidate **stack;
	size_t count;
	size_t capacity;
};

static int provide(struct walk *walk, const char *name, const struct candidate *candidate)
{
	int result = namemap_put(&walk->provided, name, (size_t)candidate);

	return result == -EEXIST ? 0 : result;
}

/* With compat on, the host gives no library of the CUDA set but what its own driver version
 * names. */
static bool is_given(
	const struct layer *layer, const struct candidate *candidate, const struct decide_set *set)
{
	const char *key = candidate_key(candidate);

	if (!key)
		return false;
	if (layer->policy->role == ROLE_COMPAT)
		return layer == set->layer && candidate->set == set->set &&
		       candidate_is_compat(layer->policy, candidate);
	return !soname_is_cuda_set(key) || version_is_driver(soname_version(key));
}

static int provide_all(struct walk *walk, const struct decide_set *set, bool compat)
{
	for (size_t i = 0; i < walk->input->n_layers; i++) {
		const struct layer *layer = walk->input->layers[i];

		if ((layer->policy->role == ROLE_COMPAT) != compat)
			continue;
		for (size_t k = 0; k < layer->n_candidates; k++) {
			const struct candidate *candidate = &layer->candidates[k];

			if (!is_given(layer, candidate, set))
				continue;
			if (provide(walk, candidate_key(candidate), candidate) < 0 ||
				provide(walk, candidate_library(candidate), candidate) < 0)
				return -ENOMEM;
		}
	}
	return 0;
}

static int push(struct walk *walk, const struct candidate *candidate)
{
	if (array_grow(&walk->stack, &walk->capacity, walk->count, sizeof(*walk->stack)) < 0)
		return -ENOMEM;
	walk->stack[walk->count++] = candidate;
	return 0;
}

static bool finds_itself(const struct walk *walk, const struct source *source, const char *needed)
{
	const struct decide_input *input = walk->input;

	return source->elf.runpath && *source->elf.runpath &&
	       (!input->finds || input->finds(input->finds_context, source, needed));
}

/* Follows one candidate's NEEDED. Returns the name that is missing in *ret_missing. */
static int follow(struct walk *walk, const struct candidate *candidate, const char **ret_missing)
{
	const struct elf_facts *elf = &candidate->source->elf;

	for (size_t i = 0; i < elf->needed.count; i++) {
		const char *needed = elf->needed.items[i];
		enum soname_class class = soname_classify(needed);
		size_t found;

		if (namemap_get(&walk->provided, needed, &found)) {
			int result = namemap_put(&walk->seen, needed, 0);

			if (result == 0)
				result = push(walk, (const struct candidate *)found);
			if (result == -ENOMEM)
				return result;
		} else if (class != SONAME_NEVER && class != SONAME_ASK &&
			   !finds_itself(walk, candidate->source, needed)) {
			*ret_missing = needed;
			return 0;
		}
	}
	return 0;
}

int decide_closure(const struct decide_input *input, const struct decide_set *set,
	const char **ret_missing, const char **ret_by)
{
	struct walk walk = { .input = input };
	const char *missing = NULL;
	const char *by = NULL;
	int result = provide_all(&walk, set, true);

	if (result == 0)
		result = provide_all(&walk, set, false);
	if (result == 0)
		result = push(&walk, set->libcuda);
	while (result == 0 && walk.count > 0 && !missing) {
		const struct candidate *candidate = walk.stack[--walk.count];

		by = candidate_library(candidate);
		result = follow(&walk, candidate, &missing);
	}
	namemap_clear(&walk.provided);
	namemap_clear(&walk.seen);
	free(walk.stack);
	if (result == 0) {
		*ret_missing = missing;
		*ret_by = by;
	}
	return result;
}
