/* SPDX-License-Identifier: MIT */
#include "session.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>

#include <linux/fuse.h>

#include "blocking.h"
#include "crash.h"
#include "log.h"

/* One that waits for the disk and one that answers, at least; a notifier needs the second (FUSE.md
 * 2). While more wait, spare ones are started, as many as there are slots. */
#define WORKERS      3
#define WORKER_STACK (1024 * 1024)
/* How long the last worker waits for another one to be free before it refuses a read. */
#define LAST_WAITS_S 5

struct worker {
	struct session *session;
	struct state_slot *slot;
	size_t index; /* of the slot */
	pthread_t thread;
	bool started;
	atomic_bool ended; /* a spare one: to be joined */
	uint8_t stack[CRASH_STACK];
};

struct session {
	struct fuse_session *fuse;
	struct state_memory *memory;
	int fd;
	struct worker workers[STATE_SLOTS];
	atomic_uint idle; /* workers that wait for a request */
	struct blocking blocking;
	pthread_mutex_t lock; /* of what follows, and of starting and joining workers */
	pthread_cond_t freed; /* a worker has become idle, while `waiting` */
	atomic_uint waiting;  /* last workers that wait for that */
	atomic_bool stopping;
	atomic_bool ended_told;
	void (*ended)(void *context);
	void *context;
};

/* This thread's. */
static _Thread_local struct worker *current;

static const struct fuse_in_header *request_of(const struct state_slot *slot)
{
	return (const struct fuse_in_header *)slot->request.bytes;
}

static void process(struct session *session, void *bytes, size_t size)
{
	struct fuse_buf buf = { .mem = bytes, .size = size };

	fuse_session_process_buf(session->fuse, &buf);
}

/* Keeps what the kernel offered at first: the process that takes over negotiates the same. */
static void keep_init(struct session *session, const struct state_slot *slot, size_t size)
{
	if (request_of(slot)->opcode != FUSE_INIT || size > STATE_INIT_MAX)
		return;
	memcpy(session->memory->init, slot->request.bytes, size);
	atomic_store(&session->memory->init_size, (unsigned)size);
}

/* Answers the slot's request, which is in it until then. */
static void answer(struct session *session, struct state_slot *slot, size_t size)
{
	keep_init(session, slot, size);
	crash_enter(&slot->crashes);
	process(session, slot->request.bytes, size);
	crash_enter(NULL);
	atomic_store(&slot->request.length, 0);
	atomic_store(&slot->crashes, 0);
	if (!atomic_load_explicit(&session->memory->replied, memory_order_relaxed))
		atomic_store(&session->memory->replied, 1);
}

/* A request that crashes every worker has no answer. */
static void refuse(struct session *session, struct state_slot *slot)
{
	const struct fuse_in_header *request = request_of(slot);
	struct fuse_out_header reply = {
		.len = sizeof(reply),
		.error = -EIO,
		.unique = request->unique,
	};

	if (request->opcode != FUSE_FORGET && request->opcode != FUSE_BATCH_FORGET &&
		write(session->fd, &reply, sizeof(reply)) < 0)
		(void)errno; /* it was answered, or nobody waits any more */
	log_message(LOG_ERR, "a request (operation %u) crashed %u workers: answered with an error",
		request->opcode, atomic_load(&slot->crashes));
	atomic_store(&slot->request.length, 0);
	atomic_store(&slot->crashes, 0);
}

/* What an earlier process has read and not answered, or perhaps answered. */
static void replay(struct session *session, struct state_slot *slot)
{
	size_t size = atomic_load(&slot->request.length);

	if (size == 0)
		return;
	if (atomic_load(&slot->crashes) >= STATE_POISON)
		refuse(session, slot);
	else if (size >= sizeof(struct fuse_in_header) && size <= STATE_REQUEST_MAX)
		answer(session, slot, size);
	else
		atomic_store(&slot->request.length, 0);
}

void session_resume(struct session *session)
{
	struct state_memory *memory = session->memory;
	uint8_t init[STATE_INIT_MAX];
	size_t size;

	/* The INIT itself may be what was not answered. */
	for (size_t i = 0; i < STATE_SLOTS; i++) {
		struct state_slot *slot = &memory->slots[i];

		if (atomic_load(&slot->request.length) && request_of(slot)->opcode == FUSE_INIT)
			replay(session, slot);
	}
	size = atomic_load(&memory->init_size);
	memcpy(init, memory->init, size);
	if (size > 0)
		process(session, init, size);
}

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

static void *worker_run(void *data)
{
	struct worker *worker = data;
	struct session *session = worker->session;
	struct state_slot *slot = worker->slot;

	current = worker;
	pthread_setname_np(pthread_self(), "gldr-request");
	crash_thread(worker->stack);
	replay(session, slot);
	while (!fuse_session_exited(session->fuse)) {
		ssize_t got;

		if (is_spare(worker)) {
			atomic_store(&worker->ended, true);
			return NULL;
		}
		got = read_request(worker);
		if (atomic_load(&session->stopping))
			break; /* what was read stays for a successor */
		/* ENOENT: the one who asked was interrupted. */
		if (got < 0 && (errno == EINTR || errno == EAGAIN || errno == ENOENT))
			continue;
		if (got < (ssize_t)sizeof(struct fuse_in_header))
			break;
		answer(session, slot, (size_t)got);
	}
	if (!atomic_load(&session->stopping) && !atomic_exchange(&session->ended_told, true))
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

static int begin_waiting(dev_t device)
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

static void end_waiting(void)
{
	if (current)
		blocking_end(&current->session->blocking, current->index);
}

static int make_fuse_session(struct session *session, int fd, struct ops *ops)
{
	char program[] = "gldriverfs";
	char *arguments[] = { program, NULL };
	struct fuse_args args = FUSE_ARGS_INIT(1, arguments);
	char path[32];

	session->fuse = fuse_session_new(&args, &ops_table, sizeof(ops_table), ops);
	fuse_opt_free_args(&args);
	if (!session->fuse)
		return -EIO;
	snprintf(path, sizeof(path), "/dev/fd/%d", fd);
	if (fuse_session_mount(session->fuse, path) != 0) {
		fuse_session_destroy(session->fuse);
		return -EIO;
	}
	return 0;
}

int session_new(const struct session_options *options, struct session **ret_session)
{
	_cleanup_(closep) int owned = options->fd;
	struct session *session = calloc(1, sizeof(*session));
	pthread_condattr_t monotonic;
	int error;

	if (!session)
		return -ENOMEM;
	session->fd = options->fd;
	session->memory = options->state->memory;
	session->ended = options->ended;
	session->context = options->context;
	for (size_t i = 0; i < STATE_SLOTS; i++)
		session->workers[i] = (struct worker){
			.session = session,
			.slot = &session->memory->slots[i],
			.index = i,
		};
	options->ops->waits = begin_waiting;
	options->ops->waited = end_waiting;
	error = make_fuse_session(session, options->fd, options->ops);
	if (error < 0) {
		free(session);
		return error;
	}
	blocking_init(&session->blocking);
	pthread_mutex_init(&session->lock, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&session->freed, &monotonic);
	pthread_condattr_destroy(&monotonic);
	steal_fd(&owned);
	*ret_session = session;
	return 0;
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

void session_abandon(struct session *session)
{
	if (session)
		(void)close(session->fd); /* no thread opens another one by now */
}

struct session *session_free(struct session *session)
{
	if (!session)
		return NULL;
	fuse_session_destroy(session->fuse);
	blocking_clear(&session->blocking);
	pthread_cond_destroy(&session->freed);
	pthread_mutex_destroy(&session->lock);
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
