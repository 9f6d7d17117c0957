/* SPDX-License-Identifier: MIT */
#include "session_internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>

#include <linux/fuse.h>

#include "log.h"

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

void session_answer(struct session *session, struct state_slot *slot, size_t size)
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

void session_replay(struct session *session, struct state_slot *slot)
{
	size_t size = atomic_load(&slot->request.length);

	if (size == 0)
		return;
	if (atomic_load(&slot->crashes) >= STATE_POISON)
		refuse(session, slot);
	else if (size >= sizeof(struct fuse_in_header) && size <= STATE_REQUEST_MAX)
		session_answer(session, slot, size);
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
			session_replay(session, slot);
	}
	size = atomic_load(&memory->init_size);
	memcpy(init, memory->init, size);
	if (size > 0)
		process(session, init, size);
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
	options->ops->waits = session_begin_waiting;
	options->ops->waited = session_end_waiting;
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
