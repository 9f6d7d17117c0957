/* SPDX-License-Identifier: MIT */
#include "driver_closure.h"

#include <errno.h>

#include "candidate.h"
#include "soname.h"

struct search {
	struct layer *const *layers;
	size_t n_layers;
	const struct layer *home;
	const struct candidate *libcuda;
	struct driver_closure closure;
	const struct source *entered[DRIVER_CLOSURE_MAX];
	size_t n_entered;
};

static const struct candidate *find_in(
	const struct search *search, const struct layer *layer, const char *needed)
{
	bool compat = layer->policy->role == ROLE_COMPAT;

	for (size_t i = 0; i < layer->n_candidates; i++) {
		const struct candidate *candidate = &layer->candidates[i];

		if (compat && candidate->set != search->libcuda->set)
			continue;
		if (string_equal(candidate_key(candidate), needed) ||
			string_equal(candidate_library(candidate), needed))
			return candidate;
	}
	return NULL;
}

/* The libcuda's own layer first, then the machine's in order. */
static const struct candidate *find_needed(const struct search *search, const char *needed)
{
	const struct candidate *found = find_in(search, search->home, needed);

	for (size_t i = 0; !found && i < search->n_layers; i++)
		if (search->layers[i]->policy->role != ROLE_COMPAT)
			found = find_in(search, search->layers[i], needed);
	return found;
}

/* Depth is bounded by DRIVER_CLOSURE_MAX: each source is entered once. */
static int enter(struct search *search, const struct source *source)
{
	for (size_t i = 0; i < search->n_entered; i++)
		if (search->entered[i] == source)
			return 0;
	if (search->n_entered == DRIVER_CLOSURE_MAX)
		return -E2BIG;
	search->entered[search->n_entered++] = source;
	for (size_t i = 0; i < source->elf.needed.count; i++) {
		const char *needed = source->elf.needed.items[i];
		const struct candidate *found = soname_classify(needed) == SONAME_NEVER
							? NULL
							: find_needed(search, needed);
		int result = found ? enter(search, found->source) : 0;

		if (result < 0)
			return result;
	}
	search->closure.items[search->closure.count++] = source;
	return 0;
}

int driver_closure_find(struct layer *const *layers, size_t n_layers, const struct layer *layer,
	const struct candidate *libcuda, struct driver_closure *ret_closure)
{
	struct search search = {
		.layers = layers, .n_layers = n_layers, .home = layer, .libcuda = libcuda
	};
	int result = enter(&search, libcuda->source);

	if (result == 0)
		*ret_closure = search.closure;
	return result;
}
