/* SPDX-License-Identifier: MIT */
/* findings: one SONAME in several layers. Told once per pair of layers. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "candidate.h"
#include "findings_internal.h"

#define NAMES_TOLD 5

/* The libraries of one layer that another one gives. */
struct pair {
	const struct layer *winner;
	const struct layer *loser;
	bool cuda_set; /* not order decided, but compat */
	struct namemap keys;
	const char *told[NAMES_TOLD]; /* the first of them */
	size_t n_told;
};

struct pairs {
	struct pair *items;
	size_t count;
	size_t capacity;
};

static void pairs_clear(struct pairs *pairs)
{
	for (size_t i = 0; i < pairs->count; i++)
		namemap_clear(&pairs->items[i].keys);
	free(pairs->items);
}

static struct pair *find_pair(
	struct pairs *pairs, const struct verdict *winner, const struct verdict *loser)
{
	bool cuda_set = loser->code == VERDICT_HIDDEN_BY_COMPAT;

	for (size_t i = 0; i < pairs->count; i++) {
		struct pair *pair = &pairs->items[i];

		if (pair->winner == winner->layer && pair->loser == loser->layer &&
			pair->cuda_set == cuda_set)
			return pair;
	}
	if (array_grow(&pairs->items, &pairs->capacity, pairs->count, sizeof(*pairs->items)) < 0)
		return NULL;
	pairs->items[pairs->count] = (struct pair){
		.winner = winner->layer, .loser = loser->layer, .cuda_set = cuda_set
	};
	return &pairs->items[pairs->count++];
}

static int note(struct pair *pair, const char *key)
{
	int result = namemap_put(&pair->keys, key, 0);

	if (result == -EEXIST)
		return 0;
	if (result == 0 && pair->n_told < NAMES_TOLD)
		pair->told[pair->n_told++] = key;
	return result;
}

static int collect(const struct findings_job *job, struct pairs *pairs)
{
	const struct resolution *resolution = job->generation->resolution;

	for (size_t i = 0; i < resolution->n_verdicts; i++) {
		const struct verdict *loser = &resolution->verdicts[i];
		const char *key = candidate_key(loser->candidate);
		const struct verdict *winner;
		struct pair *pair;

		if (!key || (loser->code != VERDICT_LOST_ORDER &&
				    loser->code != VERDICT_HIDDEN_BY_COMPAT))
			continue;
		winner = findings_find(job, key);
		if (!winner || winner->layer == loser->layer ||
			candidate_is_same(winner->candidate, loser->candidate))
			continue;
		pair = find_pair(pairs, winner, loser);
		if (!pair || note(pair, key) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* "a, b, c and 4 more" */
static char *list_keys(const struct pair *pair)
{
	size_t more = pair->keys.count - pair->n_told;
	char *text = strdup(pair->told[0]);

	for (size_t i = 1; text && i < pair->n_told; i++) {
		char *longer = string_format("%s, %s", text, pair->told[i]);

		free(text);
		text = longer;
	}
	if (text && more > 0) {
		char *longer = string_format("%s and %zu more", text, more);

		free(text);
		text = longer;
	}
	return text;
}

static int tell(const struct pair *pair, struct findings *findings)
{
	const struct policy_layer *winner = pair->winner->policy;
	const struct policy_layer *loser = pair->loser->policy;
	bool ambiguous = !pair->cuda_set && winner->role == loser->role;
	_cleanup_(freep) char *names = list_keys(pair);

	if (!names)
		return -ENOMEM;
	return findings_add(findings, ambiguous ? DIAG_WARNING : DIAG_INFO,
		ambiguous ? "duplicate-role" : "duplicate", loser->file, loser->line,
		"layers %s and %s both have %s: %s gives %s, %s", winner->name, loser->name, names,
		winner->name, pair->keys.count > 1 ? "them" : "it",
		pair->cuda_set ? "as compat is on"
		: ambiguous    ? "only because it comes first"
			       : "which comes first");
}

int findings_add_duplicates(struct findings_job *job)
{
	struct pairs pairs = { 0 };
	int result = collect(job, &pairs);

	for (size_t i = 0; i < pairs.count && result == 0; i++)
		result = tell(&pairs.items[i], &job->findings);
	pairs_clear(&pairs);
	return result;
}
