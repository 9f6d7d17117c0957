/* SPDX-License-Identifier: MIT */
#include "plan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rootfs.h"
#include "sets.h"

enum {
	CACHE_BUCKETS = 512,
	CACHE_RUNS = 8, /* plans that so many runs have not used are dropped */
};

struct cached {
	struct cached *next;
	struct file_identity identity;
	int64_t ctime_sec;
	uint32_t ctime_nsec;
	char *wanted;
	struct elfpatch_plan patch;
	uint64_t run; /* the last that used it */
};

struct plan_cache {
	uint64_t run;
	struct cached *buckets[CACHE_BUCKETS];
};

/* A library's entry in the view. */
struct place {
	struct view_entry *entry;
	unsigned depth; /* of its directory below lib/ */
};

struct places {
	struct place *items;
	size_t count;
	size_t capacity;
};

static void cached_free(struct cached *cached)
{
	free(cached->wanted);
	elfpatch_clear(&cached->patch);
	free(cached);
}

struct plan_cache *plan_cache_new(void)
{
	return calloc(1, sizeof(struct plan_cache));
}

/* Drops what was used before the run `oldest`. */
static void cache_drop(struct plan_cache *cache, uint64_t oldest)
{
	for (size_t i = 0; i < CACHE_BUCKETS; i++) {
		struct cached **at = &cache->buckets[i];

		while (*at) {
			struct cached *cached = *at;

			if (cached->run >= oldest) {
				at = &cached->next;
				continue;
			}
			*at = cached->next;
			cached_free(cached);
		}
	}
}

struct plan_cache *plan_cache_free(struct plan_cache *cache)
{
	if (cache)
		cache_drop(cache, UINT64_MAX);
	free(cache);
	return NULL;
}

static struct cached **cache_bucket(
	struct plan_cache *cache, const struct source *source, const char *wanted)
{
	uint64_t hash = fnv1a(FNV_START, &source->identity, sizeof(source->identity));

	hash = fnv1a(hash, wanted, strlen(wanted));
	return &cache->buckets[hash % CACHE_BUCKETS];
}

static struct cached *cache_find(
	struct plan_cache *cache, const struct source *source, const char *wanted)
{
	struct cached *cached = *cache_bucket(cache, source, wanted);

	while (cached && (cached->ctime_sec != source->ctime_sec ||
				 cached->ctime_nsec != source->ctime_nsec ||
				 memcmp(&cached->identity, &source->identity,
					 sizeof(cached->identity)) != 0 ||
				 strcmp(cached->wanted, wanted) != 0))
		cached = cached->next;
	return cached;
}

static int copy_patch(const struct elfpatch_plan *from, struct elfpatch_plan *ret_to)
{
	char *runpath = from->runpath ? strdup(from->runpath) : NULL;

	if (from->runpath && !runpath)
		return -ENOMEM;
	*ret_to = *from;
	ret_to->runpath = runpath;
	if (from->overlay)
		ret_to->overlay = overlay_ref(from->overlay);
	return 0;
}

static int cache_put(struct plan_cache *cache, const struct source *source, const char *wanted,
	const struct elfpatch_plan *patch)
{
	struct cached **bucket = cache_bucket(cache, source, wanted);
	struct cached *cached = calloc(1, sizeof(*cached));

	if (!cached)
		return -ENOMEM;
	cached->wanted = strdup(wanted);
	if (!cached->wanted || copy_patch(patch, &cached->patch) < 0) {
		cached_free(cached);
		return -ENOMEM;
	}
	cached->identity = source->identity;
	cached->ctime_sec = source->ctime_sec;
	cached->ctime_nsec = source->ctime_nsec;
	cached->run = cache->run;
	cached->next = *bucket;
	*bucket = cached;
	return 0;
}

static int64_t read_fd(void *context, void *buffer, size_t size, uint64_t offset)
{
	const int *fd = context;
	ssize_t got;

	do
		got = pread(*fd, buffer, size, (off_t)offset);
	while (got < 0 && errno == EINTR);
	return got < 0 ? -errno : got;
}

/* Plans through a descriptor. *ret_settled: the file is still the source, so the plan stays true.
 */
static int plan_fd(int fd, const struct source *source, const char *wanted,
	struct elfpatch_plan *ret_patch, bool *ret_settled)
{
	const struct elf_input input = { read_fd, &fd, source->identity.size };
	struct stat st;
	int r = elfpatch(&input, wanted, ret_patch);

	if (r < 0)
		return r;
	*ret_settled = fstat(fd, &st) == 0 && source_matches(source, &st) &&
		       st.st_ctim.tv_sec == source->ctime_sec &&
		       (uint32_t)st.st_ctim.tv_nsec == source->ctime_nsec &&
		       ret_patch->refusal != ELFPATCH_IO;
	return 0;
}

/* Plans one file that no run has planned. */
static int plan_file(const struct plan_request *request, struct source *source, const char *wanted,
	struct elfpatch_plan *ret_patch)
{
	bool settled = false;
	int fd = request->pool ? fdpool_acquire(request->pool, source)
			       : rootfs_open_canonical(source->root, source->path);
	int r = 0;

	*ret_patch = (struct elfpatch_plan){ .kind = ELFPATCH_REFUSED, .refusal = ELFPATCH_IO };
	if (fd < 0)
		return 0;
	r = plan_fd(fd, source, wanted, ret_patch, &settled);
	if (request->pool)
		fdpool_release(request->pool, source, fd);
	else
		close(fd);
	if (r == 0 && settled && request->cache)
		r = cache_put(request->cache, source, wanted, ret_patch);
	return r;
}

static int plan_source(
	const struct plan_request *request, const struct runpath_place *place, struct plan *plan)
{
	struct plan_cache *cache = request->cache;
	struct cached *cached;
	int r = runpath_wanted(request->policy, request->mountpoint, plan->source, place,
		&plan->wanted, &plan->why);

	if (r < 0 || !plan->wanted)
		return r;
	cached = cache ? cache_find(cache, plan->source, plan->wanted) : NULL;
	if (!cached)
		return plan_file(request, plan->source, plan->wanted, &plan->patch);
	cached->run = cache->run;
	return copy_patch(&cached->patch, &plan->patch);
}

static int collect(struct view_directory *directory, unsigned depth, struct places *places)
{
	for (size_t i = 0; i < directory->count; i++) {
		struct view_entry *entry = &directory->entries[i];

		if (entry->kind == VIEW_DIRECTORY) {
			if (collect(entry->directory, depth + 1, places) < 0)
				return -ENOMEM;
			continue;
		}
		/* A relative link leads to another entry. */
		if (!entry->source || !entry->source->is_elf ||
			(entry->kind == VIEW_LINK && entry->target[0] != '/'))
			continue;
		if (array_grow(&places->items, &places->capacity, places->count,
			    sizeof(*places->items)) < 0)
			return -ENOMEM;
		places->items[places->count++] = (struct place){ entry, depth };
	}
	return 0;
}

static int collect_lib(struct view *view, struct places *places)
{
	for (size_t i = 0; i < view->root.count; i++) {
		struct view_entry *entry = &view->root.entries[i];

		if (entry->kind == VIEW_DIRECTORY && strcmp(entry->name, "lib") == 0)
			return collect(entry->directory, 0, places);
	}
	return 0;
}

static int compare_places(const void *a, const void *b)
{
	const struct place *left = a, *right = b;

	return memcmp(&left->entry->source->identity, &right->entry->source->identity,
		sizeof(left->entry->source->identity));
}

/* One plan for all places of one file: it is one inode. */
static int plan_places(const struct plan_request *request, const char *set,
	const struct place *places, size_t count, struct plan *plan)
{
	struct runpath_place place = { 0 };
	int r;

	for (size_t i = 0; i < count; i++) {
		if (places[i].depth > place.depth)
			place.depth = places[i].depth;
		if (places[i].depth == 0 && sets_has(request->decision, places[i].entry) &&
			sets_pins(places[i].entry->source))
			place.set = set;
	}
	plan->source = source_ref(places[0].entry->source);
	r = plan_source(request, &place, plan);
	for (size_t i = 0; r == 0 && plan->patch.overlay && i < count; i++)
		view_patch(places[i].entry, plan->patch.overlay);
	return r;
}

static int plan_all(const struct plan_request *request, const char *set,
	const struct places *places, struct plan_list *plans)
{
	plans->items = calloc(places->count + 1, sizeof(*plans->items));
	if (!plans->items)
		return -ENOMEM;
	for (size_t i = 0, next; i < places->count; i = next) {
		int r;

		for (next = i + 1; next < places->count &&
				   compare_places(&places->items[i], &places->items[next]) == 0;)
			next++;
		r = plan_places(
			request, set, &places->items[i], next - i, &plans->items[plans->count++]);
		if (r < 0)
			return r;
	}
	return 0;
}

int plan_view(const struct plan_request *request, struct view *view, struct plan_list *ret_plans)
{
	struct places places = { 0 };
	struct plan_list plans = { 0 };
	char set[SETS_ID_SIZE];
	int r = sets_identify(view, request->decision, set);

	if (r >= 0)
		r = collect_lib(view, &places);
	if (request->cache)
		request->cache->run++;
	if (r == 0 && places.count > 1)
		qsort(places.items, places.count, sizeof(*places.items), compare_places);
	if (r == 0)
		r = plan_all(request, set, &places, &plans);
	free(places.items);
	if (r < 0) {
		plan_list_clear(&plans);
		return r;
	}
	if (request->cache && request->cache->run > CACHE_RUNS)
		cache_drop(request->cache, request->cache->run - CACHE_RUNS);
	*ret_plans = plans;
	return 0;
}
