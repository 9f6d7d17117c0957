/* SPDX-License-Identifier: MIT */
/* While a change waits for quiet the inotify descriptor is not polled but looked at when the timer
 * ends: thousands of events wake the daemon four times a second, not thousands of times. */
#include "watch.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

/* Of 16 KiB: more than the kernel's queue holds (fs.inotify.max_queued_events, 16384). */
#define READS_MAX 128

struct watch {
	int epoll; /* of the two others */
	int timer;
	pthread_mutex_t lock;    /* of what follows; not held where a file system is asked */
	int inotify;             /* -1: none */
	struct touched *current; /* by the last load that succeeded */
	struct touched *failed;  /* by a failed one since */
	struct touched *building;
	bool off;     /* nothing is wanted */
	bool waiting; /* the timer runs, inotify is not polled */
	bool changed; /* a reload is due */
	uint64_t since_ms;
};

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

int watch_new(struct watch **ret_watch)
{
	struct watch *watch = calloc(1, sizeof(*watch));
	struct epoll_event event = { .events = EPOLLIN };
	int error;

	if (!watch)
		return -ENOMEM;
	pthread_mutex_init(&watch->lock, NULL);
	watch->inotify = -1;
	watch->epoll = epoll_create1(EPOLL_CLOEXEC);
	watch->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (watch->epoll < 0 || watch->timer < 0 ||
		epoll_ctl(watch->epoll, EPOLL_CTL_ADD, watch->timer, &event) < 0) {
		error = errno;
		watch_free(watch);
		return -error;
	}
	*ret_watch = watch;
	return 0;
}

struct watch *watch_free(struct watch *watch)
{
	if (!watch)
		return NULL;
	touched_unref(watch->current);
	touched_unref(watch->failed);
	touched_unref(watch->building);
	closep(&watch->inotify);
	closep(&watch->timer);
	closep(&watch->epoll);
	pthread_mutex_destroy(&watch->lock);
	free(watch);
	return NULL;
}

int watch_fd(const struct watch *watch)
{
	return watch->epoll;
}

/* Under the lock, as all that follows. */
static bool event_matters(const struct watch *watch, const struct inotify_event *event)
{
	struct touched *const all[] = { watch->current, watch->failed, watch->building };
	const char *name = event->len ? event->name : NULL;

	if (event->mask & IN_Q_OVERFLOW)
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		if (all[i] && touched_matters(all[i], event->wd, event->mask, name))
			return true;
	return false;
}

/* Takes what has happened. Returns whether any of it matters. */
static bool take_events(struct watch *watch)
{
	char buffer[16 * 1024] __attribute__((aligned(__alignof__(struct inotify_event))));
	bool matters = false;

	for (unsigned reads = 0; watch->inotify >= 0 && reads < READS_MAX; reads++) {
		ssize_t size = read(watch->inotify, buffer, sizeof(buffer));
		const struct inotify_event *event;

		if (size <= 0)
			break;
		for (char *at = buffer; at < buffer + size; at += sizeof(*event) + event->len) {
			event = (const struct inotify_event *)(const void *)at;
			matters = matters || event_matters(watch, event);
		}
	}
	return matters;
}

static void poll_inotify(struct watch *watch, int operation)
{
	struct epoll_event event = { .events = watch->waiting ? 0 : EPOLLIN };

	if (watch->inotify >= 0)
		epoll_ctl(watch->epoll, operation, watch->inotify, &event);
}

static void set_waiting(struct watch *watch, bool waiting)
{
	const struct itimerspec time = { .it_value.tv_nsec =
						 waiting ? WATCH_QUIET_MS * 1000000L : 0 };

	timerfd_settime(watch->timer, 0, &time, NULL);
	if (watch->waiting == waiting)
		return;
	watch->waiting = waiting;
	poll_inotify(watch, EPOLL_CTL_MOD);
}

static bool dispatch(struct watch *watch)
{
	uint64_t ignored;
	bool expired = read(watch->timer, &ignored, sizeof(ignored)) > 0;
	bool news, due;

	if (watch->waiting && !expired)
		return false;
	news = take_events(watch);
	if (news && !watch->changed) {
		watch->changed = true;
		watch->since_ms = now_ms();
	}
	if (!expired || (news && now_ms() - watch->since_ms < WATCH_LIMIT_MS)) {
		set_waiting(watch, true);
		return false;
	}
	set_waiting(watch, false);
	due = watch->changed;
	watch->changed = false;
	return due;
}

bool watch_dispatch(struct watch *watch)
{
	bool due;

	pthread_mutex_lock(&watch->lock);
	due = dispatch(watch);
	pthread_mutex_unlock(&watch->lock);
	return due;
}

size_t watch_count(struct watch *watch)
{
	size_t count;

	pthread_mutex_lock(&watch->lock);
	count = touched_count(watch->current);
	pthread_mutex_unlock(&watch->lock);
	return count;
}

int watch_begin(struct watch *watch, bool want, struct touched **ret_touched)
{
	int result = 0;

	pthread_mutex_lock(&watch->lock);
	watch->off = watch->off && !want;
	if (watch->inotify < 0 && want) {
		watch->inotify = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
		result = watch->inotify < 0 ? -errno : 0;
		poll_inotify(watch, EPOLL_CTL_ADD);
	}
	*ret_touched = NULL;
	take_events(watch);
	watch->changed = false;
	if (watch->inotify >= 0 || want)
		result = touched_new(result < 0 ? result : watch->inotify, &watch->building);
	if (watch->building)
		*ret_touched = touched_ref(watch->building);
	pthread_mutex_unlock(&watch->lock);
	return result;
}

void watch_end(struct watch *watch, struct touched *touched, bool success)
{
	struct touched *old[2] = { NULL, NULL }, *current, *failed;

	if (!touched)
		return;
	touched_seal(touched);
	pthread_mutex_lock(&watch->lock);
	touched_unref(watch->building);
	watch->building = NULL;
	old[0] = watch->failed;
	watch->failed = success ? NULL : touched_ref(touched);
	if (success) {
		old[1] = watch->current;
		watch->current = touched_ref(touched);
	}
	current = watch->current;
	failed = watch->failed;
	pthread_mutex_unlock(&watch->lock);
	/* Only this thread changes them. */
	for (size_t i = 0; i < ARRAY_SIZE(old); i++) {
		if (old[i])
			touched_release(old[i], current, failed);
		touched_unref(old[i]);
	}
}

void watch_off(struct watch *watch)
{
	pthread_mutex_lock(&watch->lock);
	set_waiting(watch, false);
	watch->changed = false;
	/* A thread that was given up may hold a copy: the epoll would go on seeing it. */
	poll_inotify(watch, EPOLL_CTL_DEL);
	if (watch->inotify >= 0)
		close(steal_fd(&watch->inotify));
	watch->current = touched_unref(watch->current);
	watch->failed = touched_unref(watch->failed);
	watch->building = touched_unref(watch->building);
	watch->off = true;
	pthread_mutex_unlock(&watch->lock);
}

bool watch_is_off(struct watch *watch)
{
	bool off;

	pthread_mutex_lock(&watch->lock);
	off = watch->off;
	pthread_mutex_unlock(&watch->lock);
	return off;
}
