/* SPDX-License-Identifier: MIT */
/* life: which processes an instance lives in: a keeper and its workers, or workers whose state a
 * service manager keeps; each begins afresh or goes on where the one before ended. Edge. */
#pragma once

#include "daemon.h"
#include "keeper.h"

/* One process' part of an instance. */
struct life {
	struct daemon_options options;
	struct daemon *daemon; /* NULL until life_begin or life_go_on */
	const char *program;   /* of a successor, with these arguments */
	char **arguments;
	struct keeper keeper;
	bool background;
	bool stored; /* a service manager keeps the state; there is no keeper */
	int parent;  /* who waits for the mount; -1: nobody */
};

/* Prints and clears what a start found; `status` is what came of it. */
void life_print(struct diag_list *diags, enum daemon_exit status);
/* Begins a new instance. Returns what to exit with. */
int life_begin(struct life *life);
/* Goes on with what an earlier process left to this one ($LISTEN_FDS). Returns -1: nothing, else
 * what to exit with. */
int life_take_over(struct life *life);
