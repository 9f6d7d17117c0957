/* SPDX-License-Identifier: MIT */
/* find: which daemon is meant (DESIGN 7): by --mount or --name, else the user's own, else the
 * system's. */
#pragma once

#include <sys/types.h>

#include "cmd.h"

struct find_target {
	char *name;
	char *mountpoint; /* NULL: only the socket is known */
	char *socket;
	uid_t owner;
};

/* Returns TOOL_DONE and the target, or, with a message printed, TOOL_USAGE: several are meant,
 * TOOL_NO_DAEMON, TOOL_FAILED. */
int find_daemon(const struct tool *tool, struct find_target *ret_target);
void find_target_clear(struct find_target *target);
