/* SPDX-License-Identifier: MIT */
#include "resolve.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "candidate.h"
#include "resolve_internal.h"
#include "soname.h"
#include "util.h"

static const char *const verdict_names[] = {
	[VERDICT_SERVED] = "served",
	[VERDICT_ALIAS] = "alias",
	[VERDICT_LOST_ORDER] = "lost-order",
	[VERDICT_LOST_VERSION] = "lost-version",
	[VERDICT_HIDDEN_BY_COMPAT] = "hidden-by-compat",
	[VERDICT_COMPAT_OFF] = "compat-off",
	[VERDICT_NOT_CUDA_SET] = "not-cuda-set",
	[VERDICT_OTHER_SET] = "other-set",
	[VERDICT_NEVER] = "never",
};

const char *verdict_name(enum verdict_code code)
{
	return verdict_names[code];
}

int resolve_say(struct resolve_item *item, enum verdict_code code, const char *served,
	const char *format, ...)
{
	struct verdict *verdict = item->verdict;
	va_list args;
	int size;

	free(verdict->served);
	free(verdict->text);
	verdict->code = code;
	verdict->text = NULL;
	verdict->served = served ? strdup(served) : NULL;
	va_start(args, format);
	size = vasprintf(&verdict->text, format, args);
	va_end(args);
	if (size < 0) {
		verdict->text = NULL;
		return -ENOMEM;
	}
	return served && !verdict->served ? -ENOMEM : 0;
}

/* The kernel driver's version, or NULL. */
static const char *kernel_version(const struct resolve_job *job)
{
	return job->decision->facts.items[FACT_KERNEL_DRIVER].value;
}

char *resolve_describe_key(const struct resolve_group *group)
{
	const struct resolve_item *item = &group->items[0];

	if (item->name && item->candidate->source->elf.soname)
		return string_format("SONAME %s", group->key);
	return strdup(item->candidate->path);
}

/* Refuses a compat layer's candidate, unless the layer gives it. */
static int judge_compat(const struct resolve_job *job, struct resolve_item *item, bool *ret_refused)
{
	const struct decision *decision = job->decision;
	const struct layer *layer = item->layer;

	*ret_refused = true;
	if (!decision->on)
		return resolve_say(
			item, VERDICT_COMPAT_OFF, NULL, "compat is off: %s", decision->reason);
	if (layer != decision->layer || item->candidate->set != decision->set)
		return resolve_say(item, VERDICT_OTHER_SET, NULL,
			"compat takes its libraries from %s",
			decision->layer->sets[decision->set].path);
	if (!candidate_is_compat(layer->policy, item->candidate))
		return resolve_say(item, VERDICT_NOT_CUDA_SET, NULL,
			"a compat layer gives only the CUDA libraries: the rest must match the "
			"kernel driver");
	*ret_refused = false;
	return 0;
}

/* Refuses what no layer, or not this one, may give. Returns 0 or -ENOMEM. */
static int judge(const struct resolve_job *job, struct resolve_item *item, bool *ret_refused)
{
	const struct decision *decision = job->decision;
	const char *path = item->candidate->path;

	*ret_refused = true;
	if (string_equal(path, ".gldriverfs") || string_has_prefix(path, ".gldriverfs/"))
		return resolve_say(item, VERDICT_NEVER, NULL, "the name is gldriverfs' own");
	if (item->name && (soname_classify(item->key) == SONAME_NEVER ||
				  soname_classify(item->name) == SONAME_NEVER))
		return resolve_say(item, VERDICT_NEVER, NULL,
			"%s is of the C library, which a driver directory must not replace",
			item->key);
	if (item->layer->policy->role == ROLE_COMPAT)
		return judge_compat(job, item, ret_refused);
	if (decision->on && item->name && soname_is_cuda_set(item->name) &&
		!soname_is_cuda_set(item->key))
		return resolve_say(item, VERDICT_HIDDEN_BY_COMPAT, NULL,
			"compat is on: libraries of this name come from layer %s",
			decision->layer->policy->name);
	*ret_refused = false;
	return 0;
}

static int rank_of(const struct resolve_job *job, const struct resolve_item *item)
{
	if (!item->name)
		return 2;
	if (job->decision->on && item->layer == job->decision->layer &&
		(soname_is_cuda_set(item->key) || soname_is_compat_extra(item->key)))
		return 0;
	if (item->layer->policy->role == ROLE_TEGRA && soname_is_tegra(item->key))
		return 1;
	return 2;
}

/* One verdict per candidate, and an item for each that is not refused. */
static int judge_all(struct resolve_job *job)
{
	struct resolution *resolution = job->resolution;
	size_t total = 0;

	for (size_t i = 0; i < job->n_layers; i++)
		total += job->layers[i]->n_candidates;
	resolution->verdicts = calloc(total + 1, sizeof(*resolution->verdicts));
	job->items = calloc(total + 1, sizeof(*job->items));
	if (!resolution->verdicts || !job->items)
		return -ENOMEM;
	for (size_t i = 0; i < job->n_layers; i++) {
		const struct layer *layer = job->layers[i];

		for (size_t k = 0; k < layer->n_candidates; k++) {
			const struct candidate *candidate = &layer->candidates[k];
			struct verdict *verdict = &resolution->verdicts[resolution->n_verdicts++];
			struct resolve_item *item = &job->items[job->n_items];
			bool refused;

			*verdict = (struct verdict){ .layer = layer, .candidate = candidate };
			*item = (struct resolve_item){ .layer = layer,
				.candidate = candidate,
				.verdict = verdict,
				.name = candidate_library(candidate),
				.layer_index = i,
				.index = k };
			item->key = item->name ? candidate_key(candidate) : candidate->path;
			item->rank = rank_of(job, item);
			if (judge(job, item, &refused) < 0)
				return -ENOMEM;
			job->n_items += !refused;
		}
	}
	return 0;
}

static int pick_versions(struct resolve_job *job)
{
	job->picks = calloc(job->n_layers + 1, sizeof(*job->picks));
	if (!job->picks)
		return -ENOMEM;
	for (size_t i = 0; i < job->n_layers; i++) {
		const struct layer *layer = job->layers[i];
		bool compat = layer->policy->role == ROLE_COMPAT;
		uint32_t set = compat && layer == job->decision->layer ? job->decision->set
								       : PICK_ALL_SETS;

		job->picks[i] = pick_version(layer, set, compat ? NULL : kernel_version(job));
	}
	return 0;
}

/* Says once per layer that it holds more than one version. */
static void warn(const struct resolve_job *job)
{
	const struct resolution *resolution = job->resolution;
	const struct layer *said = NULL;

	for (size_t i = 0; i < resolution->n_verdicts; i++) {
		const struct verdict *verdict = &resolution->verdicts[i];
		const struct policy_layer *policy = verdict->layer->policy;

		if (verdict->code != VERDICT_LOST_VERSION || verdict->layer == said)
			continue;
		said = verdict->layer;
		diag_add_as(job->diags, DIAG_WARNING, "several-versions", policy->file,
			policy->line,
			"layer %s has libraries in more than one version; %s is not shown: %s",
			policy->name, path_base(verdict->candidate->path), verdict->text);
	}
}

static int run(struct resolve_job *job)
{
	int result = judge_all(job);

	if (result == 0)
		result = pick_versions(job);
	if (result == 0)
		result = resolve_own(job);
	if (result == 0)
		result = resolve_keep(job);
	if (result == 0)
		result = resolve_names(job);
	if (result == 0)
		result = resolve_unresolved(job);
	if (result == 0)
		warn(job);
	return result;
}

int resolve(const struct policy *policy, struct layer *const *layers, size_t n_layers,
	const struct decision *decision, struct resolution **ret_resolution,
	struct diag_list *diags)
{
	struct resolve_job job = {
		.policy = policy,
		.layers = layers,
		.n_layers = n_layers,
		.decision = decision,
		.diags = diags,
	};
	int result = -ENOMEM;

	job.resolution = calloc(1, sizeof(*job.resolution));
	if (!job.resolution)
		return -ENOMEM;
	job.resolution->view = view_new();
	if (job.resolution->view)
		result = run(&job);
	free(job.items);
	free(job.groups);
	free(job.picks);
	namemap_clear(&job.names);
	string_list_clear(&job.strings);
	if (result < 0) {
		resolution_free(job.resolution);
		return result;
	}
	*ret_resolution = job.resolution;
	return 0;
}

struct resolution *resolution_free(struct resolution *resolution)
{
	if (!resolution)
		return NULL;
	for (size_t i = 0; i < resolution->n_verdicts; i++) {
		free(resolution->verdicts[i].served);
		free(resolution->verdicts[i].text);
	}
	free(resolution->verdicts);
	for (size_t i = 0; i < resolution->n_unresolved; i++) {
		free(resolution->unresolved[i].needed);
		free(resolution->unresolved[i].by);
	}
	free(resolution->unresolved);
	view_free(resolution->view);
	free(resolution);
	return NULL;
}
