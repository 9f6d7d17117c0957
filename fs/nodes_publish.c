/* SPDX-License-Identifier: MIT */
#include "nodes_internal.h"

#include <errno.h>

/* Nodes that no view has are remembered for their numbers up to this many. */
#define REMEMBERED_MAX 16384

static void publish_directory(struct nodes *nodes, const struct view_directory *directory)
{
	struct node *node = nodes_find(nodes, directory->ino);

	node->serial = nodes->serial;
	node->directory = directory;
	for (size_t i = 0; i < directory->count; i++) {
		const struct view_entry *entry = &directory->entries[i];
		struct source *before;

		if (entry->kind == VIEW_DIRECTORY) {
			publish_directory(nodes, entry->directory);
			continue;
		}
		node = nodes_find(nodes, entry->ino);
		node->serial = nodes->serial;
		if (entry->kind != VIEW_FILE || node->source == entry->source)
			continue;
		/* The same file scanned again: its owner or mode may be new. */
		before = node->source;
		node->source = source_ref(entry->source);
		if (node->lookups > 0) {
			fdpool_reveal(nodes->pool, node->source, true);
			if (before)
				fdpool_reveal(nodes->pool, before, false);
		}
		source_unref(before);
	}
}

bool nodes_in_use(const struct nodes *nodes, const struct node *node)
{
	/* Walks that a publish overtook may still come to the view before (module `stale`). */
	return node->lookups > 0 || node->serial + 1 >= nodes->serial || node->ino == NODES_ROOT;
}

void nodes_let_go(const struct nodes *nodes, struct node *node)
{
	if (nodes_in_use(nodes, node))
		return;
	node->source = source_unref(node->source);
	node->overlay = overlay_unref(node->overlay);
}

static void unlink_by_key(struct nodes *nodes, const struct node *node)
{
	struct node **place = nodes_key_bucket(nodes, node->key);

	while (*place != node)
		place = &(*place)->next_by_key;
	*place = node->next_by_key;
}

/* Lets go of old files; forgets the numbers of what is gone where they have become too many. */
static void nodes_sweep(struct nodes *nodes, size_t n_used)
{
	bool drop = nodes->count - n_used > REMEMBERED_MAX;

	for (size_t i = 0; i < nodes->n_buckets; i++) {
		struct node **place = &nodes->by_ino[i];

		while (*place) {
			struct node *node = *place;

			if (nodes_in_use(nodes, node) || !drop) {
				nodes_let_go(nodes, node);
				place = &node->next_by_ino;
				continue;
			}
			*place = node->next_by_ino;
			unlink_by_key(nodes, node);
			node_free(node);
			nodes->count--;
		}
	}
}

void nodes_publish(struct nodes *nodes, const struct view *view)
{
	size_t n_used = 0;

	nodes->serial++;
	for (size_t i = 0; i < nodes->n_buckets; i++)
		for (struct node *node = nodes->by_ino[i]; node; node = node->next_by_ino)
			node->directory = NULL;
	publish_directory(nodes, &view->root);
	for (size_t i = 0; i < nodes->n_buckets; i++)
		for (struct node *node = nodes->by_ino[i]; node; node = node->next_by_ino)
			n_used += nodes_in_use(nodes, node);
	nodes_sweep(nodes, n_used);
}

void nodes_each(const struct nodes *nodes, void (*each)(void *context, const struct node *node),
	void *context)
{
	for (size_t i = 0; i < nodes->n_buckets; i++)
		for (const struct node *node = nodes->by_ino[i]; node; node = node->next_by_ino)
			if (nodes_in_use(nodes, node) || node->assigned > nodes->serial)
				each(context, node);
}

uint32_t nodes_last(const struct nodes *nodes)
{
	return nodes->last_ino;
}

static int node_restore(struct nodes *nodes, const struct snapshot_node *from)
{
	struct node_key key = {
		.kind = from->kind,
		.path = from->path,
		.target = from->target ? from->target : "",
		.target_size = from->target_size,
		.source = from->source,
		.overlay = from->overlay,
	};
	struct node *node;
	uint32_t last = nodes->last_ino;
	int error;

	if (from->ino == 0 || nodes_find(nodes, from->ino))
		return -EBADMSG;
	nodes->last_ino = from->ino - 1;
	error = nodes_take(nodes, &key, &node);
	nodes->last_ino = last;
	if (error < 0)
		return error;
	if (node->ino != from->ino)
		return -EBADMSG;
	node->kept = true;
	if (node->kind == VIEW_DIRECTORY)
		node->mtime = from->mtime;
	nodes_reveal(nodes, node);
	return 0;
}

int nodes_restore(struct nodes *nodes, const struct snapshot *snapshot)
{
	int error = 0;

	for (size_t i = 0; error == 0 && i < snapshot->n_nodes; i++)
		error = node_restore(nodes, &snapshot->nodes[i]);
	nodes->last_ino = snapshot->last_ino;
	return error;
}
