/* SPDX-License-Identifier: MIT */
/* touched: what one load has looked at: the directories in which it looked for names, each watched
 * (inotify) before the look, so that no change between the look and the watch is missed. Filled
 * from the threads that read the host, never from the main loop: adding a watch may block where a
 * source hangs. Edge. */
#pragma once

#include "diag.h"
#include "policy.h"
#include "rootfs.h"

struct touched;

/* Names of a directory that was listed, as far as they can matter; temporary names never do. */
struct touched_names {
	bool any;
	bool driver;                        /* driver libraries */
	const char *pattern;                /* a glob, or NULL */
	const struct policy_list *patterns; /* more globs, or NULL */
};

/* inotify: the descriptor (a copy is kept); or a -errno: there is none, and touched_tell says so.
 * Returns 0 or -errno. */
int touched_new(int inotify, struct touched **ret_touched);
struct touched *touched_ref(struct touched *touched);
/* Accepts NULL, returns NULL. */
struct touched *touched_unref(struct touched *touched);

/* touched NULL: nothing is done. Directories on a mount of ours, in a Nix store (whose content
 * never changes), in /proc and in /sys are not watched. A failure is kept for touched_tell. */

/* A name of the directory is looked up: it is absent, a link or a file. Returns whether it is
 * watched only since now: what was seen before has to be looked at again. */
bool touched_name(struct touched *touched, const struct rootfs_node *directory, const char *name);
/* A directory that a name led to; as long as it is not moved or removed the name leads there.
 * Returns as touched_name. */
bool touched_directory(struct touched *touched, const struct rootfs_node *directory);
/* Before the directory is listed. */
void touched_list(struct touched *touched, const struct rootfs_node *directory,
	const struct touched_names *names);
/* Before a regular file of the directory is read: its content matters. */
void touched_content(struct touched *touched, const struct rootfs_node *directory);

/* The load is over: later calls from threads that were given up add nothing. */
void touched_seal(struct touched *touched);
/* Whether an event of inotify(7) tells of a change of what was looked at. name NULL: of the watched
 * directory itself. */
bool touched_matters(struct touched *touched, int wd, uint32_t mask, const char *name);
/* How many directories are watched. Accepts NULL. */
size_t touched_count(struct touched *touched);
/* Takes away the watches of `old` that neither `a` nor `b` has (each may be NULL). */
void touched_release(struct touched *old, struct touched *a, struct touched *b);
/* Adds a finding where directories could not be watched. */
void touched_tell(struct touched *touched, struct diag_list *diags);
