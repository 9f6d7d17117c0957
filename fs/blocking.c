/* SPDX-License-Identifier: MIT */
#include "blocking.h"

#include <errno.h>

void blocking_init(struct blocking *blocking)
{
	*blocking = (struct blocking){ 0 };
	pthread_mutex_init(&blocking->lock, NULL);
}

void blocking_clear(struct blocking *blocking)
{
	pthread_mutex_destroy(&blocking->lock);
}

/* How many have waited for the device too long. With the lock held. */
static size_t count_hung(const struct blocking *blocking, dev_t device, uint64_t now_ms)
{
	size_t count = 0;

	for (size_t i = 0; i < STATE_SLOTS; i++) {
		uint64_t since_ms = blocking->waits[i].since_ms;

		count += since_ms != 0 && blocking->waits[i].device == device &&
			 now_ms - since_ms >= BLOCKING_MS;
	}
	return count;
}

int blocking_begin(struct blocking *blocking, size_t slot, dev_t device, uint64_t now_ms)
{
	int error = 0;

	pthread_mutex_lock(&blocking->lock);
	if (count_hung(blocking, device, now_ms) >= BLOCKING_MAX) {
		error = -EIO;
	} else {
		blocking->waits[slot].device = device;
		blocking->waits[slot].since_ms = now_ms;
	}
	pthread_mutex_unlock(&blocking->lock);
	return error;
}

void blocking_end(struct blocking *blocking, size_t slot)
{
	pthread_mutex_lock(&blocking->lock);
	blocking->waits[slot].since_ms = 0;
	pthread_mutex_unlock(&blocking->lock);
}
