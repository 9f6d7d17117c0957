/* SPDX-License-Identifier: MIT */
#include "scan_hung.h"

#include <errno.h>

#include "scan_internal.h"

void scan_hung_init(struct scan_hung *hung)
{
	pthread_condattr_t monotonic;

	pthread_mutex_init(&hung->lock, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&hung->answered, &monotonic);
	pthread_condattr_destroy(&monotonic);
	LIST_INIT(&hung->jobs);
}

void scan_hung_clear(struct scan_hung *hung)
{
	pthread_cond_destroy(&hung->answered);
	pthread_mutex_destroy(&hung->lock);
}

void scan_hung_add(struct scan_hung *hung, struct scan_job *job)
{
	pthread_mutex_lock(&hung->lock);
	LIST_INSERT_HEAD(&hung->jobs, job, hung_link);
	pthread_mutex_unlock(&hung->lock);
}

void scan_hung_remove(struct scan_hung *hung, struct scan_job *job)
{
	pthread_mutex_lock(&hung->lock);
	LIST_REMOVE(job, hung_link);
	pthread_cond_broadcast(&hung->answered);
	pthread_mutex_unlock(&hung->lock);
}

static bool lists_share(const struct policy_list *a, const struct policy_list *b)
{
	for (size_t i = 0; i < a->count; i++)
		for (size_t j = 0; j < b->count; j++)
			if (string_equal(a->items[i].text, b->items[j].text))
				return true;
	return false;
}

/* Whether both ask the same source. */
static bool layers_share(const struct policy_layer *a, const struct policy_layer *b)
{
	if (!string_equal(a->root.text, b->root.text))
		return false;
	return (a->discover != DISCOVER_NONE && b->discover != DISCOVER_NONE) ||
	       (a->under && b->under) || lists_share(&a->dirs, &b->dirs) ||
	       lists_share(&a->trees, &b->trees) || lists_share(&a->csvs, &b->csvs) ||
	       lists_share(&a->cdis, &b->cdis);
}

/* With the lock held. */
static const struct scan_job *find(const struct scan_hung *hung, const struct policy_layer *layer)
{
	const struct scan_job *job;

	LIST_FOREACH (job, &hung->jobs, hung_link)
		if (layers_share(&job->policy, layer))
			return job;
	return NULL;
}

int scan_hung_await(struct scan_hung *hung, const struct policy_layer *layer,
	const struct timespec *deadline, unsigned *ret_seconds)
{
	const struct scan_job *job;
	struct timespec now;
	int error = 0;

	pthread_mutex_lock(&hung->lock);
	while ((job = find(hung, layer)) && error == 0)
		error = pthread_cond_timedwait(&hung->answered, &hung->lock, deadline);
	if (job) {
		clock_gettime(CLOCK_MONOTONIC, &now);
		*ret_seconds = (unsigned)(now.tv_sec - job->started.tv_sec);
	}
	pthread_mutex_unlock(&hung->lock);
	return job ? -ETIMEDOUT : 0;
}
