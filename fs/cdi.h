/* SPDX-License-Identifier: MIT */
/* cdi: the host files that a Container Device Interface spec mounts (FACTS.md 5). Core. */
#pragma once

#include <stddef.h>

#include "diag.h"

struct cdi_mount {
	char *host_path;      /* absolute */
	char *container_path; /* absolute; where the file belongs */
};

/* Zero-initialised is empty. */
struct cdi {
	struct cdi_mount *items;
	size_t count;
	size_t capacity;
};

/* Appends the mounts of containerEdits, then of each device's. Only JSON is read: YAML and whatever
 * is no spec is -EINVAL with *ret_why (owned by the caller). A mount without absolute paths is a
 * warning. Returns 0, -EINVAL, or -ENOMEM. */
int cdi_parse(const char *file, const char *text, size_t size, struct cdi *ret_cdi,
	struct diag_list *diags, char **ret_why);
/* Frees the items; the list is empty afterwards. Fits _cleanup_. */
void cdi_clear(struct cdi *cdi);
/* Whether a file of that name in a directory is a spec that is read ("*.json"), or one that would
 * have to be JSON ("*.yaml", "*.yml"). */
bool cdi_is_json(const char *name);
bool cdi_is_yaml(const char *name);
