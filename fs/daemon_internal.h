/* SPDX-License-Identifier: MIT */
/* daemon_internal: what the daemon's parts share: finding its mountpoint (daemon_open.c), starting
 * (daemon_start.c), serving (daemon.c), its clients (daemon_ctl.c) and the service manager
 * (daemon_notify.c). Edge. */
#pragma once

#include "ctl.h"
#include "daemon.h"
#include "mount.h"
#include "names.h"
#include "oncelog.h"
#include "ownview.h"
#include "reload.h"
#include "resume.h"

struct daemon {
	struct daemon_options options;
	bool user;
	struct names names;
	struct mountpoint point;
	struct ownview *ownview; /* NULL: this process sees its mount */
	struct state *state;
	struct resume resume;
	struct resume_loaded loaded; /* of a predecessor */
	struct rootfs *root;
	struct rootfs *under;
	struct scan_cache *cache;
	struct driver_probe_cache *driver_probes;
	struct plan_cache *plans;
	struct fdpool *pool;
	struct tree *tree;
	struct ops ops;
	struct session *session;
	struct reload *reload;
	struct watch *watch;
	struct ctl *ctl;
	struct pipeline_request pipeline;
	struct diag_list failed; /* findings of the last reload, when it failed */
	bool reload_failed;
	struct oncelog oncelog;
	int epoll;
	int signals;
	int ended; /* eventfd: the connection is gone */
	int (*renew_keeper)(void *context);
	void *renew_context;
	int keeper;   /* pidfd of the keeper; -1: there is none */
	int watchdog; /* timerfd; -1: the service manager has none for this process */
};

/* Listens on the control socket. Returns 0, -EADDRINUSE: a daemon answers there, or -errno, with an
 * error in diags. */
int daemon_listen(struct daemon *daemon, struct diag_list *diags);
/* Tells the service manager generation, compat, and whether the last reload failed (STATUS=). */
void daemon_tell_status(const struct daemon *daemon);
/* Makes the timer where the service manager asks for signs of life. Returns 0 or -errno. */
int daemon_arm_watchdog(struct daemon *daemon);
/* The timer is readable: gives one. */
void daemon_feed_watchdog(struct daemon *daemon);
