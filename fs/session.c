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

#include "crash.h"
#include "log.h"

/* One that waits for the disk and one that answers, at least; a notifier needs the second (FUSE.md
 * 2). */
#define WORKERS      3
#define WORKER_STACK (1024 * 1024)

struct worker {
	struct session *session;
	struct state_slot *slot;
	pthread_t thread;
	bool started;
	uint8_t stack[CRASH_STACK];
};

struct session {
	struct fuse_session *fuse;
	struct state_memory *memory;
	int fd;
	struct worker workers[STATE_SLOTS];
	atomic_bool stopping;
	atomic_bool ended_told;
	void (*ended)(void *context);
	void *context;
};

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
		};
	error = make_fuse_session(session, options->fd, options->ops);
	if (error < 0) {
		free(session);
		return error;
	}
	steal_fd(&owned);
	*ret_session = session;
	return 0;
}

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
	ops_begin(request_of(slot)->unique);
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

static void *worker_run(void *data)
{
	struct worker *worker = data;
	struct session *session = worker->session;
	struct state_slot *slot = worker->slot;

	pthread_setname_np(pthread_self(), "gldr-request");
	crash_thread(worker->stack);
	replay(session, slot);
	while (!fuse_session_exited(session->fuse)) {
		ssize_t got = read(session->fd, slot->request.bytes, STATE_REQUEST_MAX);

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
	crash_unblock(&all);
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, WORKER_STACK);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	for (size_t i = 0; error == 0 && i < STATE_SLOTS; i++) {
		struct worker *worker = &session->workers[i];

		if (i >= WORKERS && atomic_load(&worker->slot->request.length) == 0)
			continue;
		error = pthread_create(&worker->thread, &attributes, worker_run, worker);
		worker->started = error == 0;
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
	for (size_t i = 0; i < STATE_SLOTS; i++) {
		struct worker *worker = &session->workers[i];

		if (worker->started && !worker_join(worker->thread))
			return false;
		worker->started = false;
	}
	return true;
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
