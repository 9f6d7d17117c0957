/* SPDX-License-Identifier: MIT */
/* resume: writes what a successor needs before it is published, and makes it the daemon's own again
 * (DESIGN 6). Edge. */
#pragma once

#include "state.h"
#include "tree.h"

struct resume {
	struct state *state;
	struct tree *tree;
	struct fdpool *pool;
	int place; /* of the snapshot that resume_save wrote last */
};

/* Between tree_prepare and tree_commit: writes the snapshot of the prepared generation and keeps
 * the descriptors that it needs. Returns 0 or -errno with nothing changed. */
int resume_save(struct resume *resume, const struct tree_change *change);
/* For tree_commit, with the resume as context: from here on a successor serves the new view. */
void resume_published(void *context);
/* The kernel has been told all. */
void resume_told(struct resume *resume);

/* What a predecessor left. All owned. */
struct resume_loaded {
	struct generation *generation; /* a reference; published in the tree */
	struct snapshot snapshot;      /* `change` is what is to be told unless state_is_told */
	struct rootfs *under;          /* NULL: the chest does not have it */
	int fuse;                      /* /dev/fuse; -1: the chest does not have it */
	int listener;                  /* of the control socket; -1 */
};

/* Takes over what the state has: fills the (empty) tree and pool and the rest. Returns 0; -ENODATA:
 * nothing was published; -EPROTO, -EBADMSG: it cannot be read; or -errno. */
int resume_load(struct resume *resume, struct resume_loaded *ret_loaded);
void resume_loaded_clear(struct resume_loaded *loaded);
