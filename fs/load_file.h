/* SPDX-License-Identifier: MIT */
/* load_file: one policy file opened with care (a FIFO does not block, a device is not read, a large
 * file is not swallowed) and parsed. Edge, of `load` and `load_tables`. */
#pragma once

#include "inifile.h"
#include "rootfs.h"

#define LOAD_FILE_SIZE_MAX (1024 * 1024)

/* All name the file in an error in diags, except for -ENOMEM and what returns without one as said.
 * may_be_empty: 0 bytes are a file without entries, *ret_file is NULL. */

/* A path of the process' own root. Returns 0, -ENOENT without an error in diags, or -errno. */
int load_file_path(
	const char *path, bool may_be_empty, struct ini_file **ret_file, struct diag_list *diags);
/* The text of a file of the process' own root (owned by the caller, no NUL at its end). Returns 0,
 * -ENOENT without an error in diags, or -errno. */
int load_file_text(const char *path, char **ret_text, size_t *ret_size, struct diag_list *diags);
/* The entry of a walked directory; `name` is for messages. A link that leads nowhere is an error:
 * it stands for a policy that is wanted. Where it may be empty a link to /dev/null is, too
 * (systemd's way to switch a drop-in off). `touched` (may be NULL) is told of the way. Returns 0,
 * 1: there is no such entry, or -errno. */
int load_file_entry(const struct rootfs_node *directory, const char *entry, const char *name,
	bool may_be_empty, struct touched *touched, struct ini_file **ret_file,
	struct diag_list *diags);

/* Adds "name: what: strerror(-r)" to diags unless r is -ENOMEM. Returns r. */
int load_fail(struct diag_list *diags, const char *name, int r, const char *what);
