/* SPDX-License-Identifier: MIT */
/* decide: compat on or off, with the rule that decided and the facts it used (DESIGN 5). Core. */
#pragma once

#include "facts.h"
#include "layer.h"

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

/* Decides. Warns in diags where a forced pairing is known to be bad. Returns 0 or -ENOMEM. */
int decide(const struct policy *policy, struct layer *const *layers, size_t n_layers,
	const struct facts *probed, struct decision *ret_decision, struct diag_list *diags);
void decision_clear(struct decision *decision);
