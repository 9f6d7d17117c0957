/* SPDX-License-Identifier: MIT */
/* scan_hung: the jobs of earlier scans whose source has not answered yet: a source that hangs costs
 * one thread, however often it is asked for. Thread-safe. Edge. */
#pragma once

#include <pthread.h>
#include <sys/queue.h>
#include <time.h>

struct scan_job;
struct policy_layer;

LIST_HEAD(scan_hung_jobs, scan_job);

struct scan_hung {
	pthread_mutex_t lock;
	pthread_cond_t answered;
	struct scan_hung_jobs jobs;
};

void scan_hung_init(struct scan_hung *hung);
void scan_hung_clear(struct scan_hung *hung);
/* A job that nobody waits for any more, and its end. */
void scan_hung_add(struct scan_hung *hung, struct scan_job *job);
void scan_hung_remove(struct scan_hung *hung, struct scan_job *job);
/* Waits until no job asks a source that this layer would ask. Returns 0, or -ETIMEDOUT at the
 * deadline (CLOCK_MONOTONIC): one still hangs, for *ret_seconds. */
int scan_hung_await(struct scan_hung *hung, const struct policy_layer *layer,
	const struct timespec *deadline, unsigned *ret_seconds);
