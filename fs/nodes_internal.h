/* SPDX-License-Identifier: MIT */
/* nodes_internal: what the node table's two halves share: finding and making nodes (nodes.c),
 * publishing a view and taking over an earlier process' nodes (nodes_publish.c). Edge. */
#pragma once

#include "nodes.h"

struct nodes {
	struct fdpool *pool;
	uint32_t last_ino;
	uint64_t serial; /* of the published view */
	size_t count;
	size_t revealed;
	size_t n_buckets; /* a power of two */
	struct node **by_ino;
	struct node **by_key;
};

/* What a node is found by. */
struct node_key {
	enum view_kind kind;
	const char *path;
	const char *target;
	size_t target_size;
	struct source *source;
	struct overlay *overlay;
	uint64_t hash;
};

void node_free(struct node *node);
struct node **nodes_key_bucket(const struct nodes *nodes, uint64_t key);
/* The node of a key, made where there is none. Returns 0 or -ENOMEM. */
int nodes_take(struct nodes *nodes, struct node_key *key, struct node **ret_node);
bool nodes_in_use(const struct nodes *nodes, const struct node *node);
/* A node that nobody can ask for lets go of its file; it keeps its number. */
void nodes_let_go(const struct nodes *nodes, struct node *node);
