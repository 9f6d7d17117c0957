/* SPDX-License-Identifier: MIT */
/* served: a tree that a session serves to a kernel of the test's own (wire), and the questions that
 * most tests ask. */
#pragma once

#include "wire.h"
#include "world.h"

struct served {
	char *directory; /* of the host's files */
	struct fdpool *pool;
	struct tree *tree;
	struct ops ops;
	struct wire wire;
	atomic_int changed; /* how often a file was found changed in place */
};

/* A tree without a generation; the session begins with served_start. */
struct served *served_new(bool no_cache);
void served_start(struct served *served);
/* Stops, frees, and removes the files. */
void served_free(struct served *served);
/* Takes the view, which is not finished. */
struct tree_change served_publish(struct served *served, struct view *view);
/* lib/{libcuda.so.1 → libcuda.so.1.1, libcuda.so.1.1 = tag}, .gldriverfs/status.json */
struct view *served_view(struct served *served, const char *tag);
/* Looks up one or two components (second NULL); the last one's entry. */
struct fuse_entry_out served_find(struct served *served, const char *first, const char *second);
uint64_t served_node(struct served *served, const char *first, const char *second);
/* READ; returns the reply's error. */
int served_read(struct served *served, uint64_t node, uint64_t offset, uint32_t size,
	struct wire_reply *ret_reply);
