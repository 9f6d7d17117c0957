/* SPDX-License-Identifier: MIT */
/* scan: the cache of sources by real path; every access under its mutex. */
#include <stdlib.h>
#include <string.h>

#include "scan_internal.h"

struct cached {
	struct cached *next;
	uint64_t hash;
	uint64_t stamp; /* of the last scan that saw it */
	struct source *source;
};

struct scan_cache {
	atomic_uint references;
	pthread_mutex_t mutex;
	uint64_t last_stamp;
	struct cached **buckets;
	size_t n_buckets; /* a power of two */
	size_t count;
	struct scan_hung hung;
};

#define BUCKETS_AT_FIRST 256

struct scan_cache *scan_cache_new(void)
{
	struct scan_cache *cache = calloc(1, sizeof(*cache));

	if (!cache)
		return NULL;
	cache->buckets = calloc(BUCKETS_AT_FIRST, sizeof(*cache->buckets));
	if (!cache->buckets) {
		free(cache);
		return NULL;
	}
	cache->n_buckets = BUCKETS_AT_FIRST;
	atomic_init(&cache->references, 1);
	pthread_mutex_init(&cache->mutex, NULL);
	scan_hung_init(&cache->hung);
	return cache;
}

struct scan_hung *scan_cache_hung(struct scan_cache *cache)
{
	return &cache->hung;
}

bool scan_cache_in_use(struct scan_cache *cache)
{
	return cache && atomic_load(&cache->references) > 1;
}

struct scan_cache *scan_cache_ref(struct scan_cache *cache)
{
	atomic_fetch_add_explicit(&cache->references, 1, memory_order_relaxed);
	return cache;
}

struct scan_cache *scan_cache_free(struct scan_cache *cache)
{
	if (!cache || atomic_fetch_sub_explicit(&cache->references, 1, memory_order_acq_rel) != 1)
		return NULL;
	for (size_t i = 0; i < cache->n_buckets; i++) {
		while (cache->buckets[i]) {
			struct cached *entry = cache->buckets[i];

			cache->buckets[i] = entry->next;
			source_unref(entry->source);
			free(entry);
		}
	}
	scan_hung_clear(&cache->hung);
	pthread_mutex_destroy(&cache->mutex);
	free(cache->buckets);
	free(cache);
	return NULL;
}

uint64_t scan_cache_begin(struct scan_cache *cache)
{
	uint64_t stamp;

	pthread_mutex_lock(&cache->mutex);
	stamp = ++cache->last_stamp;
	pthread_mutex_unlock(&cache->mutex);
	return stamp;
}

void scan_cache_commit(struct scan_cache *cache, uint64_t stamp)
{
	pthread_mutex_lock(&cache->mutex);
	for (size_t i = 0; i < cache->n_buckets; i++) {
		struct cached **place = &cache->buckets[i];

		while (*place) {
			struct cached *entry = *place;

			if (entry->stamp >= stamp) {
				place = &entry->next;
				continue;
			}
			*place = entry->next;
			source_unref(entry->source);
			free(entry);
			cache->count--;
		}
	}
	pthread_mutex_unlock(&cache->mutex);
}

static uint64_t hash_path(const char *prefix, const char *path)
{
	return fnv1a(fnv1a(FNV_START, prefix, strlen(prefix)), path, strlen(path));
}

static struct cached **find_place(
	struct scan_cache *cache, uint64_t hash, const char *prefix, const char *path)
{
	struct cached **place = &cache->buckets[hash & (cache->n_buckets - 1)];
	size_t length = strlen(prefix);

	for (; *place; place = &(*place)->next) {
		const char *real_path = (*place)->source->real_path;

		if ((*place)->hash == hash && strncmp(real_path, prefix, length) == 0 &&
			strcmp(real_path + length, path) == 0)
			break;
	}
	return place;
}

/* Two roots of one path are one only if no other directory has taken its place. */
static bool same_root(const struct rootfs *a, const struct rootfs *b)
{
	struct stat left, right;

	if (a == b)
		return true;
	return fstat(a->fd, &left) == 0 && fstat(b->fd, &right) == 0 &&
	       left.st_dev == right.st_dev && left.st_ino == right.st_ino;
}

static bool same_file(const struct source *source, const struct stat *stat)
{
	return source_matches(source, stat) && source->ctime_sec == stat->st_ctim.tv_sec &&
	       source->ctime_nsec == (uint32_t)stat->st_ctim.tv_nsec;
}

struct source *scan_cache_find(struct scan_cache *cache, uint64_t stamp, const struct rootfs *root,
	const char *path, const struct stat *stat)
{
	struct source *found = NULL;
	struct cached *entry;

	pthread_mutex_lock(&cache->mutex);
	entry = *find_place(cache, hash_path(root->prefix, path), root->prefix, path);
	if (entry && same_file(entry->source, stat) && same_root(entry->source->root, root)) {
		if (entry->stamp < stamp)
			entry->stamp = stamp;
		found = source_ref(entry->source);
	}
	pthread_mutex_unlock(&cache->mutex);
	return found;
}

static void grow(struct scan_cache *cache)
{
	size_t wanted = cache->n_buckets * 2;
	struct cached **buckets;

	if (cache->count < cache->n_buckets)
		return;
	buckets = calloc(wanted, sizeof(*buckets));
	if (!buckets)
		return;
	for (size_t i = 0; i < cache->n_buckets; i++) {
		struct cached *entry, *next;

		for (entry = cache->buckets[i]; entry; entry = next) {
			next = entry->next;
			entry->next = buckets[entry->hash & (wanted - 1)];
			buckets[entry->hash & (wanted - 1)] = entry;
		}
	}
	free(cache->buckets);
	cache->buckets = buckets;
	cache->n_buckets = wanted;
}

static bool same_source(const struct source *a, const struct source *b)
{
	return memcmp(&a->identity, &b->identity, sizeof(a->identity)) == 0 &&
	       a->ctime_sec == b->ctime_sec && a->ctime_nsec == b->ctime_nsec &&
	       !a->text == !b->text && same_root(a->root, b->root);
}

struct source *scan_cache_insert(struct scan_cache *cache, uint64_t stamp, struct source *source)
{
	uint64_t hash = hash_path("", source->real_path);
	struct source *kept = source;
	struct cached **place, *entry;

	pthread_mutex_lock(&cache->mutex);
	grow(cache);
	place = find_place(cache, hash, "", source->real_path);
	entry = *place;
	if (entry && same_source(entry->source, source)) {
		kept = entry->source;
	} else if (entry && entry->stamp <= stamp) {
		source_unref(entry->source);
		entry->source = source_ref(source);
	} else if (!entry) {
		entry = calloc(1, sizeof(*entry));
		if (entry) {
			*entry = (struct cached){ .hash = hash, .source = source_ref(source) };
			*place = entry;
			cache->count++;
		}
	}
	if (entry && entry->stamp < stamp)
		entry->stamp = stamp;
	kept = source_ref(kept);
	pthread_mutex_unlock(&cache->mutex);
	return kept;
}
