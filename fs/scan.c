/* SPDX-License-Identifier: MIT */
/* scan: one thread per layer, waited for a bounded time. */
#include "scan.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "scan_internal.h"

#define STACK_SIZE (256 * 1024)
/* For a source that has not answered an earlier scan yet. */
#define HUNG_TIMEOUT_MS 1000

bool scan_is_system(void)
{
	_cleanup_(freep) char *line = NULL;
	unsigned inside = 1, outside = 1, count = 0;
	size_t size = 0;
	FILE *stream;

	if (geteuid() != 0)
		return false;
	stream = fopen("/proc/self/uid_map", "re");
	if (!stream)
		return true;
	if (getline(&line, &size, stream) > 0)
		(void)sscanf(line, "%u %u %u", &inside, &outside, &count);
	fclose(stream);
	return inside == 0 && outside == 0 && count == UINT32_MAX;
}

static void *thread_main(void *data)
{
	struct scan_job *job = data;
	bool abandoned;

	scan_job_run(job);
	pthread_mutex_lock(&job->mutex);
	job->done = true;
	abandoned = job->abandoned;
	pthread_cond_signal(&job->changed);
	pthread_mutex_unlock(&job->mutex);
	if (abandoned && job->cache)
		scan_hung_remove(scan_cache_hung(job->cache), job);
	if (abandoned)
		scan_job_free(job);
	return NULL;
}

static int start(struct scan_job *job)
{
	pthread_attr_t attributes;
	pthread_t thread;
	int error = pthread_attr_init(&attributes);

	if (error)
		return -error;
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attributes, STACK_SIZE);
	error = pthread_create(&thread, &attributes, thread_main, job);
	pthread_attr_destroy(&attributes);
	return -error;
}

/* Waits until the job is done. Returns 0, or -ETIMEDOUT: it is abandoned, its thread's from now on.
 */
static int wait_for(struct scan_job *job, const struct timespec *deadline)
{
	int error = 0;
	bool done;

	pthread_mutex_lock(&job->mutex);
	while (!job->done && error == 0)
		error = pthread_cond_timedwait(&job->changed, &job->mutex, deadline);
	done = job->done;
	job->abandoned = !done;
	if (!done && job->cache)
		scan_hung_add(scan_cache_hung(job->cache), job);
	pthread_mutex_unlock(&job->mutex);
	return done ? 0 : -ETIMEDOUT;
}

static struct timespec deadline_after(unsigned timeout_ms)
{
	struct timespec at;

	clock_gettime(CLOCK_MONOTONIC, &at);
	at.tv_sec += timeout_ms / 1000;
	at.tv_nsec += (long)(timeout_ms % 1000) * 1000000;
	if (at.tv_nsec >= 1000000000) {
		at.tv_sec++;
		at.tv_nsec -= 1000000000;
	}
	return at;
}

/* A layer that did not answer in time, `why`: left out if it may be. */
static int late(const struct policy_layer *policy, const char *why, struct layer **ret_layer,
	struct diag_list *diags)
{
	struct layer *layer;

	diag_add_as(diags, policy->optional ? DIAG_WARNING : DIAG_ERROR, "layer-unread",
		policy->file, policy->line, "layer %s could not be read%s%s", policy->name, why,
		policy->optional ? ": it is left out" : "");
	if (!policy->optional)
		return -ETIMEDOUT;
	layer = calloc(1, sizeof(*layer));
	if (!layer || scan_add_absent(layer, policy) < 0) {
		layer_free(layer);
		return -ENOMEM;
	}
	*ret_layer = layer;
	return 0;
}

/* Waits for the job and takes its result; the job is gone afterwards. */
static int collect(const struct scan_request *request, size_t i, struct scan_job *job,
	const struct timespec *deadline, struct layer **ret_layer, struct diag_list *diags)
{
	const struct policy_layer *policy = &request->policy->layers[i];
	int result = wait_for(job, deadline);
	char why[64];

	if (result < 0) {
		snprintf(why, sizeof(why), " within %u ms", request->timeout_ms);
		return late(policy, why, ret_layer, diags);
	}
	diag_append(diags, &job->diags);
	result = job->result;
	if (result == 0)
		*ret_layer = steal_pointer(job->layer);
	scan_job_free(job);
	return result;
}

/* Makes and starts one job. */
static int begin(const struct scan_request *request, size_t i, uint64_t stamp,
	struct scan_job **ret_job, struct diag_list *diags)
{
	struct scan_job *job = scan_job_new(request, i, stamp);
	int result = job ? start(job) : -ENOMEM;

	if (result < 0) {
		diag_add(diags, DIAG_ERROR, NULL, 0, "layer %s cannot be scanned: %s",
			request->policy->layers[i].name, strerror(-result));
		scan_job_free(job);
		return result;
	}
	*ret_job = job;
	return 0;
}

/* The same unless a thread waits for one of the layer's sources already: then there is no job, and
 * perhaps an empty layer. */
static int begin_or_leave(const struct scan_request *request, size_t i, uint64_t stamp,
	const struct timespec *deadline, struct scan_job **ret_job, struct layer **ret_layer,
	struct diag_list *diags)
{
	const struct policy_layer *policy = &request->policy->layers[i];
	unsigned seconds;
	char why[64];

	if (!request->cache ||
		scan_hung_await(scan_cache_hung(request->cache), policy, deadline, &seconds) == 0)
		return begin(request, i, stamp, ret_job, diags);
	snprintf(why, sizeof(why), ": its source has not answered for %u s", seconds);
	return late(policy, why, ret_layer, diags);
}

static int scan_all(const struct scan_request *request, struct scan_job **jobs, uint64_t stamp,
	struct layer **layers, struct diag_list *diags)
{
	struct timespec deadline = deadline_after(request->timeout_ms);
	struct timespec hung_deadline = deadline_after(
		request->timeout_ms < HUNG_TIMEOUT_MS ? request->timeout_ms : HUNG_TIMEOUT_MS);
	size_t n = request->policy->n_layers;
	int result = 0;

	for (size_t i = 0; i < n && result == 0; i++)
		result = begin_or_leave(
			request, i, stamp, &hung_deadline, &jobs[i], &layers[i], diags);
	for (size_t i = 0; i < n; i++) {
		int error =
			jobs[i] ? collect(request, i, jobs[i], &deadline, &layers[i], diags) : 0;

		if (result == 0)
			result = error;
		if (layers[i])
			layers[i]->policy = &request->policy->layers[i];
	}
	return result;
}

int scan(const struct scan_request *request, struct layer ***ret_layers, struct diag_list *diags)
{
	size_t n = request->policy->n_layers;
	uint64_t stamp = request->cache ? scan_cache_begin(request->cache) : 0;
	struct layer **layers = calloc(n + 1, sizeof(*layers));
	struct scan_job **jobs = calloc(n + 1, sizeof(*jobs));
	int result = -ENOMEM;

	if (layers && jobs)
		result = scan_all(request, jobs, stamp, layers, diags);
	free(jobs);
	if (result < 0) {
		for (size_t i = 0; layers && i < n; i++)
			layer_free(layers[i]);
		free(layers);
		return result;
	}
	if (request->cache)
		scan_cache_commit(request->cache, stamp);
	*ret_layers = layers;
	return 0;
}
