/* SPDX-License-Identifier: MIT */
/* blocking: which workers wait for which of the host's devices, and when a device is not asked any
 * more because it does not answer. Thread-safe. */
#pragma once

#include <pthread.h>
#include <stdint.h>
#include <sys/types.h>

#include "state.h"

/* Reads of one device that may wait at once once the oldest BLOCKING_MAX of them have got no answer
 * for BLOCKING_MS: further ones are refused, for the other devices' sake. */
#define BLOCKING_MAX 8
#define BLOCKING_MS  5000

struct blocking {
	pthread_mutex_t lock;
	struct {
		dev_t device;
		uint64_t since_ms; /* 0: it does not wait */
	} waits[STATE_SLOTS];
};

void blocking_init(struct blocking *blocking);
void blocking_clear(struct blocking *blocking);
/* Worker `slot` is about to wait for the device; now_ms: any clock that begins above 0. Returns 0,
 * or -EIO: it must not. */
int blocking_begin(struct blocking *blocking, size_t slot, dev_t device, uint64_t now_ms);
/* It has got its answer. */
void blocking_end(struct blocking *blocking, size_t slot);
