/* SPDX-License-Identifier: MIT */
/* findings: everything that a generation has to say for itself: what policy, scan, decision and
 * resolution noted, and what only all of them together show, each with what it means for the user
 * and what to do (FACTS.md 7). Core. */
#pragma once

#include "generation.h"

struct finding_kind {
	const char *id;      /* stable */
	const char *meaning; /* for the user's programs, with the CUDA error that they get */
	const char *remedy;  /* what to do */
};

struct finding {
	enum diag_level level;
	const struct finding_kind *kind; /* NULL: of none */
	char *file;                      /* NULL: none */
	unsigned line;                   /* 0: none */
	char *text;                      /* one sentence */
	char *needed;                    /* an unresolved dependency, and who has it; or NULL */
	char *by;
};

/* Zero-initialised is empty. */
struct findings {
	struct finding *items; /* errors first, then warnings */
	size_t count;
	size_t capacity;
};

/* All findings of a generation whose view is made. Returns 0 or -ENOMEM. */
int findings_make(const struct generation *generation, struct findings *ret_findings);
/* Those of a load that has failed. Returns 0 or -ENOMEM. */
int findings_of_diags(const struct diag_list *diags, struct findings *ret_findings);
void findings_clear(struct findings *findings);

/* It tells of a broken link, which is among the layers' rejections too. */
bool finding_is_link(const struct finding *finding);
/* The kind of that id, or NULL. */
const struct finding_kind *finding_kind(const char *id);
/* All of them, by id. */
const struct finding_kind *finding_kinds(size_t *ret_count);
