/* SPDX-License-Identifier: MIT */
#include "life.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <syslog.h>
#include <unistd.h>

#include "launch.h"
#include "log.h"
#include "notify.h"

void life_print(struct diag_list *diags, enum daemon_exit status)
{
	log_diags(diags);
	if (status != DAEMON_DONE && diag_count(diags, DIAG_ERROR) == 0)
		log_message(LOG_ERR, "cannot start: memory or descriptors are short");
	diag_clear(diags);
}

/* The service manager forgets what it keeps: the connection ends. */
static void unstore(void)
{
	(void)notify_unstore(KEEPER_STATE);
	(void)notify_unstore(KEEPER_CHEST_IN);
	(void)notify_unstore(KEEPER_CHEST_OUT);
}

static int store(const struct state *state)
{
	int error = notify_store(KEEPER_STATE, state->fd);

	if (error == 0)
		error = notify_store(KEEPER_CHEST_IN, state->chest.in);
	return error == 0 ? notify_store(KEEPER_CHEST_OUT, state->chest.out) : error;
}

/* Nobody comes after a worker that could not start; one that could not take over leaves what it
 * found to the next one. Returns what to exit with. */
static int fail(struct life *life, enum daemon_exit status, bool resumes)
{
	if (resumes) {
		daemon_give_way(life->daemon);
		return status == DAEMON_UNUSABLE ? DAEMON_UNUSABLE : DAEMON_AGAIN;
	}
	atomic_store(&daemon_state(life->daemon)->memory->exit_status, (int)status);
	daemon_free(life->daemon); /* who waits finds nothing of it */
	if (life->parent >= 0)
		launch_tell(life->parent, status);
	return (int)status;
}

static void say_ready(struct life *life, bool resumes)
{
	if (life->background && !resumes)
		launch_leave_terminal();
	if (life->parent >= 0)
		launch_tell(life->parent, DAEMON_DONE);
	else if (!resumes)
		log_message(LOG_INFO, "%s answers", daemon_mountpoint(life->daemon));
	if (resumes)
		log_message(LOG_NOTICE, "%s: the worker %d took over",
			daemon_mountpoint(life->daemon), (int)getpid());
	(void)notify_send("READY=1");
}

/* A worker's life. */
static int work(void *context)
{
	_cleanup_(diag_clear) struct diag_list diags = { 0 };
	struct life *life = context;
	struct state *state = daemon_state(life->daemon);
	bool resumes = state_stage(state) != STATE_FRESH;
	enum daemon_exit status = daemon_start(life->daemon, &diags);

	life_print(&diags, status);
	if (status)
		return fail(life, status, resumes);
	say_ready(life, resumes);
	if (!daemon_run(life->daemon)) {
		daemon_hand_over(life->daemon);
		_exit(DAEMON_DONE); /* what it had is the successor's */
	}
	(void)notify_send("STOPPING=1");
	daemon_free(life->daemon);
	if (life->stored)
		unstore();
	return DAEMON_DONE;
}

static void detach(void *context)
{
	struct life *life = context;

	daemon_detach(life->daemon);
}

static void forget(void *context)
{
	struct life *life = context;

	life->parent = -1;
	daemon_forget(life->daemon);
}

static bool needs(void *context, int fd)
{
	const struct life *life = context;

	return daemon_needs(life->daemon, fd);
}

/* Errors of a start are the worker's to print. */
static void started(void *context)
{
	const struct life *life = context;

	if (life->background)
		launch_leave_terminal();
}

static int renew_keeper(void *context)
{
	struct life *life = context;

	return keeper_renew(&life->keeper);
}

static void make_keeper(struct life *life)
{
	daemon_set_renew(life->daemon, renew_keeper, life);
	life->keeper = (struct keeper){
		.state = daemon_state(life->daemon),
		.program = life->program,
		.arguments = life->arguments,
		.work = work,
		.detach = detach,
		.needs = needs,
		.forget = forget,
		.started = started,
		.context = life,
	};
}

/* The state of an earlier process where it was handed to this one. Returns whether it was, with
 * *ret_state NULL where it cannot be read. */
static bool take_state(struct state **ret_state)
{
	int fd = notify_take(KEEPER_STATE);
	int in = notify_take(KEEPER_CHEST_IN);
	int out = notify_take(KEEPER_CHEST_OUT);
	int error;

	notify_close_rest();
	*ret_state = NULL;
	if (fd < 0 && in < 0 && out < 0)
		return false;
	error = state_open(fd, in, out, ret_state);
	if (error < 0)
		log_message(LOG_CRIT, "the state of the process before cannot be read: %s",
			error == -EPROTO ? "another version wrote it" : strerror(-error));
	return true;
}

/* Where there is no keeper: whether the restarts have failed too often. */
static bool is_hopeless(struct life *life, unsigned failures)
{
	struct state *state = daemon_state(life->daemon);

	if (failures < STATE_FAILURES_MAX)
		return false;
	log_message(LOG_CRIT, "%u restarts in a row failed: %s is detached and not served any more",
		failures, state->memory->mountpoint);
	unstore();
	(void)state_reset(state);
	daemon_detach(life->daemon);
	return true;
}

/* Goes on where an earlier process ended. Returns what to exit with. */
static int go_on(struct life *life, struct state *state)
{
	_cleanup_(diag_clear) struct diag_list diags = { 0 };
	enum daemon_exit status;
	unsigned failures = life->stored ? state_begin(state, false) : 0;

	atomic_store(&state->memory->crashed, 1); /* where it goes no further, which frees it */
	status = daemon_adopt(&life->options, state, &life->daemon, &diags);
	life_print(&diags, status);
	if (status)
		return failures < STATE_FAILURES_MAX ? DAEMON_AGAIN : DAEMON_MOUNT_FAILED;
	atomic_store(&state->memory->crashed, 0);
	make_keeper(life);
	if (life->stored && is_hopeless(life, failures))
		return DAEMON_MOUNT_FAILED;
	atomic_store(&state->memory->handover, 0);
	return work(life);
}

int life_take_over(struct life *life)
{
	struct state *state;
	int status;

	if (!getenv("LISTEN_FDS"))
		return -1;
	notify_open();
	if (!take_state(&state))
		return -1;
	status = state ? go_on(life, state) : DAEMON_UNUSABLE;
	if (status != DAEMON_UNUSABLE || !life->stored)
		return status;
	log_message(LOG_CRIT, "the mount is lost: it is detached and made afresh");
	unstore();
	notify_leave();
	execv(life->program, life->arguments);
	return DAEMON_MOUNT_FAILED;
}

/* Where the service manager keeps the state. Returns what to exit with. */
static int begin_stored(struct life *life)
{
	int error = store(daemon_state(life->daemon));

	if (error < 0) {
		log_message(LOG_ERR, "--fd-store: the service manager does not answer: %s",
			strerror(-error));
		daemon_free(life->daemon);
		return DAEMON_MOUNT_FAILED;
	}
	return work(life);
}

int life_begin(struct life *life)
{
	int error;

	notify_open();
	error = daemon_make_state(life->daemon);
	if (error == 0 && life->background) {
		life->parent = launch_background(daemon_mountpoint(life->daemon));
		error = life->parent < 0 ? -errno : 0;
	}
	if (error < 0) {
		log_message(LOG_ERR, "cannot start: %s", strerror(-error));
		daemon_free(life->daemon);
		return DAEMON_MOUNT_FAILED;
	}
	make_keeper(life);
	if (life->stored)
		return begin_stored(life);
	error = keeper_run(&life->keeper);
	daemon_free(life->daemon);
	return error;
}
