/* SPDX-License-Identifier: MIT */
/* load: finds and reads the policy files of an instance (DESIGN 4). Edge. */
#pragma once

#include "policy.h"
#include "rootfs.h"

struct load_request {
	struct rootfs *root;     /* the policy directories are searched in it */
	const char *config;      /* --config FILE (of the real root): replaces all; NULL */
	const char *name;        /* the instance */
	bool user;               /* XDG_CONFIG_HOME and XDG_RUNTIME_DIR before /etc and /usr */
	const char *config_home; /* users: absolute $XDG_CONFIG_HOME or its default; NULL */
	const char *runtime_dir; /* users: $XDG_RUNTIME_DIR; NULL */
	const char *override;    /* path of the runtime override (real root); NULL: none is read */
	struct touched *touched; /* told of what is looked at, the override aside; NULL: nobody */
};

struct load_result {
	struct policy *policy;
	struct string_list files; /* that were read, in order */
};

/* Loads, with `profile` (may be NULL) on top. Returns 0, -EINVAL (errors with file:line in diags),
 * -ENOENT: the --config file is missing, or -errno, always with an error in diags. */
int load_policy(const struct load_request *request, const char *profile,
	struct load_result *ret_result, struct diag_list *diags);
void load_result_clear(struct load_result *result);
