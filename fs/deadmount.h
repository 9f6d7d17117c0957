/* SPDX-License-Identifier: MIT */
/* deadmount: whether a mount whose source says that it is ours still has a daemon. Never waits for
 * it: any user's FUSE server can call itself "gldriverfs:…" and not answer. Edge. */
#pragma once

#include <stdbool.h>

#include "mountinfo.h"

enum deadmount_answer {
	DEADMOUNT_ALIVE,
	DEADMOUNT_DEAD,
	DEADMOUNT_SILENT, /* there is a server, and it does not answer */
};

/* Of the topmost mount at a path: asked by a child, for two seconds at most. -errno: there is no
 * child. */
int deadmount_ask(const char *path);
/* Of one that no path leads to, because another mount covers it: whether its instance's control
 * socket has a listener. */
bool deadmount_has_listener(const struct mountinfo_entry *entry);
