/* SPDX-License-Identifier: MIT */
/* fusermount: mounts and unmounts for users without the right to, by libfuse's setuid helper
 * fusermount3. Edge. */
#pragma once

#include <stdbool.h>

#include "diag.h"

/* Returns the /dev/fuse descriptor of the new mount, or -errno with an error in diags that says
 * what was tried. */
int fusermount_mount(const char *path, const char *options, struct diag_list *diags);
/* Returns 0 or -errno. */
int fusermount_unmount(const char *path, bool lazy);
/* Doubles '\\' and escapes ',' as the helper's option parser wants them (mount_util.c of libfuse).
 * Owned by the caller; NULL without memory. */
char *fusermount_escape(const char *text);
