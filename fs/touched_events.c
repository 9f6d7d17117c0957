/* SPDX-License-Identifier: MIT */
/* touched: what an event means, and what is told and let go of when a load is over. */
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>

#include "soname.h"
#include "touched_internal.h"

#define GONE_EVENTS (IN_IGNORED | IN_UNMOUNT | IN_DELETE_SELF | IN_MOVE_SELF)

void touched_seal(struct touched *touched)
{
	pthread_mutex_lock(&touched->lock);
	touched->sealed = true;
	pthread_mutex_unlock(&touched->lock);
}

static bool has_pattern(const struct touched *touched, size_t index, const char *name)
{
	for (size_t i = 0; i < touched->patterns.capacity; i++) {
		const struct namemap_slot *slot = &touched->patterns.slots[i];

		if (slot->name && slot->value == index &&
			fnmatch(strchr(slot->name, '/') + 1, name, 0) == 0)
			return true;
	}
	return false;
}

static bool name_matters(const struct touched *touched, size_t index, const char *name)
{
	char key[TOUCHED_KEY_SIZE];

	if (touched_make_key(key, index, name) && namemap_get(&touched->names, key, NULL))
		return true;
	return touched_listing_covers(&touched->directories[index], name) ||
	       (!soname_is_temporary(name) && has_pattern(touched, index, name));
}

bool touched_matters(struct touched *touched, int wd, uint32_t mask, const char *name)
{
	bool matters = false;

	pthread_mutex_lock(&touched->lock);
	for (size_t i = 0; i < touched->count && !matters; i++)
		if (touched->directories[i].wd == wd)
			matters = (mask & GONE_EVENTS) || !name || name_matters(touched, i, name);
	pthread_mutex_unlock(&touched->lock);
	return matters;
}

size_t touched_count(struct touched *touched)
{
	size_t count;

	if (!touched)
		return 0;
	pthread_mutex_lock(&touched->lock);
	count = touched->n_watched;
	pthread_mutex_unlock(&touched->lock);
	return count;
}

static int compare_watches(const void *a, const void *b)
{
	int left = *(const int *)a, right = *(const int *)b;

	return (left > right) - (left < right);
}

/* The sorted watches of all of them that are not NULL (owned by the caller); NULL without memory.
 * Takes each one's lock. */
static int *collect(struct touched *const all[2], size_t *ret_count)
{
	size_t count = 0, room = touched_count(all[0]) + touched_count(all[1]);
	int *watches = calloc(room + 1, sizeof(*watches));

	for (size_t t = 0; watches && t < 2; t++) {
		if (!all[t])
			continue;
		pthread_mutex_lock(&all[t]->lock);
		for (size_t i = 0; i < all[t]->count && count < room; i++)
			if (all[t]->directories[i].wd >= 0)
				watches[count++] = all[t]->directories[i].wd;
		pthread_mutex_unlock(&all[t]->lock);
	}
	if (watches)
		qsort(watches, count, sizeof(*watches), compare_watches);
	*ret_count = count;
	return watches;
}

void touched_release(struct touched *old, struct touched *a, struct touched *b)
{
	size_t n_old = 0, n_kept = 0;
	_cleanup_(freep) int *before = collect((struct touched *const[2]){ old, NULL }, &n_old);
	_cleanup_(freep) int *kept = collect((struct touched *const[2]){ a, b }, &n_kept);

	/* Without memory too many are kept. */
	for (size_t i = 0; before && kept && i < n_old; i++)
		if (!bsearch(&before[i], kept, n_kept, sizeof(*kept), compare_watches))
			inotify_rm_watch(old->inotify, before[i]);
}

static const char *limit_of(int error)
{
	if (error == -ENOSPC)
		return "fs.inotify.max_user_watches is reached";
	return error == -EMFILE ? "fs.inotify.max_user_instances (or the limit of open files) is "
				  "reached"
				: NULL;
}

void touched_tell(struct touched *touched, struct diag_list *diags)
{
	const char *limit;

	pthread_mutex_lock(&touched->lock);
	limit = limit_of(touched->error);
	if (touched->inotify < 0)
		diag_add_as(diags, DIAG_WARNING, "unwatched", NULL, 0,
			"changes are not followed: %s", limit ? limit : strerror(-touched->error));
	else if (touched->error)
		diag_add_as(diags, limit ? DIAG_WARNING : DIAG_INFO, "unwatched", touched->where, 0,
			"%s: %zu directories are not watched",
			limit ? limit : strerror(-touched->error), touched->n_unwatched);
	pthread_mutex_unlock(&touched->lock);
}
