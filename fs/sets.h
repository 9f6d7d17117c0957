/* SPDX-License-Identifier: MIT */
/* sets: the CUDA sets that a mount serves: the one that lib/ shows and those that earlier
 * generations showed, each under .gldriverfs/set/<id>/lib whatever is active, so that a running
 * program stays with the libcuda that it has loaded (DESIGN 2, 6). Core. */
#pragma once

#include <stdatomic.h>

#include "decide.h"
#include "view.h"

#define SETS_DIRECTORY ".gldriverfs/set"

enum {
	SETS_ID_SIZE = 9, /* 8 hex digits and the NUL */
	SETS_EARLIER = 8, /* of earlier generations, in use or not */
	SETS_MAX = 64,    /* in all */
};

/* One name in lib/ of a set. All owned, references. */
struct set_entry {
	char *name;
	enum view_kind kind; /* VIEW_FILE, VIEW_LINK */
	char *target;        /* VIEW_LINK */
	char *layer;
	struct source *source;
	struct overlay *overlay;
};

/* Immutable, shared by reference between generations. */
struct cuda_set {
	atomic_uint references;
	char id[SETS_ID_SIZE];
	struct set_entry *entries;
	size_t count;
};

/* The active one first, if there is one, then the latest first. References. */
struct set_list {
	struct cuda_set *items[SETS_MAX];
	size_t count;
	size_t n_dropped; /* earlier ones in use that found no place */
};

/* Whether a program may still load from an earlier set: the kernel holds a file of it. */
struct sets_usage {
	bool (*is_used)(void *context, const struct cuda_set *set); /* NULL: none is used */
	void *context;
};

/* Whether an entry of lib/ is of the active CUDA set: with compat on, all that the compat layer
 * gives; else the CUDA families and what a compat layer may give beside them. */
bool sets_has(const struct decision *decision, const struct view_entry *entry);
/* Whether such a library is bound to its set by its RUNPATH. One whose SONAME ends in the driver's
 * version is not: no other set has the name, and it stays for the host's other libraries. */
bool sets_pins(const struct source *source);
/* The id of the active set: a hash of its files' identities. Returns 1; 0: the view (finished or
 * not) has no CUDA library, *ret_id is ""; or -ENOMEM. */
int sets_identify(struct view *view, const struct decision *decision, char ret_id[SETS_ID_SIZE]);
/* Fills the list: the active set, as the view has it, and then those of the generation before (may
 * be NULL), the latest SETS_EARLIER and those that are used still. Returns 0 or -ENOMEM. */
int sets_collect(struct view *view, const struct decision *decision, const struct set_list *before,
	const struct sets_usage *usage, struct set_list *ret_sets);
/* Adds the set directories to the (unfinished) view. The entries borrow layer names from the list.
 * view->n_entries does not count them. Returns 0 or -ENOMEM. */
int sets_add(struct view *view, const struct decision *decision, const struct set_list *sets);
void sets_clear(struct set_list *sets);
