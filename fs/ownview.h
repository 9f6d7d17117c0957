/* SPDX-License-Identifier: MIT */
/* ownview: root's daemon in a mount namespace of its own that does not have its mount: neither it
 * nor a library that it calls can touch that by a path (DESIGN 6). Edge. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

struct ownview;

/* Moves the calling thread, and those that it starts from now on, into a copy of the mount
 * namespace; takes the mounts of `device` off there. Later mounts still come from the first
 * namespace, those of the device among them: st_dev is what tells them. Descriptors of directories
 * go on leading through the first one (rootfs_reenter).
 *
 * *ret_view is NULL where that is not done: without the right to it, and where the root mount has
 * no peer group ("shared:"), so that a copy would miss later mounts. Returns 0 or -errno (the
 * thread is where it was). */
int ownview_enter(dev_t device, struct ownview **ret_view);
/* Runs the work in a thread of the first namespace and waits for it; NULL: in this thread. Paths
 * are the first one's there; /proc/thread-self is the thread's. Returns 0, or -errno: it has not
 * run. */
int ownview_outside(const struct ownview *view, void (*work)(void *context), void *context);
/* In a process that was forked from such a one: moves it back. Returns 0 or -errno. */
int ownview_leave(const struct ownview *view);
/* Whether this descriptor is the view's. */
bool ownview_has(const struct ownview *view, int fd);
/* The namespace itself ends with its last thread. Accepts NULL, returns NULL. */
struct ownview *ownview_free(struct ownview *view);
