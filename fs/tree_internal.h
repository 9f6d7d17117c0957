/* SPDX-License-Identifier: MIT */
/* tree_internal: what tree's two halves share: publishing (tree.c) and answering (tree_ask.c).
 * Edge. */
#pragma once

#include <pthread.h>

#include "nodes.h"
#include "stale.h"
#include "tree.h"

struct tree {
	pthread_mutex_t lock;
	struct fdpool *pool;
	struct nodes *nodes;
	struct stale *stale;
	struct generation *current;
	struct view *incoming; /* prepared, not committed; its change holds it */
	uid_t uid;             /* owner of directories, links and content */
	gid_t gid;
};

static inline void unlockp(pthread_mutex_t **lock)
{
	pthread_mutex_unlock(*lock);
}

/* Holds the tree's lock until the end of the scope. */
#define TREE_LOCK(tree)                                                                            \
	_cleanup_(unlockp) pthread_mutex_t *scoped_lock_ = &(tree)->lock;                          \
	pthread_mutex_lock(scoped_lock_)
