/* SPDX-License-Identifier: MIT */
/* daemon: one instance from its first load to its end: mount, session, reloads, control socket,
 * main loop. Edge. */
#pragma once

#include "diag.h"

enum daemon_exit {
	DAEMON_DONE = 0,
	DAEMON_MOUNT_FAILED = 1,
	DAEMON_POLICY = 2, /* usage, too */
	DAEMON_SERVED = 3,
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
/* Loads, mounts, answers. Threads start here. Returns as daemon_new. */
enum daemon_exit daemon_start(struct daemon *daemon, struct diag_list *diags);
/* Serves until SIGTERM, SIGINT, or an unmount from outside. Returns 0. */
int daemon_run(struct daemon *daemon);
/* Unmounts and frees. Accepts NULL, returns NULL. */
struct daemon *daemon_free(struct daemon *daemon);
