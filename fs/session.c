/* SPDX-License-Identifier: MIT */
#include "session.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* One that waits for the disk and one that answers, at least; a notifier needs the second (FUSE.md
 * 2). */
#define WORKERS      3
#define WORKER_STACK (1024 * 1024)

struct session {
	struct fuse_session *fuse;
	pthread_t workers[WORKERS];
	size_t n_workers;
	atomic_bool stopping;
	atomic_bool ended_told;
	void (*ended)(void *context);
	void *context;
};

int session_new(int fd, struct ops *ops, void (*ended)(void *context), void *context,
	struct session **ret_session)
{
	_cleanup_(closep) int owned = fd;
	char program[] = "gldriverfs";
	char *arguments[] = { program, NULL };
	struct fuse_args args = FUSE_ARGS_INIT(1, arguments);
	struct session *session = calloc(1, sizeof(*session));
	char path[32];

	if (!session)
		return -ENOMEM;
	session->ended = ended;
	session->context = context;
	session->fuse = fuse_session_new(&args, &ops_table, sizeof(ops_table), ops);
	fuse_opt_free_args(&args);
	if (!session->fuse) {
		free(session);
		return -EIO;
	}
	snprintf(path, sizeof(path), "/dev/fd/%d", fd);
	if (fuse_session_mount(session->fuse, path) != 0) {
		fuse_session_destroy(session->fuse);
		free(session);
		return -EIO;
	}
	steal_fd(&owned);
	*ret_session = session;
	return 0;
}

static void *worker_run(void *data)
{
	struct session *session = data;
	struct fuse_buf buf = { 0 };

	while (!fuse_session_exited(session->fuse)) {
		int got = fuse_session_receive_buf(session->fuse, &buf);

		if (atomic_load(&session->stopping))
			break;
		if (got == -EINTR || got == -EAGAIN)
			continue;
		if (got <= 0)
			break;
		fuse_session_process_buf(session->fuse, &buf);
	}
	free(buf.mem);
	if (!atomic_load(&session->stopping) && !atomic_exchange(&session->ended_told, true))
		session->ended(session->context);
	return NULL;
}

/* Only there to interrupt a worker's read. */
static void ignore_signal(int signal_number)
{
	(void)signal_number;
}

int session_start(struct session *session)
{
	struct sigaction action = { .sa_handler = ignore_signal };
	pthread_attr_t attributes;
	sigset_t all, before;
	int error = 0;

	sigaction(SIGUSR1, &action, NULL);
	sigfillset(&all);
	sigdelset(&all, SIGUSR1);
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, WORKER_STACK);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	while (session->n_workers < WORKERS && error == 0) {
		error = pthread_create(
			&session->workers[session->n_workers], &attributes, worker_run, session);
		session->n_workers += error == 0;
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attributes);
	return -error;
}

/* A worker that waits in read(2) is interrupted until it has seen that it must stop; one that hangs
 * in a host's file system is given up after a second. Returns whether it has ended. */
static bool worker_join(pthread_t worker)
{
	for (unsigned tries = 0; tries < 100; tries++) {
		struct timespec deadline;

		pthread_kill(worker, SIGUSR1);
		clock_gettime(CLOCK_REALTIME, &deadline);
		deadline.tv_nsec += 10 * 1000 * 1000;
		if (deadline.tv_nsec >= 1000 * 1000 * 1000) {
			deadline.tv_sec++;
			deadline.tv_nsec -= 1000 * 1000 * 1000;
		}
		if (pthread_timedjoin_np(worker, NULL, &deadline) == 0)
			return true;
	}
	return false;
}

bool session_stop(struct session *session)
{
	if (!session)
		return true;
	atomic_store(&session->stopping, true);
	fuse_session_exit(session->fuse);
	while (session->n_workers > 0 && worker_join(session->workers[session->n_workers - 1]))
		session->n_workers--;
	return session->n_workers == 0;
}

struct session *session_free(struct session *session)
{
	if (!session)
		return NULL;
	fuse_session_destroy(session->fuse);
	free(session);
	return NULL;
}

int session_invalidate_entry(struct session *session, uint32_t parent, const char *name)
{
	return fuse_lowlevel_notify_inval_entry(session->fuse, parent, name, strlen(name));
}

int session_invalidate_listing(struct session *session, uint32_t ino)
{
	return fuse_lowlevel_notify_inval_inode(session->fuse, ino, 0, 0);
}

int session_invalidate_attributes(struct session *session, uint32_t ino)
{
	return fuse_lowlevel_notify_inval_inode(session->fuse, ino, -1, 0);
}
