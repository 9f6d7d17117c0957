/* SPDX-License-Identifier: MIT */
#include "reload.h"

#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/queue.h>
#include <time.h>
#include <unistd.h>

struct job {
	bool changes_mode;
	char mode[8]; /* "": the override's entry is taken out */
	struct reload_result result;
	STAILQ_ENTRY(job) link;
};

STAILQ_HEAD(job_queue, job);

struct reload {
	struct reload_options options;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t wanted;
	struct job_queue waiting;
	struct job_queue done;
	bool stopping;
	int event; /* eventfd: results are there */
};

static void job_free(struct job *job)
{
	reload_result_clear(&job->result);
	free(job);
}

void reload_result_clear(struct reload_result *result)
{
	diag_clear(&result->diags);
	generation_unref(result->generation);
	*result = (struct reload_result){ 0 };
}

/* Publishes and tells the kernel. What a successor needs is written before anything is told or
 * seen. Returns 0 or -errno with the old generation standing. */
static int publish(
	struct reload *reload, struct generation *generation, struct reload_result *result)
{
	_cleanup_(tree_change_clear) struct tree_change change = { 0 };
	struct resume *resume = reload->options.resume;
	int error = tree_prepare(reload->options.tree, generation, &change);

	if (error == 0) {
		error = resume_save(resume, &change);
		if (error < 0)
			tree_abandon(reload->options.tree);
	}
	if (error < 0) {
		diag_add(&result->diags, DIAG_ERROR, NULL, 0, "cannot publish: %s",
			strerror(-error));
		return error;
	}
	invalidate_added(reload->options.session, &change);
	tree_commit(reload->options.tree, &change, resume_published, resume);
	invalidate(reload->options.session, &change);
	resume_told(resume);
	result->changed = strcmp(change.before->view->id, generation->view->id) != 0;
	return 0;
}

static int run_pipeline(struct reload *reload, struct reload_result *result)
{
	_cleanup_(generation_unrefp) struct generation *generation = NULL;
	_cleanup_(generation_unrefp) struct generation *before = tree_current(reload->options.tree);
	struct pipeline_request request = reload->options.pipeline;
	int error;

	request.before = before;
	error = pipeline_run(&request, &generation, &result->diags);
	return error < 0 ? error : publish(reload, generation, result);
}

/* An earlier process published and did not come to tell the kernel all of it. */
static void tell_untold(struct reload *reload)
{
	const struct snapshot *untold = reload->options.untold;
	struct tree_change change;

	if (!untold)
		return;
	change = (struct tree_change){
		.diff = untold->change,
		.attributes = untold->attributes,
		.n_attributes = untold->n_attributes,
	};
	invalidate(reload->options.session, &change);
	resume_told(reload->options.resume);
}

static int run_job(struct reload *reload, struct job *job)
{
	_cleanup_(override_undo_freep) struct override_undo *undo = NULL;
	int error;

	if (job->changes_mode) {
		error = override_write(
			reload->options.override, job->mode[0] ? job->mode : NULL, &undo);
		if (error < 0) {
			diag_add(&job->result.diags, DIAG_ERROR, reload->options.override, 0,
				"cannot be written: %s", strerror(-error));
			return error;
		}
	}
	error = run_pipeline(reload, &job->result);
	if (error < 0 && undo && override_restore(undo) < 0)
		diag_add(&job->result.diags, DIAG_WARNING, reload->options.override, 0,
			"could not be put back as it was");
	return error;
}

/* What the last generation had is free by now, in this thread's heap. */
static void give_back_memory(void)
{
#ifdef __GLIBC__
	malloc_trim(0);
#endif
}

static void *reload_run(void *data)
{
	struct reload *reload = data;
	struct state_memory *memory = reload->options.resume->state->memory;

	pthread_setname_np(pthread_self(), "gldr-reload");
	tell_untold(reload);
	pthread_mutex_lock(&reload->lock);
	while (!reload->stopping) {
		struct job *job = STAILQ_FIRST(&reload->waiting);

		if (!job) {
			pthread_cond_wait(&reload->wanted, &reload->lock);
			continue;
		}
		STAILQ_REMOVE_HEAD(&reload->waiting, link);
		pthread_mutex_unlock(&reload->lock);
		atomic_store(&memory->reloading, 1);
		job->result.error = run_job(reload, job);
		atomic_store(&memory->reloading, 0);
		atomic_store(&memory->reload_crashes, 0);
		job->result.generation = tree_current(reload->options.tree);
		pthread_mutex_lock(&reload->lock);
		STAILQ_INSERT_TAIL(&reload->done, job, link);
		eventfd_write(reload->event, 1);
		pthread_mutex_unlock(&reload->lock);
		give_back_memory();
		pthread_mutex_lock(&reload->lock);
	}
	pthread_mutex_unlock(&reload->lock);
	return NULL;
}

int reload_new(const struct reload_options *options, struct reload **ret_reload)
{
	struct reload *reload = calloc(1, sizeof(*reload));
	int error;

	if (!reload)
		return -ENOMEM;
	reload->options = *options;
	STAILQ_INIT(&reload->waiting);
	STAILQ_INIT(&reload->done);
	pthread_mutex_init(&reload->lock, NULL);
	pthread_cond_init(&reload->wanted, NULL);
	reload->event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	error = reload->event < 0 ? errno
				  : pthread_create(&reload->thread, NULL, reload_run, reload);
	if (error != 0) {
		closep(&reload->event);
		free(reload);
		return -error;
	}
	*ret_reload = reload;
	return 0;
}

bool reload_stop(struct reload *reload)
{
	struct timespec deadline;

	if (!reload)
		return true;
	pthread_mutex_lock(&reload->lock);
	reload->stopping = true;
	pthread_cond_signal(&reload->wanted);
	pthread_mutex_unlock(&reload->lock);
	clock_gettime(CLOCK_REALTIME, &deadline);
	deadline.tv_sec += 1;
	return pthread_timedjoin_np(reload->thread, NULL, &deadline) == 0;
}

struct reload *reload_free(struct reload *reload)
{
	struct job *job;

	if (!reload)
		return NULL;
	while ((job = STAILQ_FIRST(&reload->waiting))) {
		STAILQ_REMOVE_HEAD(&reload->waiting, link);
		job_free(job);
	}
	while ((job = STAILQ_FIRST(&reload->done))) {
		STAILQ_REMOVE_HEAD(&reload->done, link);
		job_free(job);
	}
	close(reload->event);
	pthread_mutex_destroy(&reload->lock);
	pthread_cond_destroy(&reload->wanted);
	free(reload);
	return NULL;
}

/* Whether a job that nobody asked for by name waits already. With the lock held. */
static bool has_anonymous(const struct reload *reload)
{
	const struct job *job = STAILQ_FIRST(&reload->waiting);

	while (job && job->result.client != 0)
		job = STAILQ_NEXT(job, link);
	return job;
}

int reload_request(struct reload *reload, uint64_t client, const char *mode)
{
	struct job *job = calloc(1, sizeof(*job));

	if (!job)
		return -ENOMEM;
	job->result.client = client;
	job->changes_mode = mode;
	if (mode)
		strncpy(job->mode, mode, sizeof(job->mode) - 1);
	pthread_mutex_lock(&reload->lock);
	if (client == 0 && !mode && has_anonymous(reload)) {
		free(job);
	} else {
		STAILQ_INSERT_TAIL(&reload->waiting, job, link);
		pthread_cond_signal(&reload->wanted);
	}
	pthread_mutex_unlock(&reload->lock);
	return 0;
}

int reload_fd(const struct reload *reload)
{
	return reload->event;
}

bool reload_take(struct reload *reload, struct reload_result *ret_result)
{
	eventfd_t ignored;
	struct job *job;

	pthread_mutex_lock(&reload->lock);
	job = STAILQ_FIRST(&reload->done);
	if (job)
		STAILQ_REMOVE_HEAD(&reload->done, link);
	else
		(void)eventfd_read(reload->event, &ignored);
	pthread_mutex_unlock(&reload->lock);
	if (!job)
		return false;
	*ret_result = job->result;
	free(job);
	return true;
}
