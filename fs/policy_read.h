/* SPDX-License-Identifier: MIT */
/* policy_read: entries of policy files to settings of known keys, sorted into what holds always and
 * what each profile says. Core, of `policy` only. */
#pragma once

#include "policy.h"
#include "policy_keys.h"

/* Collects errors in diags, the first 20 of them. */
struct policy_errors {
	struct diag_list *diags;
	size_t count;
};
void policy_error(struct policy_errors *errors, const char *file, unsigned line, const char *format,
	...) _printf_(4, 5);

/* One line of a policy. The strings are those of the ini_file except `layer`. */
struct policy_setting {
	const struct policy_key *key; /* NULL: the header of a layer's section */
	char *layer;                  /* SECTION_LAYER: its name, owned */
	const char *text;             /* the value */
	const char *file;             /* NULL: built in */
	unsigned line;
	unsigned stage; /* which file, from 1 */
};

struct policy_settings {
	struct policy_setting *items;
	size_t count;
	size_t capacity;
};

struct policy_profile {
	char *name;
	struct policy_settings settings;
};

struct policy_text {
	struct policy_settings base;
	struct policy_settings override;
	struct policy_profile *profiles;
	size_t n_profiles;
	size_t profiles_capacity;
};

/* Reads all files of the input after `builtin`, whose layers are dropped if a file has any. Errors
 * go to errors. Returns 0 or -ENOMEM. The text points into the files. */
int policy_read(const struct policy_input *input, const struct ini_file *builtin,
	struct policy_text *ret_text, struct policy_errors *errors);
void policy_text_clear(struct policy_text *text);
/* NULL: there is none. */
const struct policy_profile *policy_text_profile(const struct policy_text *text, const char *name);

/* The built-in policy as INI text. */
extern const char policy_builtin_text[];
