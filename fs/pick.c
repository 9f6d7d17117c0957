/* SPDX-License-Identifier: MIT */
#include "pick.h"

#include "candidate.h"
#include "soname.h"
#include "util.h"

static const char libcuda[] = "libcuda.so.1";

/* A link that stands under its target's SONAME. */
static bool is_soname_link(const struct candidate *candidate)
{
	return candidate->link &&
	       string_equal(candidate_library(candidate), candidate->source->elf.soname);
}

struct pick pick_version(const struct layer *layer, uint32_t set, const char *kernel)
{
	const char *cuda_link = NULL;
	const char *other_link = NULL;
	const char *highest_cuda = NULL;
	const char *highest = NULL;

	for (size_t i = 0; i < layer->n_candidates; i++) {
		const struct candidate *candidate = &layer->candidates[i];
		const char *name = candidate_library(candidate);
		const char *version = name ? candidate_version(candidate) : NULL;
		bool cuda;

		if (version_parts(version) < 2 || (set != PICK_ALL_SETS && candidate->set != set))
			continue;
		cuda = soname_same_stem(name, libcuda);
		if (kernel && string_equal(version, kernel))
			return (struct pick){ kernel, PICK_KERNEL };
		if (is_soname_link(candidate)) {
			if (cuda && !cuda_link)
				cuda_link = version;
			else if (!other_link && version_is_driver(version))
				other_link = version;
		}
		if (cuda && version_compare(version, highest_cuda) > 0)
			highest_cuda = version;
		if (version_is_driver(version) && version_compare(version, highest) > 0)
			highest = version;
	}
	if (cuda_link || other_link)
		return (struct pick){ cuda_link ? cuda_link : other_link, PICK_LINK };
	return (struct pick){ highest_cuda ? highest_cuda : highest, PICK_HIGHEST };
}

/* Whether a goes before b where nothing but the names tells. */
static bool is_better(const struct candidate *a, const struct candidate *b, const char *key)
{
	bool a_stem = soname_same_stem(candidate_library(a), key);
	bool b_stem = soname_same_stem(candidate_library(b), key);
	int order;

	if (a_stem != b_stem)
		return a_stem;
	order = version_compare(candidate_version(a), candidate_version(b));
	if (order != 0)
		return order > 0;
	return !a->link && b->link;
}

const struct candidate *pick_candidate(const struct pick *pick, const char *key,
	const struct candidate *const *candidates, size_t count, enum pick_reason *ret_reason)
{
	const struct candidate *link = NULL;
	const struct candidate *best = candidates[0];

	for (size_t i = 0; i < count; i++) {
		const struct candidate *candidate = candidates[i];

		if (pick->version && soname_same_stem(candidate_library(candidate), key) &&
			string_equal(candidate_version(candidate), pick->version)) {
			*ret_reason = pick->reason;
			return candidate;
		}
		if (!link && is_soname_link(candidate))
			link = candidate;
		if (is_better(candidate, best, key))
			best = candidate;
	}
	*ret_reason = link ? PICK_LINK : PICK_HIGHEST;
	return link ? link : best;
}
