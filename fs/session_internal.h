/* SPDX-License-Identifier: MIT */
/* session_internal: what the session's two halves share: requests and their slots (session.c), and
 * the threads that answer them (session_workers.c). Edge. */
#pragma once

#include <pthread.h>

#include "blocking.h"
#include "crash.h"
#include "session.h"

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

/* Answers the slot's request, which is in it until then. */
void session_answer(struct session *session, struct state_slot *slot, size_t size);
/* What an earlier process has read and not answered, or perhaps answered. */
void session_replay(struct session *session, struct state_slot *slot);
/* For the ops, around what may wait for a device. */
int session_begin_waiting(dev_t device);
void session_end_waiting(void);
