/* SPDX-License-Identifier: MIT */
/* policy: the meaning of the policy files: merged, checked and immutable (DESIGN 4). Core. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "diag.h"
#include "inifile.h"

enum policy_present { PRESENT_AUTO, PRESENT_FILE, PRESENT_SYMLINK };
enum policy_machine { MACHINE_X86_64, MACHINE_I386, MACHINE_AARCH64, MACHINE_ARMHF };
enum compat_mode { COMPAT_AUTO, COMPAT_ON, COMPAT_OFF };
enum layer_role { ROLE_COMPAT, ROLE_TEGRA, ROLE_HOST, ROLE_EXTRA };
/* How a layer finds the machine's driver by itself. */
enum layer_discover { DISCOVER_NONE, DISCOVER_L4T, DISCOVER_LDCACHE, DISCOVER_AUTO };

/* A value and where it was written. file is NULL for a built-in value. */
struct policy_value {
	char *text;
	char *file;
	unsigned line;
};

struct policy_list {
	struct policy_value *items;
	size_t count;
	size_t capacity;
};

struct policy_layer {
	char *name;
	char *file; /* of its (last) section header, NULL for a built-in layer */
	unsigned line;
	enum layer_role role;
	int order;
	bool enabled;
	bool optional;
	bool trust;
	bool under;
	enum layer_discover discover;
	struct policy_list dirs;
	struct policy_list trees;
	struct policy_list csvs;     /* container lists: files, or directories of *.csv */
	struct policy_list cdis;     /* CDI specs: files, or directories of *.json */
	struct policy_list includes; /* patterns as fnmatch(3) has them, on file names */
	struct policy_list excludes;
	struct policy_value root; /* text NULL: the machine's own */
	struct policy_value cuda; /* text NULL: to be detected; else "MAJOR.MINOR" */
};

struct policy {
	char *mountpoint; /* absolute, normalised; NULL: none given */
	enum policy_present present;
	enum policy_machine machine;
	char *runpath;   /* as written */
	int allow_other; /* 1 yes, 0 no, -1 not said: yes for root, no for users */
	bool watch;
	bool driver_probe;
	char *profile; /* the one in force: the wanted one, else the active one; NULL: none */
	enum compat_mode compat_mode;
	struct policy_value compat_mode_from; /* who said so; text NULL: the default */
	bool compat_unknown;                  /* on-unknown = on */
	struct policy_layer *layers; /* sorted by order, then as written; enabled ones only */
	size_t n_layers;
	struct string_list profiles; /* names, the built-in ones included */
};

/* What a policy is made of. All pointers are the caller's. */
struct policy_input {
	const struct ini_file *const *files; /* main file, then drop-ins, in order */
	size_t n_files;
	const struct ini_file *override; /* the runtime override, or NULL */
	/* The profile whose view is wanted: files, override, and this one, which wins (the active
	 * one is left out); or NULL. */
	const char *profile;
	bool user; /* not the system's: a mountpoint in /etc or /usr is ignored */
};

/* Merges and checks. Returns 0 and the policy (policy_free), -EINVAL with errors in diags (each
 * with file:line), or -ENOMEM. Without files it is the built-in policy. */
int policy_build(
	const struct policy_input *input, struct policy **ret_policy, struct diag_list *diags);
/* Accepts NULL, returns NULL. */
struct policy *policy_free(struct policy *policy);
void policy_freep(struct policy **policy);

/* A layer that outlives its policy (policy_layer_clear). Returns 0 or -ENOMEM. */
int policy_layer_copy(const struct policy_layer *from, struct policy_layer *ret_layer);
void policy_layer_clear(struct policy_layer *layer);

/* The field's words for the enumerations, as written in a policy: "auto", "x86_64", "compat" … */
const char *policy_present_name(enum policy_present present);
const char *policy_machine_name(enum policy_machine machine);
const char *compat_mode_name(enum compat_mode mode);
const char *layer_role_name(enum layer_role role);
const char *layer_discover_name(enum layer_discover discover);
/* Returns 0 and the mode, or -EINVAL. */
int compat_mode_parse(const char *text, enum compat_mode *ret_mode);
/* The machine that this program was built for. */
enum policy_machine policy_machine_native(void);
