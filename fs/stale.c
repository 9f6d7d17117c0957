/* SPDX-License-Identifier: MIT */
#include "stale.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "util.h"

/* A driver has at most a few hundred names; a link leads to one of the names that went last. */
#define NAMES 1024
/* Threads between their first and their second walk, at one time. */
#define WALKS 64
/* More than requests are under way at one time; a kernel counts them by twos. */
#define GIVEN 127
/* A second walk follows at once; what is older was of a thread that ended. */
#define WALK_MS 10000
/* For a while after a name went, or was served all the same, walks over the old link may come to
 * it:
 * - "absent" is not remembered, for it would be the answer to all of them;
 * - a name that was served is known to the kernel, but not to be trusted: it asks for it twice
 * within one walk, again (fuse_dentry_revalidate) and anew when that fails. The second time is no
 * second walk, so it is served to everybody. */
#define RECENT_MS 1000

struct stale_name {
	uint64_t hash; /* of parent and name; 0: free */
	uint32_t ino;
	uint64_t went_ms;
	uint64_t served_ms; /* when a walk was last given it all the same; 0: not since it went */
};

struct stale_walk {
	pid_t thread; /* 0: free */
	/* The second walk came over a link, which sent it to the name; without one the path itself
	 * has the name, or a directory on it that went as well. */
	bool followed;
	/* It has come to a directory since: the second walk has begun. */
	bool restarted;
	/* The kernel knew the name when it asked first: it asks for such a one twice in one walk,
	 * whether it is still right (fuse_dentry_revalidate) and, when it is not, anew. */
	bool asks_again;
	uint64_t since_ms;
};

/* An answer, for whoever handles the request again. */
struct stale_given {
	uint64_t unique; /* 0: none */
	uint32_t ino;
	enum stale_answer answer;
};

struct stale_table {
	struct stale_name names[NAMES]; /* a ring */
	size_t next;
	struct stale_walk walks[WALKS];
	size_t n_walks; /* in use */
	struct stale_given given[GIVEN];
};
_Static_assert(sizeof(struct stale_table) <= STALE_MEMORY, "STALE_MEMORY");

struct stale {
	struct stale_table *table;
	struct stale_table *owned;
};

struct stale *stale_new(void *memory)
{
	struct stale *stale = calloc(1, sizeof(*stale));

	if (!stale)
		return NULL;
	if (!memory)
		memory = stale->owned = calloc(1, sizeof(*stale->owned));
	if (!memory)
		return stale_free(stale);
	stale->table = memory;
	/* The process before may have ended in the middle of a change. */
	stale->table->next %= NAMES;
	stale->table->n_walks = 0;
	for (size_t i = 0; i < WALKS; i++)
		stale->table->n_walks += stale->table->walks[i].thread != 0;
	return stale;
}

struct stale *stale_free(struct stale *stale)
{
	if (stale)
		free(stale->owned);
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
		if (stale->table->names[i].hash == hash)
			return &stale->table->names[i];
	return NULL;
}

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000 + 1;
}

static bool is_recent(uint64_t then_ms)
{
	return then_ms != 0 && now_ms() - then_ms < RECENT_MS;
}

static enum stale_answer absent(const struct stale_name *name)
{
	return is_recent(name->went_ms) ? STALE_ABSENT_NOW : STALE_ABSENT;
}

static struct stale_walk *find_walk(struct stale *stale, pid_t thread)
{
	for (size_t i = 0; stale->table->n_walks > 0 && i < WALKS; i++)
		if (stale->table->walks[i].thread == thread)
			return &stale->table->walks[i];
	return NULL;
}

static void end_walk(struct stale *stale, struct stale_walk *walk)
{
	walk->thread = 0;
	stale->table->n_walks--;
}

void stale_note(struct stale *stale, uint32_t parent, const char *name, uint32_t ino)
{
	uint64_t hash = hash_of(parent, name);
	struct stale_name *place = find_name(stale, hash);

	if (!place) {
		place = &stale->table->names[stale->table->next];
		stale->table->next = (stale->table->next + 1) % NAMES;
	}
	/* Without its hash nobody finds it: a process that ends here leaves no half of it. */
	place->hash = 0;
	atomic_signal_fence(memory_order_seq_cst);
	place->ino = ino;
	place->went_ms = now_ms();
	place->served_ms = 0;
	atomic_signal_fence(memory_order_seq_cst);
	place->hash = hash;
}

/* A place for one more walk, NULL: too many threads are between their walks. */
static struct stale_walk *new_walk(struct stale *stale)
{
	uint64_t now = now_ms();

	for (size_t i = 0; i < WALKS; i++) {
		struct stale_walk *walk = &stale->table->walks[i];

		if (walk->thread != 0 && now - walk->since_ms > WALK_MS)
			end_walk(stale, walk);
		if (walk->thread == 0) {
			stale->table->n_walks++;
			walk->since_ms = now;
			return walk;
		}
	}
	return NULL;
}

static enum stale_answer answer(
	struct stale *stale, pid_t thread, uint64_t hash, bool known, uint32_t *ret_ino)
{
	struct stale_name *found = find_name(stale, hash);
	struct stale_walk *walk = thread == 0 ? NULL : find_walk(stale, thread);

	if (!found) {
		if (walk)
			end_walk(stale, walk);
		return STALE_ABSENT;
	}
	if (thread == 0)
		return absent(found);
	*ret_ino = found->ino;
	if (is_recent(found->served_ms)) {
		if (walk)
			end_walk(stale, walk);
		return STALE_SERVE;
	}
	if (walk && walk->asks_again && !walk->followed && !walk->restarted) {
		walk->asks_again = false;
		return STALE_AGAIN;
	}
	if (walk) {
		bool sent = walk->followed;

		end_walk(stale, walk);
		if (!sent)
			return absent(found);
		found->served_ms = now_ms();
		return STALE_SERVE;
	}
	walk = new_walk(stale);
	if (!walk)
		return absent(found);
	walk->thread = thread;
	walk->followed = walk->restarted = false;
	walk->asks_again = known && is_recent(found->went_ms);
	return STALE_AGAIN;
}

uint32_t stale_ino(struct stale *stale, uint32_t parent, const char *name)
{
	const struct stale_name *found = find_name(stale, hash_of(parent, name));

	return found ? found->ino : 0;
}

enum stale_answer stale_ask(struct stale *stale, pid_t thread, uint64_t unique, uint32_t parent,
	const char *name, bool known, uint32_t *ret_ino)
{
	struct stale_given *given = &stale->table->given[unique % GIVEN];
	enum stale_answer result;

	*ret_ino = 0;
	if (unique != 0 && given->unique == unique) {
		*ret_ino = given->ino;
		return given->answer;
	}
	result = answer(stale, thread, hash_of(parent, name), known, ret_ino);
	given->unique = 0;
	atomic_signal_fence(memory_order_seq_cst);
	given->answer = result;
	given->ino = *ret_ino;
	atomic_signal_fence(memory_order_seq_cst);
	given->unique = unique;
	return result;
}

void stale_followed(struct stale *stale, pid_t thread)
{
	struct stale_walk *walk = thread == 0 ? NULL : find_walk(stale, thread);

	if (walk)
		walk->followed = true;
}

void stale_restarted(struct stale *stale, pid_t thread)
{
	struct stale_walk *walk = thread == 0 ? NULL : find_walk(stale, thread);

	if (walk)
		walk->restarted = true;
}

void stale_arrived(struct stale *stale, pid_t thread)
{
	struct stale_walk *walk = thread == 0 ? NULL : find_walk(stale, thread);

	if (walk)
		end_walk(stale, walk);
}
