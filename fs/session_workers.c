/* SPDX-License-Identifier: MIT */
/* session: the workers: how many there are, and their start and end. */
#include "session_internal.h"

#include <errno.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <linux/fuse.h>

/* One that waits for the disk and one that answers, at least; a notifier needs the second (FUSE.md
 * 2). While more wait, spare ones are started, as many as there are slots. */
#define WORKERS      3
#define WORKER_STACK (1024 * 1024)
/* How long the last worker waits for another one to be free before it refuses a read. */
#define LAST_WAITS_S 5

/* This thread's. */
static _Thread_local struct worker *current;

/* Reads the next request into the worker's slot. */
static ssize_t read_request(struct worker *worker)
{
	struct session *session = worker->session;
	ssize_t got;
	int error;

	atomic_fetch_add(&session->idle, 1);
	if (session->waiting > 0) {
		pthread_mutex_lock(&session->lock);
		pthread_cond_signal(&session->freed);
		pthread_mutex_unlock(&session->lock);
	}
	got = read(session->fd, worker->slot->request.bytes, STATE_REQUEST_MAX);
	error = errno;
	atomic_fetch_sub(&session->idle, 1);
	errno = error;
	return got;
}

/* Whether the worker is one that was started while others waited, and they do not any more. */
static bool is_spare(const struct worker *worker)
{
	return worker->index >= WORKERS && atomic_load(&worker->session->idle) >= WORKERS - 1;
}

/* Answers requests until the session ends: returns true; or until others are enough. */
static bool answer_requests(struct worker *worker)
{
	struct session *session = worker->session;
	struct state_slot *slot = worker->slot;

	session_replay(session, slot);
	while (!fuse_session_exited(session->fuse)) {
		ssize_t got;

		if (is_spare(worker))
			return false;
		got = read_request(worker);
		if (atomic_load(&session->stopping))
			break; /* what was read stays for a successor */
		/* ENOENT: the one who asked was interrupted. */
		if (got < 0 && (errno == EINTR || errno == EAGAIN || errno == ENOENT))
			continue;
		if (got < (ssize_t)sizeof(struct fuse_in_header))
			break;
		session_answer(session, slot, (size_t)got);
	}
	return true;
}

static void *worker_run(void *data)
{
	struct worker *worker = data;
	struct session *session = worker->session;

	current = worker;
	pthread_setname_np(pthread_self(), "gldr-request");
	crash_thread(worker->stack);
	if (!answer_requests(worker))
		atomic_store(&worker->ended, true);
	else if (!atomic_load(&session->stopping) && !atomic_exchange(&session->ended_told, true))
		session->ended(session->context);
	crash_thread(NULL);
	return NULL;
}

/* Signals are as in the thread that starts it. */
static int start_worker(struct worker *worker)
{
	pthread_attr_t attributes;
	int error;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, WORKER_STACK);
	atomic_store(&worker->ended, false);
	error = pthread_create(&worker->thread, &attributes, worker_run, worker);
	pthread_attr_destroy(&attributes);
	worker->started = error == 0;
	return -error;
}

/* Starts one more where there is a slot. With the lock held. */
static bool start_spare(struct session *session)
{
	for (size_t i = WORKERS; i < STATE_SLOTS; i++) {
		struct worker *worker = &session->workers[i];

		if (worker->started && atomic_load(&worker->ended)) {
			pthread_join(worker->thread, NULL);
			worker->started = false;
		}
		if (!worker->started)
			return start_worker(worker) == 0;
	}
	return false;
}

static struct timespec now(void)
{
	struct timespec at;

	clock_gettime(CLOCK_MONOTONIC, &at);
	return at;
}

/* Sees to it that another worker can answer while this one waits. Returns 0, or -EIO: none became
 * free. */
static int let_another_answer(struct session *session)
{
	struct timespec deadline = now();
	int error = 0;

	if (atomic_load(&session->idle) > 0)
		return 0;
	deadline.tv_sec += LAST_WAITS_S;
	pthread_mutex_lock(&session->lock);
	if (atomic_load(&session->idle) == 0 && !atomic_load(&session->stopping) &&
		!start_spare(session)) {
		session->waiting++;
		while (error == 0 && atomic_load(&session->idle) == 0 &&
			!atomic_load(&session->stopping))
			error = pthread_cond_timedwait(&session->freed, &session->lock, &deadline);
		session->waiting--;
	}
	pthread_mutex_unlock(&session->lock);
	return error ? -EIO : 0;
}

int session_begin_waiting(dev_t device)
{
	struct worker *worker = current;
	struct timespec at = now();
	uint64_t now_ms = (uint64_t)at.tv_sec * 1000 + (uint64_t)at.tv_nsec / 1000000 + 1;
	int error;

	if (!worker)
		return 0;
	error = blocking_begin(&worker->session->blocking, worker->index, device, now_ms);
	if (error == 0)
		error = let_another_answer(worker->session);
	if (error < 0)
		blocking_end(&worker->session->blocking, worker->index);
	return error;
}

void session_end_waiting(void)
{
	if (current)
		blocking_end(&current->session->blocking, current->index);
}

/* Only there to interrupt a worker's read. */
static void ignore_signal(int signal_number)
{
	(void)signal_number;
}

int session_start(struct session *session)
{
	struct sigaction action = { .sa_handler = ignore_signal };
	sigset_t all, before;
	int error = 0;

	sigaction(SIGUSR1, &action, NULL);
	sigfillset(&all);
	sigdelset(&all, SIGUSR1);
	crash_unblock(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	pthread_mutex_lock(&session->lock);
	for (size_t i = 0; error == 0 && i < STATE_SLOTS; i++) {
		struct worker *worker = &session->workers[i];

		if (i >= WORKERS && atomic_load(&worker->slot->request.length) == 0)
			continue;
		error = start_worker(worker);
	}
	pthread_mutex_unlock(&session->lock);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return error;
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
	pthread_mutex_lock(&session->lock);
	atomic_store(&session->stopping, true); /* no other one starts from here on */
	pthread_cond_broadcast(&session->freed);
	pthread_mutex_unlock(&session->lock);
	fuse_session_exit(session->fuse);
	for (size_t i = 0; i < STATE_SLOTS; i++) {
		struct worker *worker = &session->workers[i];

		if (worker->started && !worker_join(worker->thread))
			return false;
		worker->started = false;
	}
	return true;
}
