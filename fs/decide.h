/* SPDX-License-Identifier: MIT */
/* decide: compat on or off, with the rule that decided and the facts it used (DESIGN 5). Core. */
#pragma once

#include "facts.h"
#include "layer.h"
#include "tables.h"

struct decision {
	bool on;
	/* The compat directory that is (on) or would be (off) used. layer is NULL: there is none.
	 */
	const struct layer *layer;
	uint32_t set;
	char *rule; /* short, stable: "forced-on", "driver-numbers", "cuda-versions", "unknown" … */
	char *reason;       /* one sentence with the values that decided */
	struct facts facts; /* the probed ones, plus host's and compat's */
};

/* What a probe child found: cuDriverGetVersion of one libcuda. */
struct driver_probe {
	const struct source *source;
	char cuda[16];   /* "12.2"; "": the child could not tell */
	const char *why; /* cuda is "": why, the end of a sentence; else NULL */
};

/* What a decision is made of. All pointers are the caller's. */
struct decide_input {
	const struct policy *policy;
	struct layer *const *layers;
	size_t n_layers;
	const struct facts *probed;
	const struct tables *tables;
	const struct driver_probe *probes; /* NULL: none */
	size_t n_probes;
	/* Whether a library finds what it needs by its own RUNPATH, outside the layers. NULL: each
	 * that has a RUNPATH is believed to. */
	bool (*finds)(void *context, const struct source *source, const char *needed);
	void *finds_context;
};

/* Decides. Warns in diags where a forced pairing is known to be bad and where auto cannot tell.
 * Returns 0 or -ENOMEM. */
int decide(
	const struct decide_input *input, struct decision *ret_decision, struct diag_list *diags);
void decision_clear(struct decision *decision);
