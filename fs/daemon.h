/* SPDX-License-Identifier: MIT */
/* daemon: one instance from its first load to its end: mount, session, reloads, control socket,
 * main loop. Edge. */
#pragma once

#include "diag.h"
#include "state.h"

enum daemon_exit {
	DAEMON_DONE = 0,
	DAEMON_MOUNT_FAILED = 1,
	DAEMON_POLICY = 2, /* usage, too */
	DAEMON_SERVED = 3,
	/* What the process before left could not be taken over this time: another one may. */
	DAEMON_AGAIN = 4,
	/* Between the daemon's own processes: what the process before left cannot be used. */
	DAEMON_UNUSABLE = 99,
};

struct daemon_options {
	const char *config;     /* --config, NULL */
	const char *root;       /* --root, NULL: "/" */
	const char *name;       /* --name, NULL */
	const char *mountpoint; /* absolute, NULL: the policy's, else the default one */
	bool no_cache;
};

struct daemon;

/* Loads the policy as far as the mountpoint needs it, checks that nobody serves it. The directory
 * is not covered yet. Returns DAEMON_DONE and the daemon, or what to exit with, with errors in
 * diags. */
enum daemon_exit daemon_new(
	const struct daemon_options *options, struct daemon **ret_daemon, struct diag_list *diags);
/* Name and canonical mountpoint of the instance. */
const char *daemon_name(const struct daemon *daemon);
const char *daemon_mountpoint(const struct daemon *daemon);
/* A process that takes over: named by the state, which it owns from now on (freed on failure too).
 */
enum daemon_exit daemon_adopt(const struct daemon_options *options, struct state *state,
	struct daemon **ret_daemon, struct diag_list *diags);
/* What makes another keeper when the one that the state names is gone: returns its pid or -errno.
 */
void daemon_set_renew(struct daemon *daemon, int (*renew)(void *context), void *context);
/* Makes fresh resume state. Returns 0 or -errno. */
int daemon_make_state(struct daemon *daemon);
struct state *daemon_state(const struct daemon *daemon);
/* Loads, mounts, answers; or goes on where the process before ended, by the state's stage. Threads
 * start here. Returns as daemon_new; DAEMON_UNUSABLE: nothing can be made of the state. */
enum daemon_exit daemon_start(struct daemon *daemon, struct diag_list *diags);
/* Serves until SIGTERM, SIGINT, or an unmount from outside: returns true; or until SIGUSR2: false.
 */
bool daemon_run(struct daemon *daemon);
/* Ends the threads so that a successor can go on; the process exits then. */
void daemon_hand_over(struct daemon *daemon);
/* After a daemon_start that could not go on where the process before ended: counts as a restart
 * that failed, whatever was answered meanwhile. The process exits then. */
void daemon_give_way(struct daemon *daemon);
/* Takes off what is mounted by a process that is gone. */
void daemon_detach(struct daemon *daemon);
/* After a fork from a process that serves: nothing of what serves is there any more. */
void daemon_forget(struct daemon *daemon);
/* Whether a keeper needs this descriptor. */
bool daemon_needs(const struct daemon *daemon, int fd);
/* Unmounts and frees. Accepts NULL, returns NULL. */
struct daemon *daemon_free(struct daemon *daemon);
