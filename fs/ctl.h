/* SPDX-License-Identifier: MIT */
/* ctl: the server side of the control socket (DESIGN 7). One epoll descriptor for the daemon's main
 * loop, clients that never block it; a connection is one request line and one reply line. Edge. */
#pragma once

#include <stdint.h>
#include <sys/types.h>

#include "ctlsocket.h"
#include "status.h"

#define CTL_REQUEST_MAX (64 * 1024)
#define CTL_REPLY_MAX   (16 * 1024 * 1024)

/* Called by ctl_dispatch, in its thread. */
struct ctl_callbacks {
	/* A new reference to the published generation; never NULL. */
	struct generation *(*current)(void *context);
	/* Fills *ret_runtime (zeroed before). Returns 0 or -errno. */
	int (*runtime)(void *context, struct status_runtime *ret_runtime);
	/* Each starts the change and returns 0: the answer comes by ctl_reply(client), at once or
	 * later. -errno: refused, the client is told so and ctl_reply must not be called. */
	int (*reload)(void *context, uint64_t client);
	/* mode: "auto", "on", "off"; NULL: the override's entry goes ("reset"). */
	int (*compat)(void *context, const char *mode, uint64_t client);
};

struct ctl_options {
	const char *path; /* of the socket; its directory is made when missing */
	/* An earlier process' listening descriptor for that path, taken over; 0: none. */
	int listener;
	struct ctlsocket_identity identity; /* of its socket */
	uid_t owner;                        /* may change, as root may */
	unsigned timeout_ms; /* for a whole request, and for a client that does not read; 0: 5000 */
	unsigned max_clients; /* at once, the others wait in the backlog; 0: 64 */
	struct ctl_callbacks callbacks;
	void *context;
};

struct ctl;

/* Listens. A dead daemon's socket is replaced. Returns 0, -EADDRINUSE: a daemon answers there, or
 * -errno. */
int ctl_new(const struct ctl_options *options, struct ctl **ret_ctl);
/* Closes all clients (a waiting one gets no reply) and removes the socket if it is still this one.
 * Accepts NULL, returns NULL. */
struct ctl *ctl_free(struct ctl *ctl);
/* The listening descriptor (stays ctl's) and its socket. */
int ctl_listener(const struct ctl *ctl, struct ctlsocket_identity *ret_identity);
/* These accept NULL, as one that nobody ever connects to.
 *
 * Readable: ctl_dispatch has work; -1: never. */
int ctl_fd(const struct ctl *ctl);
/* Milliseconds until ctl_dispatch must be called even so; -1: no client waits for anything. */
int ctl_timeout(const struct ctl *ctl);
/* Does what can be done without blocking. */
void ctl_dispatch(struct ctl *ctl);
/* Answers a client of reload or compat; takes reply (status_change_json, status_error_json; NULL:
 * no memory). A client that is gone is no error. Only in ctl_dispatch's thread. */
void ctl_reply(struct ctl *ctl, uint64_t client, json_t *reply);
