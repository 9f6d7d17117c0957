/* SPDX-License-Identifier: MIT */
#include "stale.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "util.h"

/* A driver has at most a few hundred names; a link leads to one of the names that went last. */
#define NAMES 1024
/* Threads between their first and their second walk, at one time. */
#define WALKS 64
/* A second walk follows at once; what is older was of a thread that ended. */
#define WALK_SECONDS 10

struct stale_name {
	uint64_t hash; /* of parent and name; 0: free */
	uint32_t ino;
};

struct stale_walk {
	pid_t thread; /* 0: free */
	uint64_t hash;
	bool followed; /* the second walk came over a link: it did not mean the name itself */
	time_t since;
};

struct stale {
	struct stale_name names[NAMES]; /* a ring */
	size_t next;
	struct stale_walk walks[WALKS];
	size_t n_walks; /* in use */
};

struct stale *stale_new(void)
{
	return calloc(1, sizeof(struct stale));
}

struct stale *stale_free(struct stale *stale)
{
	free(stale);
	return NULL;
}

static uint64_t hash_of(uint32_t parent, const char *name)
{
	uint64_t hash = fnv1a(fnv1a(FNV_START, &parent, sizeof(parent)), name, strlen(name));

	return hash ? hash : 1;
}

static struct stale_name *find_name(struct stale *stale, uint64_t hash)
{
	for (size_t i = 0; i < NAMES; i++)
		if (stale->names[i].hash == hash)
			return &stale->names[i];
	return NULL;
}

static struct stale_walk *find_walk(struct stale *stale, pid_t thread)
{
	for (size_t i = 0; stale->n_walks > 0 && i < WALKS; i++)
		if (stale->walks[i].thread == thread)
			return &stale->walks[i];
	return NULL;
}

static void end_walk(struct stale *stale, struct stale_walk *walk)
{
	walk->thread = 0;
	stale->n_walks--;
}

void stale_note(struct stale *stale, uint32_t parent, const char *name, uint32_t ino)
{
	uint64_t hash = hash_of(parent, name);
	struct stale_name *place = find_name(stale, hash);

	if (!place) {
		place = &stale->names[stale->next];
		stale->next = (stale->next + 1) % NAMES;
	}
	*place = (struct stale_name){ .hash = hash, .ino = ino };
}

static time_t now_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	return now.tv_sec;
}

/* A place for one more walk, NULL: too many threads are between their walks. */
static struct stale_walk *new_walk(struct stale *stale)
{
	time_t now = now_seconds();

	for (size_t i = 0; i < WALKS; i++) {
		struct stale_walk *walk = &stale->walks[i];

		if (walk->thread != 0 && now - walk->since > WALK_SECONDS)
			end_walk(stale, walk);
		if (walk->thread == 0) {
			stale->n_walks++;
			walk->since = now;
			return walk;
		}
	}
	return NULL;
}

enum stale_answer stale_ask(
	struct stale *stale, pid_t thread, uint32_t parent, const char *name, uint32_t *ret_ino)
{
	uint64_t hash = hash_of(parent, name);
	const struct stale_name *found = find_name(stale, hash);
	struct stale_walk *walk;

	if (!found || thread == 0)
		return STALE_ABSENT;
	walk = find_walk(stale, thread);
	if (walk) {
		bool meant = walk->hash == hash && !walk->followed;

		end_walk(stale, walk);
		*ret_ino = found->ino;
		return meant ? STALE_ABSENT : STALE_SERVE;
	}
	walk = new_walk(stale);
	if (!walk)
		return STALE_ABSENT;
	walk->thread = thread;
	walk->hash = hash;
	walk->followed = false;
	return STALE_AGAIN;
}

void stale_followed(struct stale *stale, pid_t thread)
{
	struct stale_walk *walk = thread == 0 ? NULL : find_walk(stale, thread);

	if (walk)
		walk->followed = true;
}

void stale_arrived(struct stale *stale, pid_t thread)
{
	struct stale_walk *walk = thread == 0 ? NULL : find_walk(stale, thread);

	if (walk)
		end_walk(stale, walk);
}
