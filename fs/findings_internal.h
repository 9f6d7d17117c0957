/* SPDX-License-Identifier: MIT */
/* findings_internal: what the parts of `findings` share. Core. */
#pragma once

#include "findings.h"
#include "namemap.h"

/* What the functions below look at. */
struct findings_job {
	const struct generation *generation;
	struct namemap names; /* of libraries in lib/, and SONAMEs → index of the verdict */
	struct findings findings;
};

/* The verdict (served, or an alias of the served file) of a name or SONAME, or NULL. */
const struct verdict *findings_find(const struct findings_job *job, const char *name);

/* Appends one; file may be NULL. Returns 0 or -ENOMEM. */
int findings_add(struct findings *findings, enum diag_level level, const char *id, const char *file,
	unsigned line, const char *format, ...) _printf_(6, 7);

/* Each appends what it finds. Return 0 or -ENOMEM. */

/* Dependencies that nothing serves; pieces that every Jetson of this release has. */
int findings_add_closure(struct findings_job *job);
/* One SONAME in several layers. */
int findings_add_duplicates(struct findings_job *job);
