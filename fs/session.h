/* SPDX-License-Identifier: MIT */
/* session: the FUSE session on an open /dev/fuse descriptor and the threads that answer its
 * requests. Edge. */
#pragma once

#include "ops.h"
#include "state.h"

struct session;

struct session_options {
	int fd; /* /dev/fuse of a mount that exists already; taken over, closed on failure too */
	struct ops *ops;
	/* Where each request lies from its reading to its answer; outlives the session. */
	struct state *state;
	/* Called from a worker when the connection is gone (unmounted from outside). */
	void (*ended)(void *context);
	void *context;
};

/* Returns 0, -EIO (libfuse refused) or -ENOMEM. */
int session_new(const struct session_options *options, struct session **ret_session);
/* Before session_start, in a process that takes over: negotiates what the first one did. Requests
 * that are under way are answered by the workers. */
void session_resume(struct session *session);
/* Starts the workers. Signals are blocked in them. Returns 0 or -errno. */
int session_start(struct session *session);
/* Stops the workers; one that hangs in a host's file system is given up after a second. Returns
 * whether all have ended: only then may be freed what they use. NULL has none. */
bool session_stop(struct session *session);
/* After one that returned false: lets go of the connection all the same. NULL has none. */
void session_abandon(struct session *session);
/* After a session_stop that returned true. Closes the descriptor, which ends a connection that
 * still has users. Accepts NULL, returns NULL. */
struct session *session_free(struct session *session);

/* To be called from no worker and with no lock that a handler takes (FUSE.md 2). They return 0,
 * -ENOENT (the kernel does not know the name or node), or -errno. */
int session_invalidate_entry(struct session *session, uint32_t parent, const char *name);
/* The cached listing of a directory; attributes only: of any node. */
int session_invalidate_listing(struct session *session, uint32_t ino);
int session_invalidate_attributes(struct session *session, uint32_t ino);
