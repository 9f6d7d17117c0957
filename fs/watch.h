/* SPDX-License-Identifier: MIT */
/* watch: follows changes of what the last load looked at (`touched`): one inotify descriptor, whose
 * events are gathered until things are quiet and then are one reload. Between changes it makes no
 * system call. Edge. */
#pragma once

#include "touched.h"

/* A reload follows when nothing has happened for as long, or at most this long after the first
 * change. */
#define WATCH_QUIET_MS 250
#define WATCH_LIMIT_MS 2000

struct watch;

/* No inotify descriptor is made before the first watch_begin that wants one. Returns 0 or -errno.
 */
int watch_new(struct watch **ret_watch);
/* After the loading thread has ended. Accepts NULL, returns NULL. */
struct watch *watch_free(struct watch *watch);

/* Readable: watch_dispatch has work. */
int watch_fd(const struct watch *watch);
/* Returns whether it is time for a reload. Never blocks. */
bool watch_dispatch(struct watch *watch);
/* How many directories are watched. */
size_t watch_count(struct watch *watch);

/* For the thread that loads, one load after the other. Begin: changes until now are this load's to
 * see, no other reload follows from them. Returns 0 and a reference to what the load is to fill:
 * NULL where nothing is watched and `want` is false; or -errno. */
int watch_begin(struct watch *watch, bool want, struct touched **ret_touched);
/* The load is over. What a successful one looked at replaces all that was watched; what a failed
 * one looked at is watched as well, so that the cure is seen. */
void watch_end(struct watch *watch, struct touched *touched, bool success);
/* Nothing is to be watched: lets go of inotify. */
void watch_off(struct watch *watch);
/* Whether watch_off was called and no watch_begin has wanted one since. */
bool watch_is_off(struct watch *watch);
