/* SPDX-License-Identifier: MIT */
/* ops: the FUSE requests: each is decoded, one call of `tree`, one reply. Edge.
 *
 * OPEN and OPENDIR are answered with ENOSYS once and never asked again (FUSE.md 1): the page cache
 * and the cached listings stay, there are no handles, and a replaced entry must be invalidated by
 * `invalidate`. */
#pragma once

#include <stdatomic.h>

#include <fuse_lowlevel.h>

#include "tree.h"

enum ops_request {
	OPS_LOOKUP,
	OPS_FORGET,
	OPS_GETATTR,
	OPS_READLINK,
	OPS_OPEN,
	OPS_READ,
	OPS_OPENDIR,
	OPS_READDIR,
	OPS_STATFS,
	OPS_GETXATTR,
	OPS_LISTXATTR,
	OPS_COUNT
};

/* What the handlers work with; fuse_session_new's userdata. */
struct ops {
	struct tree *tree;
	struct fdpool *pool;
	bool no_cache; /* each operation reaches the daemon: timeouts 0, opens answered */
	/* A served file was changed in place: a reload should start. May be NULL. */
	void (*changed)(void *context);
	void *context;
	/* The session's: around what may wait for a host's device. waits returns 0, or -errno: the
	 * device does not answer, it must not be asked now, waited must not be called. NULL: there
	 * is no session. */
	int (*waits)(dev_t device);
	void (*waited)(void);
	atomic_ullong counts[OPS_COUNT];
};

extern const struct fuse_lowlevel_ops ops_table;

/* "lookup", "getattr" … as the status shows them. */
const char *ops_request_name(enum ops_request request);
