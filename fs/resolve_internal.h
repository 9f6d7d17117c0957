/* SPDX-License-Identifier: MIT */
/* resolve_internal: what the steps of `resolve` share: own (who owns which SONAME), closure (what
 * is needed), names (what each file is called). Core. */
#pragma once

#include "namemap.h"
#include "pick.h"
#include "resolve.h"

enum resolve_fate {
	FATE_LOST,    /* the verdict is written */
	FATE_WINNER,  /* the file that is served, or a link to it */
	FATE_COPY,    /* another file whose name becomes a link to the served one */
	FATE_VERSION, /* another version: not shown */
	FATE_OWN,     /* has the SONAME but not its stem: served under its own path */
};

/* One candidate that may be served. */
struct resolve_item {
	const struct layer *layer;
	const struct candidate *candidate;
	struct verdict *verdict;
	const char *key;  /* in lib/ the SONAME, else the name; elsewhere the path */
	const char *name; /* of a library in lib/; NULL elsewhere */
	size_t layer_index;
	size_t index; /* among the layer's candidates */
	int rank;     /* 0: the compat layer's, 1: the tegra layer's, 2: by order */
	enum resolve_fate fate;
};

/* All candidates of one key. */
struct resolve_group {
	const char *key;
	struct resolve_item *items; /* the owner layer's first */
	size_t n_items;
	size_t n_own; /* of the owner layer */
	const struct resolve_item *winner;
	const char *served; /* the served file's name in lib/, or its path; set by names */
	enum pick_reason reason;
	bool serves;
	bool waits; /* of the host's CUDA set: served only when something needs it */
	bool kept;  /* it waited and something needs it */
};

struct resolve_job {
	const struct policy *policy;
	struct layer *const *layers;
	size_t n_layers;
	const struct decision *decision;
	struct diag_list *diags;
	struct resolution *resolution;
	struct resolve_item *items; /* sorted by key */
	size_t n_items;
	struct resolve_group *groups;
	size_t n_groups;
	struct pick *picks;         /* one per layer */
	struct namemap names;       /* in lib/ → index of the group */
	struct string_list strings; /* names that the steps made */
};

/* Writes the verdict; served is a path or NULL. Returns 0 or -ENOMEM. */
int resolve_say(struct resolve_item *item, enum verdict_code code, const char *served,
	const char *format, ...) _printf_(4, 5);
/* "SONAME libcuda.so.1" or the path. To be freed; NULL: no memory. */
char *resolve_describe_key(const struct resolve_group *group);

/* Groups the items, finds each group's owner and winner and each item's fate. 0 or -ENOMEM. */
int resolve_own(struct resolve_job *job);
/* Serves the waiting groups that something served needs, and hides the rest. 0 or -ENOMEM. */
int resolve_keep(struct resolve_job *job);
/* Adds files and links to the view and writes the owners' verdicts. 0 or -ENOMEM. */
int resolve_names(struct resolve_job *job);
/* Lists what served libraries need and nothing gives. 0 or -ENOMEM. */
int resolve_unresolved(struct resolve_job *job);
