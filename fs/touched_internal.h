/* SPDX-License-Identifier: MIT */
/* touched_internal: what the two halves of `touched` share: filling the record (touched.c) and
 * judging events by it (touched_events.c). Edge. */
#pragma once

#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>

#include "namemap.h"
#include "touched.h"

#define TOUCHED_KEY_SIZE (NAME_MAX + 32)

/* What is to be seen of a directory: each has what the ones before have. A directory that stays
 * itself needs no look at the names of the one above, where all the world may come and go (/tmp).
 */
enum touched_level { LEVEL_SELF, LEVEL_NAMES, LEVEL_CONTENT };

struct touched_record {
	int wd; /* -1: it is not watched */
	enum touched_level level;
	bool any;
	bool driver;
};

struct touched {
	atomic_uint references;
	int inotify;
	struct rootfs_avoid avoid; /* mounts of ours */
	pthread_mutex_t lock;      /* of what follows; not held where a file system is asked */
	bool sealed;
	struct touched_record *directories;
	size_t count, capacity;
	size_t n_watched, n_unwatched;
	int error; /* the first; 0: none */
	char *where;
	struct namemap by_inode;  /* "device:inode" */
	struct namemap names;     /* "directory/name", single ones */
	struct namemap patterns;  /* "directory/glob" */
	struct string_list texts; /* what the maps borrow */
};

/* "index/name" of a name or glob of a directory. Returns false where it is too long for one. */
bool touched_make_key(char key[TOUCHED_KEY_SIZE], size_t index, const char *name);
/* Whether a listing of the directory takes names like this one. */
bool touched_listing_covers(const struct touched_record *record, const char *name);
