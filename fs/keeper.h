/* SPDX-License-Identifier: MIT */
/* keeper: the small process that only holds the resume state and starts the next worker when one
 * ends (DESIGN 6). It never touches the mount. Edge. */
#pragma once

#include "state.h"

struct keeper {
	struct state *state;
	/* How a new version of the program is started in a hand-over: with the state's descriptors
	 * as $LISTEN_FDS (sd_listen_fds(3)) says. */
	const char *program;
	char **arguments;
	/* The worker's life, in a child: starts or goes on by the state's stage. Returns what to
	 * exit with. */
	int (*work)(void *context);
	/* The first worker is started. */
	void (*started)(void *context);
	/* Unmounts what a worker left that nobody comes after. */
	void (*detach)(void *context);
	/* Whether a keeper needs the descriptor, and what it must know of a process that it was
	 * forked from: for keeper_renew. */
	bool (*needs)(void *context, int fd);
	void (*forget)(void *context);
	void *context;
};

/* The names of the state's descriptors for a successor: in $LISTEN_FDNAMES and in systemd's fd
 * store. */
#define KEEPER_STATE     "state"
#define KEEPER_CHEST_IN  "chest-in"
#define KEEPER_CHEST_OUT "chest-out"

/* Starts workers until one ends for good; SIGTERM, SIGINT and SIGHUP go to the worker, SIGUSR2
 * hands over. Returns what to exit with. */
int keeper_run(struct keeper *keeper);
/* In a worker whose keeper is gone: forks another, which is nobody's child. Returns its pid or
 * -errno. */
int keeper_renew(struct keeper *keeper);
