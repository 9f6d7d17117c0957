/* SPDX-License-Identifier: MIT */
/* policy_merge: settings applied one after the other to a policy in the making; which of two wins,
 * and who said it. Core, of `policy` only. */
#pragma once

#include "policy_read.h"

/* Who set a key last. */
struct policy_origin {
	const char *file; /* NULL: built in */
	unsigned line;
	unsigned stage; /* 0: nobody */
};

struct policy_merge_layer {
	struct policy_layer layer;
	struct policy_origin origins[POLICY_KEY_COUNT];
};

struct policy_merge {
	struct policy *policy; /* without layers */
	struct policy_origin origins[POLICY_KEY_COUNT];
	struct policy_merge_layer **layers;
	size_t n_layers;
	size_t layers_capacity;
	/* Trial of a profile: the layers that it may change are those of this merge. */
	const struct policy_merge *known;
	struct policy_errors *errors;
};

/* A value or list item with its origin; line 0 where file is NULL. Strings are copied. Return 0 or
 * -ENOMEM with nothing changed. */
int policy_value_set(struct policy_value *value, const char *text, const char *file, unsigned line);
int policy_list_add(struct policy_list *list, const char *text, const char *file, unsigned line);
void policy_value_clear(struct policy_value *value);
void policy_list_clear(struct policy_list *list);

/* Starts with the defaults. Returns 0 or -ENOMEM. */
int policy_merge_init(struct policy_merge *merge, struct policy_errors *errors);
void policy_merge_clear(struct policy_merge *merge);

/* Applies the settings; `stage` is added to their own, so that later ones win over all before. Bad
 * values and duplicates go to errors. Returns 0 or -ENOMEM. */
int policy_merge_apply(
	struct policy_merge *merge, const struct policy_settings *settings, unsigned stage);

/* Checks that each layer has a role (its name's, if none is given) and a source: the files' own, so
 * that it does not depend on the profile in force. */
void policy_merge_check(struct policy_merge *merge);
/* Checks that a profile's trial leaves each layer a source. */
void policy_merge_check_trial(struct policy_merge *trial);

/* Warns of what this version cannot do, and gives the policy its layers in their order. Returns 0
 * or -ENOMEM; the merge is empty afterwards where the errors are 0. */
int policy_merge_finish(struct policy_merge *merge, struct policy **ret_policy);
