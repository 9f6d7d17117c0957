/* SPDX-License-Identifier: MIT */
#include "fdpool_internal.h"

#include <errno.h>
#include <stdlib.h>

#include "state.h"

/* With the lock held. */
static void pin_mark_kept(struct pin *pin, uint64_t id)
{
	pin->kept_as = id;
	TAILQ_INSERT_TAIL(&pin->pool->kept, pin, kept_link);
	pin->pool->n_kept++;
}

static int compare_ids(const void *a, const void *b)
{
	const uint64_t *left = a, *right = b;

	return *left < *right ? -1 : *left > *right;
}

struct id_list {
	uint64_t *ids; /* sorted */
	size_t count;
};

static bool is_kept(void *context, uint64_t id)
{
	const struct id_list *list = context;

	return id < CHEST_FIRST_PIN ||
	       bsearch(&id, list->ids, list->count, sizeof(id), compare_ids);
}

/* With the lock held. Returns 0 or -errno. */
static int compact(struct fdpool *pool, struct chest *chest)
{
	struct id_list list = { .ids = calloc(pool->n_kept + 1, sizeof(uint64_t)) };
	struct pin *pin;
	int error;

	if (!list.ids)
		return -ENOMEM;
	for (pin = TAILQ_FIRST(&pool->kept); pin; pin = TAILQ_NEXT(pin, kept_link))
		list.ids[list.count++] = pin->kept_as;
	qsort(list.ids, list.count, sizeof(uint64_t), compare_ids);
	error = chest_compact(chest, is_kept, &list);
	free(list.ids);
	if (error == 0)
		pool->n_stale = 0;
	return error;
}

/* With the lock held: nothing of the items may go meanwhile. Returns how many were not put in. */
static int put_all(struct fdpool *pool, struct chest *chest, struct chest_item *items, size_t count)
{
	size_t put, done = 0;
	int error = chest_put(chest, items, count, &put);

	done = put;
	if ((error == -EAGAIN || error == -ETOOMANYREFS) && compact(pool, chest) == 0) {
		error = chest_put(chest, items + done, count - done, &put);
		done += put;
	}
	if (error < 0 && error != -EAGAIN && error != -ETOOMANYREFS)
		return error;
	return (int)(count - done);
}

int fdpool_keep(struct fdpool *pool, struct chest *chest, atomic_ullong *last,
	struct source *const *sources, size_t count)
{
	_cleanup_(freep) struct chest_item *items = calloc(count + 1, sizeof(*items));
	_cleanup_(freep) struct pin **pins = calloc(count + 1, sizeof(*pins));
	size_t n = 0;
	int missing = 0;

	if (!items || !pins)
		return -ENOMEM;
	pthread_mutex_lock(&pool->lock);
	if (pool->n_stale > pool->n_kept + 64)
		(void)compact(pool, chest);
	for (size_t i = 0; i < count; i++) {
		struct pin *pin = sources[i]->pin;

		if (!pin || pin->kept_as || pin->fd < 0)
			continue;
		pins[n] = pin;
		items[n++] =
			(struct chest_item){ .id = atomic_fetch_add(last, 1) + 1, .fd = pin->fd };
		pin_mark_kept(pin, items[n - 1].id);
	}
	if (n > 0)
		missing = put_all(pool, chest, items, n);
	for (size_t i = n; missing != 0 && i-- > (missing > 0 ? n - (size_t)missing : 0);) {
		TAILQ_REMOVE(&pool->kept, pins[i], kept_link);
		pool->n_kept--;
		pins[i]->kept_as = 0;
	}
	pthread_mutex_unlock(&pool->lock);
	return missing;
}

uint64_t fdpool_kept_as(void *context, const struct source *source)
{
	struct fdpool *pool = context;
	const struct pin *pin;
	uint64_t id;

	pthread_mutex_lock(&pool->lock);
	pin = source->pin;
	id = pin ? pin->kept_as : 0;
	pthread_mutex_unlock(&pool->lock);
	return id;
}

void fdpool_restore(struct fdpool *pool, struct source *source, int fd, uint64_t kept_as)
{
	struct pin *pin;

	fdpool_offer(pool, source, fd);
	pthread_mutex_lock(&pool->lock);
	pin = source->pin;
	if (pin && !pin->kept_as)
		pin_mark_kept(pin, kept_as);
	pthread_mutex_unlock(&pool->lock);
}
