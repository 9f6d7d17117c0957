/* SPDX-License-Identifier: MIT */
/* tree: the published generation and the node table under one lock: every request is answered from
 * one generation, and what a request reveals is known before a publish looks for names to
 * invalidate. Edge. */
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include "fdpool.h"
#include "generation.h"
#include "snapshot.h"

struct tree;

/* `stale`: memory that outlives the process (stale_new), or NULL. */
struct tree *tree_new(struct fdpool *pool, void *stale);
/* Accepts NULL, returns NULL. */
struct tree *tree_free(struct tree *tree);

/* The published generation as a reference of the caller's; NULL before the first publish. */
struct generation *tree_current(struct tree *tree);

/* What a publish has to tell the kernel. */
struct tree_change {
	struct generation *before; /* a reference; NULL for the first publish */
	struct generation *after;
	/* Borrows from both. Prepared: all differences; committed: those that the kernel may not
	 * know, in the order of telling. */
	struct viewdiff diff;
	uint32_t *attributes; /* nodes whose owner or mode changed, revealed ones */
	size_t n_attributes;
};

/* A publish has two steps. Between them the new names are told to the kernel (invalidate_added):
 * absent names that it remembers go, and those that the next view has are not remembered any more.
 * So a link of the new view, once it is seen, never leads to a name that seems absent.
 *
 * The first compares and gives the numbers. Returns 0 and what changes (tree_change_clear), or
 * -ENOMEM with nothing changed. */
int tree_prepare(struct tree *tree, struct generation *generation, struct tree_change *ret_change);
/* The second makes the prepared generation the published one; the rest is to be told then.
 * `published` (may be NULL) runs with the lock held, before any request sees the new view: the
 * resume state is switched there. */
void tree_commit(struct tree *tree, struct tree_change *change, void (*published)(void *context),
	void *context);
/* Instead of the second: the prepared generation is not published. */
void tree_abandon(struct tree *tree);
void tree_change_clear(struct tree_change *change);

/* Between the two: fills the snapshot's nodes and the rest that only the tree knows. All is
 * borrowed from the tree and the change, but for `nodes` (to be freed); valid until tree_commit.
 * Returns 0 or -ENOMEM. */
int tree_snapshot(
	struct tree *tree, const struct tree_change *change, struct snapshot *ret_snapshot);
/* In an empty tree: what an earlier process published, with its numbers. Returns 0, -EBADMSG: they
 * do not fit the view, or -ENOMEM. */
int tree_restore(struct tree *tree, struct generation *generation, const struct snapshot *snapshot);

/* Whether the kernel holds a file of the set; fits sets_usage with the tree as context. */
bool tree_uses_set(void *context, const struct cuda_set *set);

/* The requests. Each allocates nothing and returns 0 or -errno: -ENOENT for a name or node that is
 * not there, -ENOTDIR, -EISDIR, -EINVAL. */
/* `thread` asks in the request `unique`, 0: not known. -ESTALE: it must walk its path again (module
 * `stale`). *ret_keep: the answer may be remembered. */
int tree_lookup(struct tree *tree, uint64_t parent, const char *name, pid_t thread, uint64_t unique,
	struct stat *ret_stat, bool *ret_keep);
int tree_getattr(struct tree *tree, uint64_t ino, struct stat *ret_stat);
void tree_forget(struct tree *tree, uint64_t ino, uint64_t count);
/* Copies the link's text and a NUL into buffer. */
int tree_readlink(struct tree *tree, uint64_t ino, char *buffer, size_t size);

/* One entry of a listing: false: it does not fit, the listing ends before it. */
typedef bool (*tree_fill)(void *context, const char *name, const struct stat *stat, off_t next);
/* Lists from the offset; reveals the entries (not "." and "..") that fill took when `reveal`. */
int tree_list(
	struct tree *tree, uint64_t ino, off_t offset, bool reveal, tree_fill fill, void *context);

/* Reads content bytes, or gives the source whose bytes are asked for and the overlay to be put over
 * them, or NULL (references, *ret_source, *ret_overlay). Returns the number of bytes copied with
 * *ret_source NULL, 0 with a source, or -errno. */
ssize_t tree_read(struct tree *tree, uint64_t ino, char *buffer, size_t size, off_t offset,
	struct source **ret_source, struct overlay **ret_overlay);

enum tree_xattr { TREE_XATTR_LAYER, TREE_XATTR_SOURCE, TREE_XATTR_GENERATION };
/* Copies the value without a NUL. Returns its length, -ENODATA, or -ERANGE (size 0 asks for the
 * length). */
ssize_t tree_getxattr(
	struct tree *tree, uint64_t ino, enum tree_xattr which, char *buffer, size_t size);

struct tree_counts {
	size_t entries; /* of the published view, without directories */
	size_t nodes;
	size_t revealed;
	struct fdpool_counts descriptors;
};
void tree_count(struct tree *tree, struct tree_counts *ret_counts);
