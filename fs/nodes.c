/* SPDX-License-Identifier: MIT */
#include "nodes_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static uint64_t overlay_id(const struct overlay *overlay)
{
	return overlay ? overlay->id : 0;
}

void node_free(struct node *node)
{
	source_unref(node->source);
	overlay_unref(node->overlay);
	free(node->path);
	free(node->target);
	free(node);
}

struct nodes *nodes_new(struct fdpool *pool)
{
	struct nodes *nodes = calloc(1, sizeof(*nodes));

	if (!nodes)
		return NULL;
	*nodes = (struct nodes){ .pool = pool, .n_buckets = 1024 };
	nodes->by_ino = calloc(nodes->n_buckets, sizeof(struct node *));
	nodes->by_key = calloc(nodes->n_buckets, sizeof(struct node *));
	if (!nodes->by_ino || !nodes->by_key)
		return nodes_free(nodes);
	return nodes;
}

struct nodes *nodes_free(struct nodes *nodes)
{
	if (!nodes)
		return NULL;
	for (size_t i = 0; nodes->by_ino && i < nodes->n_buckets; i++) {
		struct node *next;

		for (struct node *node = nodes->by_ino[i]; node; node = next) {
			next = node->next_by_ino;
			node_free(node);
		}
	}
	free(nodes->by_ino);
	free(nodes->by_key);
	free(nodes);
	return NULL;
}

static struct node **ino_bucket(const struct nodes *nodes, uint64_t ino)
{
	return &nodes->by_ino[ino & (nodes->n_buckets - 1)];
}

struct node **nodes_key_bucket(const struct nodes *nodes, uint64_t key)
{
	return &nodes->by_key[key & (nodes->n_buckets - 1)];
}

static void nodes_insert(struct nodes *nodes, struct node *node)
{
	struct node **by_ino = ino_bucket(nodes, node->ino);
	struct node **by_key = nodes_key_bucket(nodes, node->key);

	node->next_by_ino = *by_ino;
	*by_ino = node;
	node->next_by_key = *by_key;
	*by_key = node;
}

/* Doubles the buckets when there are more nodes than buckets. Returns 0 or -ENOMEM. */
static int nodes_grow(struct nodes *nodes)
{
	size_t n_before = nodes->n_buckets;
	struct node **before = nodes->by_ino;
	struct node **by_ino, **by_key;

	if (nodes->count < n_before)
		return 0;
	by_ino = calloc(n_before * 2, sizeof(struct node *));
	by_key = calloc(n_before * 2, sizeof(struct node *));
	if (!by_ino || !by_key) {
		free(by_ino);
		free(by_key);
		return -ENOMEM;
	}
	free(nodes->by_key);
	nodes->by_ino = by_ino;
	nodes->by_key = by_key;
	nodes->n_buckets = n_before * 2;
	for (size_t i = 0; i < n_before; i++) {
		struct node *next;

		for (struct node *node = before[i]; node; node = next) {
			next = node->next_by_ino;
			nodes_insert(nodes, node);
		}
	}
	free(before);
	return 0;
}

static uint64_t key_hash(const struct node_key *key)
{
	uint64_t hash = fnv1a(FNV_START, &key->kind, sizeof(key->kind));

	if (key->kind == VIEW_FILE) {
		const uint64_t id = overlay_id(key->overlay);

		hash = fnv1a(hash, &key->source->identity, sizeof(key->source->identity));
		return fnv1a(hash, &id, sizeof(id));
	}
	hash = fnv1a(hash, key->path, strlen(key->path));
	return fnv1a(hash, key->target, key->target_size);
}

static bool key_matches(const struct node_key *key, const struct node *node)
{
	if (node->key != key->hash || node->kind != key->kind)
		return false;
	if (key->kind == VIEW_FILE)
		return node->overlay_id == overlay_id(key->overlay) &&
		       memcmp(&node->identity, &key->source->identity, sizeof(node->identity)) == 0;
	return strcmp(node->path, key->path) == 0 && node->target_size == key->target_size &&
	       (key->target_size == 0 || memcmp(node->target, key->target, key->target_size) == 0);
}

/* Fills what a new node is, by its key. Returns 0 or -ENOMEM. */
static int node_fill(struct node *node, const struct node_key *key)
{
	node->kind = key->kind;
	node->key = key->hash;
	if (key->kind == VIEW_FILE) {
		node->identity = key->source->identity;
		node->overlay_id = overlay_id(key->overlay);
		node->size = key->overlay ? key->overlay->size : node->identity.size;
		return 0;
	}
	node->path = strdup(key->path);
	node->target = malloc(key->target_size + 1);
	if (!node->path || !node->target)
		return -ENOMEM;
	if (key->target_size)
		memcpy(node->target, key->target, key->target_size);
	node->target[key->target_size] = '\0';
	node->target_size = key->target_size;
	if (key->kind == VIEW_DIRECTORY)
		clock_gettime(CLOCK_REALTIME_COARSE, &node->mtime);
	return 0;
}

int nodes_take(struct nodes *nodes, struct node_key *key, struct node **ret_node)
{
	struct node *node;

	key->hash = key_hash(key);
	for (node = *nodes_key_bucket(nodes, key->hash); node; node = node->next_by_key)
		if (key_matches(key, node))
			break;
	if (!node) {
		if (nodes_grow(nodes) < 0 || nodes->last_ino == UINT32_MAX)
			return -ENOMEM;
		node = calloc(1, sizeof(*node));
		if (!node)
			return -ENOMEM;
		if (node_fill(node, key) < 0) {
			node_free(node);
			return -ENOMEM;
		}
		node->ino = ++nodes->last_ino;
		nodes_insert(nodes, node);
		nodes->count++;
	}
	if (key->kind == VIEW_FILE && !node->source) {
		node->source = source_ref(key->source);
		node->overlay = key->overlay ? overlay_ref(key->overlay) : NULL;
	}
	node->assigned = nodes->serial + 1;
	*ret_node = node;
	return 0;
}

static int assign_directory(struct nodes *nodes, struct view_directory *directory)
{
	struct node_key key = { .kind = VIEW_DIRECTORY, .path = directory->path, .target = "" };
	struct node *node;
	int error = nodes_take(nodes, &key, &node);

	if (error < 0)
		return error;
	directory->ino = node->ino;
	for (size_t i = 0; i < directory->count; i++) {
		struct view_entry *entry = &directory->entries[i];
		_cleanup_(freep) char *path = NULL;

		if (entry->kind == VIEW_DIRECTORY) {
			error = assign_directory(nodes, entry->directory);
			if (error < 0)
				return error;
			entry->ino = entry->directory->ino;
			continue;
		}
		path = string_format("%s/%s", directory->path, entry->name);
		if (!path)
			return -ENOMEM;
		key = (struct node_key){
			.kind = entry->kind,
			.path = path,
			.source = entry->source,
			.overlay = entry->overlay,
		};
		if (entry->kind == VIEW_LINK) {
			key.target = entry->target;
			key.target_size = strlen(entry->target);
		} else if (entry->kind == VIEW_CONTENT) {
			key.target = entry->content;
			key.target_size = entry->content_size;
		}
		error = nodes_take(nodes, &key, &node);
		if (error < 0)
			return error;
		entry->ino = node->ino;
	}
	return 0;
}

int nodes_assign(struct nodes *nodes, struct view *view)
{
	return assign_directory(nodes, &view->root);
}

struct node *nodes_find(struct nodes *nodes, uint64_t ino)
{
	struct node *node;

	for (node = *ino_bucket(nodes, ino); node; node = node->next_by_ino)
		if (node->ino == ino)
			return node;
	return NULL;
}

void nodes_reveal(struct nodes *nodes, struct node *node)
{
	if (node->lookups++ > 0)
		return;
	nodes->revealed++;
	if (node->source)
		fdpool_reveal(nodes->pool, node->source, true);
}

void nodes_forget(struct nodes *nodes, struct node *node, uint64_t count)
{
	if (node->lookups == 0)
		return;
	node->lookups -= count < node->lookups ? count : node->lookups;
	if (node->kept && node->lookups == 0)
		node->lookups = 1;
	if (node->lookups > 0)
		return;
	nodes->revealed--;
	if (node->source)
		fdpool_reveal(nodes->pool, node->source, false);
	nodes_let_go(nodes, node);
}

void nodes_count(const struct nodes *nodes, size_t *ret_known, size_t *ret_revealed)
{
	*ret_known = nodes->count;
	*ret_revealed = nodes->revealed;
}
