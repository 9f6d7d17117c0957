/* SPDX-License-Identifier: MIT */
/* holders: the programs that have mapped files of a mount, from /proc (proc(5)). Reads no mount
 * itself. Edge. */
#pragma once

#include <sys/types.h>

/* "name (pid), …" of the processes, this one's rights allowing, that have mapped files of the
 * device (as st_dev); the first of them and "N more" where they are many. Empty: none; NULL without
 * memory. */
char *holders_text(dev_t device);
