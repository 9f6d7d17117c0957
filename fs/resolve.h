/* SPDX-License-Identifier: MIT */
/* resolve: policy + facts + layers + decision → the view, and why each file is there or is not
 * (DESIGN 3). Pure and deterministic. Core. */
#pragma once

#include "decide.h"
#include "view.h"

enum verdict_code {
	VERDICT_SERVED,           /* its bytes are served */
	VERDICT_ALIAS,            /* its name is a link to the served file of this SONAME */
	VERDICT_LOST_ORDER,       /* an earlier layer has this SONAME (or path) */
	VERDICT_LOST_VERSION,     /* another version of this SONAME in the same layer */
	VERDICT_HIDDEN_BY_COMPAT, /* of the CUDA set, which the compat layer gives */
	VERDICT_COMPAT_OFF,       /* the decision is off: a compat layer gives nothing */
	VERDICT_NOT_CUDA_SET,     /* a compat layer gives only the CUDA set */
	VERDICT_OTHER_SET,        /* another directory of the compat layer was chosen */
	VERDICT_NEVER,            /* of the libc family by SONAME */
};

/* One per candidate, in the order of the layers, then of their candidates. */
struct verdict {
	const struct layer *layer;
	const struct candidate *candidate;
	enum verdict_code code;
	char *served; /* SERVED, ALIAS: path in the view of the served file */
	char *text;   /* why, one sentence that a user understands */
};

struct unresolved {
	char *needed; /* SONAME that nothing provides */
	char *by;     /* name of the served library that needs it */
};

struct resolution {
	struct view *view; /* not identified, not finished: the generation changes files
			    * and adds its own entries */
	struct verdict *verdicts;
	size_t n_verdicts;
	struct unresolved *unresolved; /* sorted */
	size_t n_unresolved;
};

/* Returns 0 and the resolution (resolution_free), or -ENOMEM. Warnings go to diags. */
int resolve(const struct policy *policy, struct layer *const *layers, size_t n_layers,
	const struct decision *decision, struct resolution **ret_resolution,
	struct diag_list *diags);
struct resolution *resolution_free(struct resolution *resolution);

/* "served", "lost-order" … as the JSON shows it. */
const char *verdict_name(enum verdict_code code);
