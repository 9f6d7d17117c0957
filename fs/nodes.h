/* SPDX-License-Identifier: MIT */
/* nodes: the node table: which inode number (= FUSE nodeid) stands for what, and how often the
 * kernel has looked it up. Not thread-safe: its owner `tree` has the lock. Edge.
 *
 * A directory has one node per path; a file one per identity and plan of changes, under all its
 * names and views; a link one per path and target; content one per path and bytes. So what a node
 * answers never changes. Numbers fit in 32 bits, come from a counter and are never reused; a key
 * that comes back gets its old one. */
#pragma once

#include <sys/stat.h>

#include "fdpool.h"
#include "snapshot.h"

#define NODES_ROOT 1

struct node {
	uint32_t ino;
	enum view_kind kind;
	uint64_t key;      /* hash of what makes it this node */
	uint64_t lookups;  /* references that the kernel holds: > 0 is revealed */
	uint64_t serial;   /* of the last view that has it */
	uint64_t assigned; /* serial of the last view that it was given to */
	/* The kernel may hold it for ever: an earlier process gave it out and its count is not
	 * known. */
	bool kept;
	struct timespec mtime; /* directories: when their list last changed */
	char *path;            /* directory, link, content: in the mount */
	char *target;          /* link; content: its bytes */
	size_t target_size;
	struct file_identity identity; /* file */
	uint64_t overlay_id;           /* file: of what is changed of it; 0: nothing */
	uint64_t size;                 /* file: as served */
	/* File: references; both NULL while nothing can ask for it. */
	struct source *source;
	struct overlay *overlay; /* NULL also where nothing is changed */
	/* Directory: its entries in the published view, NULL where that has no such directory. */
	const struct view_directory *directory;
	struct node *next_by_ino;
	struct node *next_by_key;
};

struct nodes;

struct nodes *nodes_new(struct fdpool *pool);
/* Accepts NULL, returns NULL. */
struct nodes *nodes_free(struct nodes *nodes);

/* Gives each entry and directory of a finished view its number, making nodes where there are none.
 * The view may be dropped afterwards without being published. Returns 0 or -ENOMEM. */
int nodes_assign(struct nodes *nodes, struct view *view);
/* The assigned view is the published one from now on: nodes point to its directories and sources;
 * those that no view has and the kernel has forgotten let go of their files. Allocates nothing. */
void nodes_publish(struct nodes *nodes, const struct view *view);

/* The nodes that a request may come for: of the published view, of the one that was assigned last,
 * and what the kernel has of older ones. Calls `each` for every one. */
void nodes_each(const struct nodes *nodes, void (*each)(void *context, const struct node *node),
	void *context);
/* The highest number given. */
uint32_t nodes_last(const struct nodes *nodes);
/* Makes the nodes of an earlier process again, all of them as revealed, in an empty table: what
 * they stand for is copied or referenced. Afterwards the view that they are of is assigned and
 * published as any. Returns 0, -EBADMSG: they contradict each other, or -ENOMEM. */
int nodes_restore(struct nodes *nodes, const struct snapshot *snapshot);

struct node *nodes_find(struct nodes *nodes, uint64_t ino);
/* The kernel gets one more reference. */
void nodes_reveal(struct nodes *nodes, struct node *node);
/* The kernel drops `count` references. */
void nodes_forget(struct nodes *nodes, struct node *node, uint64_t count);
/* Nodes that are known, numbers that the kernel may hold. */
void nodes_count(const struct nodes *nodes, size_t *ret_known, size_t *ret_revealed);
