/* SPDX-License-Identifier: MIT */
/* status: what a generation is, as JSON (DESIGN 7): for the control socket, for
 * .gldriverfs/status.json and for `gldriverctl check`. Core. */
#pragma once

#include <sys/types.h>

#include "generation.h"
#include "jsonhelp.h"

struct status_counter {
	const char *name; /* constant */
	uint64_t value;
};

#define STATUS_COUNTERS_MAX 64

/* What only the running daemon knows. */
struct status_runtime {
	pid_t pid;
	pid_t keeper;         /* 0: there is none */
	uid_t owner;          /* of the mount */
	const char *config;   /* --config FILE, NULL: none was given */
	const char *override; /* path of the runtime override */
	uint64_t watched;     /* directories whose changes are followed; 0: watch = no */
	uint64_t unpinned;    /* revealed files without a held descriptor (DESIGN 2) */
	struct status_counter requests[STATUS_COUNTERS_MAX];
	size_t n_requests;
	/* Findings of the last reload where it failed (the generation is older), or NULL; they are
	 * shown as problems. Borrowed until the call returns. */
	const struct diag_list *failed;
};

/* Each returns a new JSON value, or NULL without memory. runtime NULL: no pid, no counters. */
json_t *status_json(const struct generation *generation, const struct status_runtime *runtime);
/* The text of .gldriverfs/status.json (owned by the caller): status_json without runtime. */
char *status_text(const struct generation *generation);
/* [{name, value, source}], all facts in the order of enum fact_id. */
json_t *status_facts_json(const struct facts *facts);
/* {on, mode, mode_from, layer, directory, rule, reason, facts[]} */
json_t *status_compat_json(const struct generation *generation);
/* The answer to `facts`: {name, mountpoint, facts[]} */
json_t *status_facts_answer(const struct generation *generation);
/* The answer to a reload or compat that succeeded: {ok, changed, generation, compat{}, problems[]}
 */
json_t *status_change_json(const struct generation *generation, bool changed);
/* An error answer: {error, code, problems[]}. diags may be NULL. Codes: "denied", "request",
 * "missing", "busy", "failed", "too-large". */
json_t *status_error_json(const char *code, const char *text, const struct diag_list *diags);
