/* SPDX-License-Identifier: MIT */
#include "daemon_internal.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <syslog.h>
#include <unistd.h>

#include "crash.h"
#include "holders.h"
#include "log.h"

/* Tells who asked, and the log. */
static void finish_reload(struct daemon *daemon, struct reload_result *result)
{
	const struct generation *generation = result->generation;
	json_t *reply;

	diag_clear(&daemon->failed);
	daemon->reload_failed = result->error < 0;
	if (result->error < 0) {
		_cleanup_(freep) char *text = diag_first_error(&result->diags);

		diag_append(&daemon->failed, &result->diags);
		log_message(LOG_ERR, "reload failed, the old view stays: %s",
			text ? text : strerror(-result->error));
		reply = status_error_json(
			"failed", text ? text : strerror(-result->error), &result->diags);
	} else {
		oncelog_update(&daemon->oncelog, generation);
		if (result->changed) {
			log_message(LOG_INFO, "generation %.8s: compat %s (%s)",
				generation->view->id, generation->decision.on ? "on" : "off",
				generation->decision.reason);
		}
		reply = status_change_json(generation, result->changed);
	}
	daemon_tell_status(daemon);
	if (result->client)
		ctl_reply(daemon->ctl, result->client, reply);
	else
		json_decref(reply);
}

enum event { GO_ON, STOP, HAND_OVER };

static enum event handle_signals(struct daemon *daemon)
{
	struct signalfd_siginfo info;

	while (read(daemon->signals, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo == SIGUSR2)
			return HAND_OVER;
		if (info.ssi_signo != SIGHUP)
			return STOP;
		reload_request(daemon->reload, 0, NULL);
	}
	return GO_ON;
}

/* A copy of the descriptor may be in the new keeper for a moment: it must be taken out by hand. */
static void forget_keeper(struct daemon *daemon)
{
	if (daemon->keeper < 0)
		return;
	epoll_ctl(daemon->epoll, EPOLL_CTL_DEL, daemon->keeper, NULL);
	close(steal_fd(&daemon->keeper));
}

/* Watches the process that would start a successor. One that is gone already is replaced. */
static void watch_keeper(struct daemon *daemon)
{
	struct epoll_event event = { .events = EPOLLIN };
	pid_t keeper = atomic_load(&daemon->state->memory->keeper);

	if (keeper == 0 || !daemon->renew_keeper)
		return;
	daemon->keeper = (int)syscall(SYS_pidfd_open, keeper, 0);
	if (daemon->keeper < 0 && errno == ESRCH)
		daemon->keeper = eventfd(1, EFD_CLOEXEC); /* readable at once, as a dead one's */
	event.data.fd = daemon->keeper;
	if (daemon->keeper < 0 ||
		epoll_ctl(daemon->epoll, EPOLL_CTL_ADD, daemon->keeper, &event) < 0)
		log_message(
			LOG_WARNING, "the keeper process cannot be watched: %s", strerror(errno));
}

static void renew_keeper(struct daemon *daemon)
{
	int keeper;

	forget_keeper(daemon);
	keeper = daemon->renew_keeper(daemon->renew_context);
	if (keeper < 0) {
		log_message(LOG_ERR, "the keeper process is gone and there is no other: %s",
			strerror(-keeper));
		return;
	}
	log_message(LOG_WARNING, "the keeper process was gone: %d is the new one", keeper);
	watch_keeper(daemon);
}

static enum event wait_for_event(struct daemon *daemon)
{
	struct epoll_event event;
	int ready = epoll_wait(daemon->epoll, &event, 1, ctl_timeout(daemon->ctl));

	if (ready < 0 && errno != EINTR)
		return STOP;
	if (ready == 1 && event.data.fd == daemon->ended)
		return STOP;
	if (ready == 1 && event.data.fd == daemon->signals)
		return handle_signals(daemon);
	if (ready == 1 && event.data.fd == daemon->keeper)
		renew_keeper(daemon);
	if (ready == 1 && event.data.fd == daemon->watchdog)
		daemon_feed_watchdog(daemon);
	if (ready == 1 && event.data.fd == watch_fd(daemon->watch) && watch_dispatch(daemon->watch))
		reload_request(daemon->reload, 0, NULL);
	return GO_ON;
}

bool daemon_run(struct daemon *daemon)
{
	watch_keeper(daemon);
	for (;;) {
		struct reload_result result;
		enum event event = wait_for_event(daemon);

		if (event != GO_ON)
			return event == STOP;
		while (reload_take(daemon->reload, &result)) {
			finish_reload(daemon, &result);
			reload_result_clear(&result);
		}
		ctl_dispatch(daemon->ctl);
	}
}

struct stop {
	struct mountpoint *point;
	bool lazy;
	int error;
};

static void unmount_outside(void *context)
{
	struct stop *stop = context;

	stop->error = mount_stop(stop->point, &stop->lazy);
}

/* Unmounts, and names the programs that are hurt. They are served until the session ends. */
static void stop_mount(struct daemon *daemon)
{
	dev_t device = daemon->point.device;
	_cleanup_(freep) char *holders = NULL;
	struct stop stop = { .point = &daemon->point };

	if (ownview_outside(daemon->ownview, unmount_outside, &stop) < 0 || stop.error < 0) {
		log_message(LOG_ERR, "%s cannot be unmounted", daemon->point.path);
	} else if (stop.lazy) {
		holders = holders_text(device);
		if (holders && *holders)
			log_message(LOG_WARNING,
				"%s is in use: detached; programs that have mapped files of it "
				"lose what they have not read yet: %s",
				daemon->point.path, holders);
		else
			log_message(LOG_WARNING, "%s is in use: detached", daemon->point.path);
	}
}

void daemon_set_renew(struct daemon *daemon, int (*renew)(void *context), void *context)
{
	daemon->renew_keeper = renew;
	daemon->renew_context = context;
}

void daemon_hand_over(struct daemon *daemon)
{
	pid_t keeper = atomic_load(&daemon->state->memory->keeper);
	bool hangs = !reload_stop(daemon->reload);

	hangs = !session_stop(daemon->session) || hangs;
	atomic_store(&daemon->state->memory->handover, 1);
	/* This process may not end before a hung thread does; the keeper is not to wait for it. */
	if (hangs && keeper > 0)
		(void)kill(keeper, SIGUSR2);
}

void daemon_give_way(struct daemon *daemon)
{
	(void)reload_stop(daemon->reload);
	(void)session_stop(daemon->session);
	atomic_store(&daemon->state->memory->replied, 0);
	atomic_store(&daemon->state->memory->crashed, 1);
}

void daemon_detach(struct daemon *daemon)
{
	const struct state_memory *memory = daemon->state->memory;

	daemon->point.device = memory->device;
	daemon->point.id = memory->mount_id;
	if (daemon->point.device == 0)
		(void)mount_find(&daemon->point, daemon->names.name);
	stop_mount(daemon);
}

void daemon_forget(struct daemon *daemon)
{
	int error = daemon->ownview ? ownview_leave(daemon->ownview) : 0;

	if (error < 0)
		log_message(
			LOG_ERR, "the keeper process does not see the mount: %s", strerror(-error));
	daemon->ownview = ownview_free(daemon->ownview);
	if (daemon->root)
		rootfs_reenter(daemon->root);
	daemon->ctl = NULL;
	daemon->reload = NULL;
	daemon->session = NULL;
	daemon->tree = NULL;
	daemon->cache = NULL;
	daemon->driver_probes = NULL;
	daemon->plans = NULL;
	daemon->watch = NULL;
	daemon->pool = NULL;
	daemon->epoll = daemon->signals = daemon->ended = daemon->keeper = daemon->watchdog = -1;
	daemon->loaded = (struct resume_loaded){ .fuse = -1, .listener = -1 };
	daemon->oncelog = (struct oncelog){ 0 };
	daemon->failed = (struct diag_list){ 0 };
	daemon->reload_failed = false;
}

bool daemon_needs(const struct daemon *daemon, int fd)
{
	const struct state *state = daemon->state;

	return fd == daemon->root->fd || fd == daemon->point.fd || fd == state->fd ||
	       fd == state->chest.in || fd == state->chest.out ||
	       (daemon->under && fd == daemon->under->fd) || ownview_has(daemon->ownview, fd);
}

/* Unmounts what is mounted, and says so to the keeper. */
static void end_mount(struct daemon *daemon)
{
	bool mounted = daemon->state && (state_stage(daemon->state) == STATE_MOUNTED ||
						state_stage(daemon->state) == STATE_MOUNTING);

	if (mounted)
		atomic_store(&daemon->state->memory->stage, STATE_STOPPING);
	stop_mount(daemon);
	if (mounted)
		atomic_store(&daemon->state->memory->stage, STATE_ENDED);
}

/* The process may not end before its hung thread does, and then its descriptors would keep the
 * connection, and whoever uses the detached mount waiting. The keeper must not wait either. */
static void abandon(struct daemon *daemon)
{
	pid_t keeper = daemon->state ? atomic_load(&daemon->state->memory->keeper) : 0;

	session_abandon(daemon->session);
	if (!daemon->state)
		return;
	closep(&daemon->state->chest.in);
	closep(&daemon->state->chest.out);
	if (keeper > 0)
		(void)kill(keeper, SIGTERM);
}

struct daemon *daemon_free(struct daemon *daemon)
{
	if (!daemon)
		return NULL;
	daemon->ctl = ctl_free(daemon->ctl);
	end_mount(daemon);
	/* A thread that hangs in a source's file system keeps what it uses until the process ends.
	 */
	if (!reload_stop(daemon->reload) || !session_stop(daemon->session) ||
		scan_cache_in_use(daemon->cache)) {
		abandon(daemon);
		return NULL;
	}
	reload_free(daemon->reload);
	session_free(daemon->session);
	resume_loaded_clear(&daemon->loaded);
	crash_watch(NULL);
	tree_free(daemon->tree);
	scan_cache_free(daemon->cache);
	driver_probe_cache_free(daemon->driver_probes);
	plan_cache_free(daemon->plans);
	watch_free(daemon->watch);
	fdpool_free(daemon->pool);
	ownview_free(daemon->ownview);
	rootfs_unref(daemon->under);
	rootfs_unref(daemon->root);
	mountpoint_clear(&daemon->point);
	names_clear(&daemon->names);
	diag_clear(&daemon->failed);
	oncelog_clear(&daemon->oncelog);
	closep(&daemon->epoll);
	closep(&daemon->signals);
	closep(&daemon->ended);
	closep(&daemon->keeper);
	closep(&daemon->watchdog);
	state_free(daemon->state);
	free(daemon);
	return NULL;
}
