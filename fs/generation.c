/* SPDX-License-Identifier: MIT */
#include "generation.h"

#include "findings.h"

#include <stdlib.h>

struct generation *generation_ref(struct generation *generation)
{
	atomic_fetch_add_explicit(&generation->references, 1, memory_order_relaxed);
	return generation;
}

static void generation_free(struct generation *generation)
{
	resolution_free(generation->resolution);
	plan_list_clear(&generation->plans);
	sets_clear(&generation->sets);
	decision_clear(&generation->decision);
	for (size_t i = 0; i < generation->n_layers; i++)
		layer_free(generation->layers[i]);
	free(generation->layers);
	policy_free(generation->policy);
	string_list_clear(&generation->files);
	string_list_clear(&generation->layer_names);
	diag_clear(&generation->diags);
	if (generation->findings)
		findings_clear(generation->findings);
	free(generation->findings);
	free(generation->status);
	free(generation->name);
	free(generation->mountpoint);
	free(generation);
}

struct generation *generation_unref(struct generation *generation)
{
	if (generation &&
		atomic_fetch_sub_explicit(&generation->references, 1, memory_order_acq_rel) == 1)
		generation_free(generation);
	return NULL;
}

void generation_unrefp(struct generation **generation)
{
	generation_unref(*generation);
}
