/* SPDX-License-Identifier: MIT */
#include "fdpool_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rootfs.h"

/* Descriptors for standard streams, epoll, signals, the session, roots, a scan and control clients.
 */
#define OWN_DESCRIPTORS 44
#define LEAST_POOL      8

size_t fdpool_raise_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return LEAST_POOL;
	limit.rlim_cur = limit.rlim_max;
	(void)setrlimit(RLIMIT_NOFILE, &limit);
	if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur < OWN_DESCRIPTORS + LEAST_POOL)
		return LEAST_POOL;
	return limit.rlim_cur - OWN_DESCRIPTORS;
}

struct fdpool *fdpool_new(size_t limit)
{
	struct fdpool *pool = calloc(1, sizeof(*pool));

	if (!pool)
		return NULL;
	pthread_mutex_init(&pool->lock, NULL);
	pool->limit = limit;
	TAILQ_INIT(&pool->unseen);
	TAILQ_INIT(&pool->seen);
	TAILQ_INIT(&pool->kept);
	return pool;
}

struct fdpool *fdpool_free(struct fdpool *pool)
{
	if (!pool)
		return NULL;
	pthread_mutex_destroy(&pool->lock);
	free(pool);
	return NULL;
}

static bool pin_counts_as_unpinned(const struct pin *pin)
{
	return pin->revealed && pin->fd < 0 && !pin->source->in_store;
}

static struct pin_queue *pin_queue_of(const struct pin *pin)
{
	return pin->revealed ? &pin->pool->seen : &pin->pool->unseen;
}

/* An idle pin with a descriptor stands in its queue; any other in none. To be called around every
 * change of a pin. */
static void pin_take_out(struct pin *pin)
{
	if (pin->queued)
		TAILQ_REMOVE(pin_queue_of(pin), pin, link);
	pin->queued = false;
	pin->pool->unpinned -= pin_counts_as_unpinned(pin);
}

static void pin_put_back(struct pin *pin)
{
	pin->queued = pin->fd >= 0 && pin->users == 0;
	if (pin->queued)
		TAILQ_INSERT_TAIL(pin_queue_of(pin), pin, link);
	pin->pool->unpinned += pin_counts_as_unpinned(pin);
}

/* Takes the least recently used descriptor of a queue out. It is to be closed without the lock: a
 * source that hangs holds up the close (FLUSH). Returns it, -1: there is none. */
static int evict_from(struct fdpool *pool, struct pin_queue *queue)
{
	struct pin *pin = TAILQ_FIRST(queue);
	int fd;

	if (!pin)
		return -1;
	pin_take_out(pin);
	fd = steal_fd(&pin->fd);
	pool->held--;
	pin_put_back(pin);
	return fd;
}

/* Makes room for one more descriptor. One of a file that nobody has seen takes nobody's place who
 * has been seen, unless it is needed now. Returns whether there is room, with *ret_evicted to be
 * closed without the lock, or -1. */
static bool make_room(struct fdpool *pool, bool needed, int *ret_evicted)
{
	*ret_evicted = -1;
	if (pool->held < pool->limit)
		return true;
	*ret_evicted = evict_from(pool, &pool->unseen);
	if (*ret_evicted < 0 && needed)
		*ret_evicted = evict_from(pool, &pool->seen);
	return *ret_evicted >= 0;
}

static void pin_destroy(struct source *source)
{
	_cleanup_(closep) int fd = -1;
	struct pin *pin = source->pin;
	struct fdpool *pool = pin->pool;

	pthread_mutex_lock(&pool->lock);
	pin_take_out(pin);
	if (pin->fd >= 0) {
		fd = steal_fd(&pin->fd);
		pool->held--;
	}
	if (pin->kept_as) {
		TAILQ_REMOVE(&pool->kept, pin, kept_link);
		pool->n_kept--;
		pool->n_stale++;
	}
	pthread_mutex_unlock(&pool->lock);
	source->pin = NULL;
	source->release = pin->release;
	free(pin);
	if (source->release)
		source->release(source);
}

/* The source's pin, made where it has none; NULL without memory. With the lock held. */
static struct pin *pin_of(struct fdpool *pool, struct source *source)
{
	struct pin *pin = source->pin;

	if (pin)
		return pin;
	pin = calloc(1, sizeof(*pin));
	if (!pin)
		return NULL;
	*pin = (struct pin){ .pool = pool, .source = source, .fd = -1, .release = source->release };
	source->pin = pin;
	source->release = pin_destroy;
	return pin;
}

void fdpool_offer(void *context, struct source *source, int fd)
{
	_cleanup_(closep) int evicted = -1;
	struct fdpool *pool = context;
	struct pin *pin;

	pthread_mutex_lock(&pool->lock);
	pin = pin_of(pool, source);
	if (pin && pin->fd < 0 && make_room(pool, false, &evicted)) {
		pin_take_out(pin);
		pin->fd = steal_fd(&fd);
		pool->held++;
		pin_put_back(pin);
	}
	pthread_mutex_unlock(&pool->lock);
	closep(&fd);
}

/* Opens the source's file again. Returns the descriptor, -ESTALE, or -errno. */
static int open_again(const struct source *source)
{
	_cleanup_(closep) int fd = rootfs_open_canonical(source->root, source->path);
	struct stat st;

	if (fd < 0)
		return fd == -ENOENT || fd == -ELOOP || fd == -ENOTDIR ? -ESTALE : fd;
	if (fstat(fd, &st) < 0)
		return -errno;
	if (!source_matches(source, &st))
		return -ESTALE;
	return steal_fd(&fd);
}

int fdpool_acquire(struct fdpool *pool, struct source *source)
{
	_cleanup_(closep) int evicted = -1;
	struct pin *pin;
	int fd;

	pthread_mutex_lock(&pool->lock);
	pin = pin_of(pool, source);
	if (pin && pin->fd >= 0) {
		pin_take_out(pin);
		pin->users++;
		pin_put_back(pin);
		fd = pin->fd;
		pthread_mutex_unlock(&pool->lock);
		return fd;
	}
	pthread_mutex_unlock(&pool->lock);

	/* Without the lock: the open may be slow. */
	fd = open_again(source);
	if (fd == -EMFILE) {
		pthread_mutex_lock(&pool->lock);
		evicted = evict_from(pool, &pool->unseen);
		if (evicted < 0)
			evicted = evict_from(pool, &pool->seen);
		pthread_mutex_unlock(&pool->lock);
		closep(&evicted);
		evicted = -1;
		fd = open_again(source);
	}
	if (fd < 0 || !pin)
		return fd;

	pthread_mutex_lock(&pool->lock);
	if (pin->fd < 0 && make_room(pool, true, &evicted)) {
		pin_take_out(pin);
		pin->fd = fd;
		pin->users++;
		pool->held++;
		pin_put_back(pin);
	}
	pthread_mutex_unlock(&pool->lock);
	return fd;
}

void fdpool_release(struct fdpool *pool, struct source *source, int fd)
{
	struct pin *pin;

	pthread_mutex_lock(&pool->lock);
	pin = source->pin;
	if (pin && pin->fd == fd) {
		pin_take_out(pin);
		pin->users--;
		pin_put_back(pin);
		fd = -1;
	}
	pthread_mutex_unlock(&pool->lock);
	closep(&fd);
}

void fdpool_reveal(struct fdpool *pool, struct source *source, bool revealed)
{
	struct pin *pin;

	pthread_mutex_lock(&pool->lock);
	pin = source->pin;
	if (pin && pin->revealed != revealed) {
		pin_take_out(pin);
		pin->revealed = revealed;
		pin_put_back(pin);
	}
	pthread_mutex_unlock(&pool->lock);
}

void fdpool_count(struct fdpool *pool, struct fdpool_counts *ret_counts)
{
	pthread_mutex_lock(&pool->lock);
	*ret_counts = (struct fdpool_counts){
		.held = pool->held,
		.limit = pool->limit,
		.unpinned = pool->unpinned,
	};
	pthread_mutex_unlock(&pool->lock);
}
