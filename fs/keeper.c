/* SPDX-License-Identifier: MIT */
#include "keeper.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <syslog.h>
#include <unistd.h>

#include "crash.h"
#include "daemon.h"
#include "log.h"
#include "util.h"

/* Restarts that fail come at once up to here, then ever later. */
#define PATIENCE   3
#define BACKOFF_MS 100
/* How long a worker that has unmounted or handed over may take to end. One of its threads may hang
 * in a source's file system where no signal ends it. */
#define ENDING_MS 500

/* One keeper's run. */
struct run {
	struct keeper *keeper;
	int signals;
	pid_t worker;
	int pidfd;
	bool executed; /* the worker is the program on disk, not a copy of this process */
	bool exits;    /* the worker exited, with `status` */
	int status;
};

static int block_signals(void)
{
	sigset_t signals;

	sigemptyset(&signals);
	sigaddset(&signals, SIGHUP);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGUSR2);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGCHLD, SIG_DFL);
	return signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* A descriptor that the new program gets under this number. */
static int place(int fd, int number)
{
	return fd == number ? fcntl(fd, F_SETFD, 0) : dup2(fd, number);
}

/* In the child: the program on disk with the state's descriptors as 3, 4, 5. Returns on failure. */
static void execute(const struct keeper *keeper, bool takes_over)
{
	const struct state *state = keeper->state;
	char pid[16];
	int fds[3];

	if (takes_over) {
		/* Out of the way of their places first. */
		fds[0] = fcntl(state->fd, F_DUPFD_CLOEXEC, 10);
		fds[1] = fcntl(state->chest.in, F_DUPFD_CLOEXEC, 10);
		fds[2] = fcntl(state->chest.out, F_DUPFD_CLOEXEC, 10);
		for (int i = 0; i < 3; i++)
			if (fds[i] < 0 || place(fds[i], 3 + i) < 0)
				return;
		snprintf(pid, sizeof(pid), "%d", (int)getpid());
		setenv("LISTEN_PID", pid, 1);
		setenv("LISTEN_FDS", "3", 1);
		setenv("LISTEN_FDNAMES", KEEPER_STATE ":" KEEPER_CHEST_IN ":" KEEPER_CHEST_OUT, 1);
	}
	execv(keeper->program, keeper->arguments);
}

/* Starts a worker: the program on disk after a hand-over, else this process' own image, which needs
 * no file. Returns 0 or -errno. */
static int start_worker(struct run *run, bool executes)
{
	struct keeper *keeper = run->keeper;
	pid_t pid;

	atomic_store(&keeper->state->memory->keeper, getpid());
	pid = fork();
	if (pid < 0)
		return -errno;
	if (pid == 0) {
		close(run->signals);
		if (executes) {
			execute(keeper, true);
			_exit(127);
		}
		_exit(keeper->work(keeper->context));
	}
	run->worker = pid;
	run->executed = executes;
	run->pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	return 0;
}

/* Returns whether one of them was to end the worker. */
static bool forward_signals(const struct run *run)
{
	struct signalfd_siginfo info;
	bool ends = false;

	while (read(run->signals, &info, sizeof(info)) == sizeof(info)) {
		int number = info.ssi_signo == SIGINT ? SIGTERM : (int)info.ssi_signo;

		(void)syscall(SYS_pidfd_send_signal, run->pidfd, number, NULL, 0);
		ends |= number == SIGTERM || number == SIGUSR2;
	}
	return ends;
}

/* How long to wait for the worker, which has been told to end: in short turns until it has
 * unmounted or handed over, then once. */
static int patience(const struct run *run, bool told)
{
	const struct state *state = run->keeper->state;

	if (!told)
		return -1;
	return state_stage(state) == STATE_ENDED || atomic_load(&state->memory->handover)
		       ? ENDING_MS
		       : 50;
}

/* Waits for the worker's end, or until it has unmounted or handed over and does not come to it. */
static void await_worker(struct run *run)
{
	struct pollfd wait[] = {
		{ .fd = run->signals, .events = POLLIN },
		{ .fd = run->pidfd, .events = POLLIN },
	};
	bool told = false;
	int status;

	run->exits = false;
	while (!(wait[1].revents & POLLIN)) {
		int turn = patience(run, told), ready = poll(wait, ARRAY_SIZE(wait), turn);

		if (ready < 0 && errno != EINTR)
			break;
		if (ready == 0 && turn == ENDING_MS) {
			closep(&run->pidfd);
			run->pidfd = -1;
			return;
		}
		if (ready > 0 && wait[0].revents)
			told |= forward_signals(run);
	}
	/* One that this keeper did not start is waited for by somebody else. */
	if (waitpid(run->worker, &status, 0) == run->worker) {
		run->exits = WIFEXITED(status);
		run->status = run->exits ? WEXITSTATUS(status) : WTERMSIG(status);
	}
	/* One that hung when it handed over. */
	while (waitpid(-1, NULL, WNOHANG) > 0)
		;
	closep(&run->pidfd);
	run->pidfd = -1;
}

/* A stop that comes during the pause is for the next worker. */
static void back_off(unsigned failures)
{
	if (failures >= PATIENCE)
		poll(NULL, 0, BACKOFF_MS << (failures - PATIENCE));
}

/* The connection ends with the last copy of its descriptor. */
static void give_up(struct run *run)
{
	struct keeper *keeper = run->keeper;

	(void)state_reset(keeper->state);
	keeper->detach(keeper->context);
	keeper->state->memory->device = 0;
}

/* The new program cannot read this state (it is an older one): it mounts afresh, and this one goes
 * on serving those who use what is detached now. Returns 0 or -errno. */
static int part(struct run *run)
{
	struct keeper *keeper = run->keeper;
	pid_t pid;

	log_message(LOG_WARNING,
		"%s does not know this state: it mounts afresh; programs that use the mount keep "
		"the old one",
		keeper->program);
	keeper->detach(keeper->context);
	atomic_store(&keeper->state->memory->stage, STATE_DETACHED);
	(void)state_keep(keeper->state, CHEST_LISTENER, -1); /* the name is the other's */
	pid = fork();
	if (pid < 0)
		return -errno;
	if (pid == 0) {
		setsid();
		execute(keeper, false);
		_exit(127);
	}
	return 0;
}

/* What comes after the worker's end. Returns whether another one is to be started, with
 * *ret_executes; else *ret_status is what to exit with. */
static bool goes_on(struct run *run, bool *ret_executes, int *ret_status)
{
	struct keeper *keeper = run->keeper;
	struct state_memory *memory = keeper->state->memory;
	enum state_stage stage = state_stage(keeper->state);
	bool hands_over = atomic_load(&memory->handover);
	unsigned failures;

	*ret_executes = false;
	*ret_status = atomic_load(&memory->exit_status);
	if (stage == STATE_ENDED)
		return false;
	if (stage == STATE_STOPPING) {
		keeper->detach(keeper->context);
		return false;
	}
	if (stage == STATE_DETACHED && !hands_over)
		return !run->exits;
	if (stage == STATE_FRESH && run->exits) {
		*ret_status = run->status;
		return false;
	}
	if (run->exits && run->status == DAEMON_UNUSABLE) {
		if (run->executed && part(run) == 0)
			return true;
		log_message(LOG_CRIT, "the mount is lost: it is detached and made afresh");
		give_up(run);
	} else if (hands_over) {
		*ret_executes = true;
	} else {
		log_message(LOG_WARNING, "the worker %d %s %d: another one takes over", run->worker,
			run->exits ? "exited with" : "was ended by signal", run->status);
	}
	failures = state_begin(keeper->state, run->exits && !hands_over);
	if (failures < STATE_FAILURES_MAX) {
		back_off(failures);
		return true;
	}
	log_message(LOG_CRIT, "%u restarts in a row failed: %s is detached and not served any more",
		failures, memory->mountpoint);
	give_up(run);
	*ret_status = DAEMON_MOUNT_FAILED;
	return false;
}

static int run_workers(struct run *run)
{
	int status;
	bool executes;

	do {
		await_worker(run);
		if (!goes_on(run, &executes, &status))
			return status;
		if (start_worker(run, executes) < 0) {
			log_message(LOG_CRIT, "no worker can be started: %s", strerror(errno));
			give_up(run);
			return DAEMON_MOUNT_FAILED;
		}
	} while (true);
}

int keeper_run(struct keeper *keeper)
{
	struct run run = { .keeper = keeper, .signals = block_signals(), .pidfd = -1 };

	if (run.signals < 0 || start_worker(&run, false) < 0) {
		log_message(LOG_ERR, "no worker can be started: %s", strerror(errno));
		return DAEMON_MOUNT_FAILED;
	}
	keeper->started(keeper->context);
	return run_workers(&run);
}

/* The worker's descriptors are not the keeper's. */
static void close_others(const struct keeper *keeper)
{
	DIR *directory = opendir("/proc/self/fd");
	const struct dirent *entry;

	while (directory && (entry = readdir(directory))) {
		int fd = atoi(entry->d_name);

		if (fd > STDERR_FILENO && fd != dirfd(directory) &&
			!keeper->needs(keeper->context, fd))
			close(fd);
	}
	if (directory)
		closedir(directory);
}

/* In the new keeper, a copy of the worker in which only this thread goes on. */
static int run_renewed(struct keeper *keeper, pid_t worker, int pidfd)
{
	struct run run = { .keeper = keeper, .worker = worker, .pidfd = pidfd, .signals = -1 };

	run.signals = block_signals();
	return run.signals < 0 ? DAEMON_MOUNT_FAILED : run_workers(&run);
}

int keeper_renew(struct keeper *keeper)
{
	pid_t worker = getpid(), child;
	int status = 0;

	child = fork();
	if (child < 0)
		return -errno;
	if (child > 0) {
		while (waitpid(child, &status, 0) < 0 && errno == EINTR)
			;
		return status == 0 ? atomic_load(&keeper->state->memory->keeper) : -ECHILD;
	}
	child = fork();
	if (child != 0) {
		if (child > 0)
			atomic_store(&keeper->state->memory->keeper, child);
		_exit(child < 0 ? EXIT_FAILURE : EXIT_SUCCESS);
	}
	crash_watch(NULL);
	log_forked();
	close_others(keeper);
	keeper->forget(keeper->context);
	_exit(run_renewed(keeper, worker, (int)syscall(SYS_pidfd_open, worker, 0)));
}
