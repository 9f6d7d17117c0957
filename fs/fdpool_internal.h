/* SPDX-License-Identifier: MIT */
/* fdpool_internal: what fdpool's two halves share: holding descriptors (fdpool.c) and keeping them
 * beyond the process (fdpool_keep.c). Edge. */
#pragma once

#include <pthread.h>
#include <sys/queue.h>

#include "fdpool.h"

/* Hangs on a source as long as it lives. */
struct pin {
	struct fdpool *pool;
	struct source *source;
	int fd; /* -1: not held */
	unsigned users;
	bool revealed;
	bool queued;
	uint64_t kept_as;                       /* number in the chest; 0: it is not there */
	void (*release)(struct source *source); /* what the source had before */
	TAILQ_ENTRY(pin) link;
	TAILQ_ENTRY(pin) kept_link;
};

TAILQ_HEAD(pin_queue, pin);

struct fdpool {
	pthread_mutex_t lock;
	size_t limit;
	size_t held;
	size_t unpinned;
	/* Pins with an idle descriptor, least recently used first. */
	struct pin_queue unseen;
	struct pin_queue seen;
	/* Those that are in the chest, and how many have gone that it still has. */
	struct pin_queue kept;
	size_t n_kept;
	size_t n_stale;
};
