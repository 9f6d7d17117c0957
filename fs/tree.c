/* SPDX-License-Identifier: MIT */
#include "tree_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct tree *tree_new(struct fdpool *pool, void *stale)
{
	struct tree *tree = calloc(1, sizeof(*tree));

	if (!tree)
		return NULL;
	pthread_mutex_init(&tree->lock, NULL);
	tree->pool = pool;
	tree->uid = geteuid();
	tree->gid = getegid();
	tree->nodes = nodes_new(pool);
	tree->stale = stale_new(stale);
	if (!tree->nodes || !tree->stale)
		return tree_free(tree);
	return tree;
}

struct tree *tree_free(struct tree *tree)
{
	if (!tree)
		return NULL;
	nodes_free(tree->nodes);
	stale_free(tree->stale);
	generation_unref(tree->current);
	pthread_mutex_destroy(&tree->lock);
	free(tree);
	return NULL;
}

struct generation *tree_current(struct tree *tree)
{
	TREE_LOCK(tree);

	return tree->current ? generation_ref(tree->current) : NULL;
}

/* Notes the revealed files whose mode or owner the new view shows differently. Returns 0 or
 * -ENOMEM. */
static int note_attributes(struct tree *tree, const struct view_directory *directory,
	struct tree_change *change, size_t *capacity)
{
	for (size_t i = 0; i < directory->count; i++) {
		const struct view_entry *entry = &directory->entries[i];
		const struct node *node;
		int error;

		if (entry->kind == VIEW_DIRECTORY) {
			error = note_attributes(tree, entry->directory, change, capacity);
			if (error < 0)
				return error;
			continue;
		}
		node = nodes_find(tree->nodes, entry->ino);
		if (entry->kind != VIEW_FILE || node->lookups == 0 || !node->source)
			continue;
		if (node->source->mode == entry->source->mode &&
			node->source->uid == entry->source->uid &&
			node->source->gid == entry->source->gid)
			continue;
		if (array_grow(&change->attributes, capacity, change->n_attributes,
			    sizeof(*change->attributes)) < 0)
			return -ENOMEM;
		change->attributes[change->n_attributes++] = node->ino;
	}
	return 0;
}

/* Whether the kernel may have an answer for the name that is not true any more. New names were told
 * before the commit. */
static bool may_be_stale(struct tree *tree, const struct viewdiff_name *name)
{
	const struct node *node = NULL;

	if (name->what != VIEWDIFF_ADDED)
		node = nodes_find(tree->nodes, name->before);
	return node && node->lookups > 0;
}

/* What leads elsewhere now is told before what nothing leads to any more. */
static int in_order_of_telling(const void *a, const void *b)
{
	const struct viewdiff_name *first = a, *second = b;
	bool first_removed = first->what == VIEWDIFF_REMOVED;
	bool second_removed = second->what == VIEWDIFF_REMOVED;

	if (first_removed != second_removed)
		return first_removed ? 1 : -1;
	if (first->parent != second->parent)
		return first->parent < second->parent ? -1 : 1;
	return strcmp(first->name, second->name);
}

/* Leaves in the list the names that must be told to the kernel, and the last of each directory in
 * any case: the invalidation of a name waits for listings under way in its directory (FUSE.md 2),
 * which that of the cached listing does not. */
static void keep_revealed(struct tree *tree, struct viewdiff *diff)
{
	size_t kept = 0;

	for (size_t i = 0; i < diff->n_names; i++) {
		bool last = i + 1 == diff->n_names ||
			    diff->names[i + 1].parent != diff->names[i].parent;

		if (last || may_be_stale(tree, &diff->names[i]))
			diff->names[kept++] = diff->names[i];
	}
	diff->n_names = kept;
	if (kept > 1)
		qsort(diff->names, kept, sizeof(*diff->names), in_order_of_telling);
}

static void note_removed(struct tree *tree, const struct viewdiff *diff)
{
	for (size_t i = 0; i < diff->n_names; i++)
		if (diff->names[i].what == VIEWDIFF_REMOVED)
			stale_note(tree->stale, diff->names[i].parent, diff->names[i].name,
				diff->names[i].before);
}

int tree_prepare(struct tree *tree, struct generation *generation, struct tree_change *ret_change)
{
	_cleanup_(tree_change_clear) struct tree_change change = { 0 };
	size_t capacity = 0;
	int error;
	TREE_LOCK(tree);

	error = nodes_assign(tree->nodes, generation->view);
	if (error < 0)
		return error;
	if (tree->current) {
		error = viewdiff(tree->current->view, generation->view, &change.diff);
		if (error < 0)
			return error;
		error = note_attributes(tree, &generation->view->root, &change, &capacity);
		if (error < 0)
			return error;
		change.before = generation_ref(tree->current);
	}
	change.after = generation_ref(generation);
	tree->incoming = generation->view;
	*ret_change = change;
	change = (struct tree_change){ 0 };
	return 0;
}

void tree_commit(struct tree *tree, struct tree_change *change, void (*published)(void *context),
	void *context)
{
	struct timespec now;
	TREE_LOCK(tree);

	/* First: a process that ends after the next step leaves a successor that knows them. A name
	 * that the view has is not looked for there. */
	note_removed(tree, &change->diff);
	if (published)
		published(context);
	generation_unref(tree->current);
	tree->current = generation_ref(change->after);
	tree->incoming = NULL;
	nodes_publish(tree->nodes, tree->current->view);
	keep_revealed(tree, &change->diff);
	clock_gettime(CLOCK_REALTIME_COARSE, &now);
	for (size_t i = 0; i < change->diff.n_directories; i++) {
		struct node *node = nodes_find(tree->nodes, change->diff.directories[i]);

		if (node)
			node->mtime = now;
	}
}

void tree_abandon(struct tree *tree)
{
	TREE_LOCK(tree);

	tree->incoming = NULL;
}

struct node_list {
	struct snapshot *snapshot;
	size_t capacity;
	int error;
};

static void list_node(void *context, const struct node *node)
{
	struct node_list *list = context;
	struct snapshot *snapshot = list->snapshot;

	if (list->error == 0)
		list->error = array_grow(&snapshot->nodes, &list->capacity, snapshot->n_nodes,
			sizeof(*snapshot->nodes));
	if (list->error < 0)
		return;
	snapshot->nodes[snapshot->n_nodes++] = (struct snapshot_node){
		.ino = node->ino,
		.kind = node->kind,
		.mtime = node->mtime,
		.path = node->path,
		.target = node->target,
		.target_size = node->target_size,
		.source = node->source,
		.overlay = node->overlay,
	};
}

int tree_snapshot(
	struct tree *tree, const struct tree_change *change, struct snapshot *ret_snapshot)
{
	struct snapshot snapshot = {
		.view = change->after->view,
		.change = change->diff,
		.attributes = change->attributes,
		.n_attributes = change->n_attributes,
	};
	struct node_list list = { .snapshot = &snapshot };
	TREE_LOCK(tree);

	nodes_each(tree->nodes, list_node, &list);
	snapshot.last_ino = nodes_last(tree->nodes);
	if (list.error < 0) {
		free(snapshot.nodes);
		return list.error;
	}
	*ret_snapshot = snapshot;
	return 0;
}

int tree_restore(struct tree *tree, struct generation *generation, const struct snapshot *snapshot)
{
	int error;
	TREE_LOCK(tree);

	error = nodes_restore(tree->nodes, snapshot);
	if (error == 0)
		error = nodes_assign(tree->nodes, generation->view);
	if (error < 0)
		return error;
	if (generation->view->root.ino != NODES_ROOT ||
		nodes_last(tree->nodes) != snapshot->last_ino)
		return -EBADMSG; /* an entry of the view was no node */
	nodes_publish(tree->nodes, generation->view);
	tree->current = generation_ref(generation);
	return 0;
}

void tree_change_clear(struct tree_change *change)
{
	viewdiff_clear(&change->diff);
	free(change->attributes);
	generation_unref(change->before);
	generation_unref(change->after);
	*change = (struct tree_change){ 0 };
}

bool tree_uses_set(void *context, const struct cuda_set *set)
{
	struct tree *tree = context;
	TREE_LOCK(tree);

	for (size_t i = 0; i < set->count; i++) {
		const struct set_entry *entry = &set->entries[i];
		const struct node *node = NULL;

		if (entry->kind == VIEW_FILE)
			node = nodes_find_file(tree->nodes, entry->source, entry->overlay);
		if (node && node->lookups > 0)
			return true;
	}
	return false;
}

void tree_count(struct tree *tree, struct tree_counts *ret_counts)
{
	TREE_LOCK(tree);

	*ret_counts = (struct tree_counts){ 0 };
	if (tree->current)
		ret_counts->entries = tree->current->view->n_entries;
	nodes_count(tree->nodes, &ret_counts->nodes, &ret_counts->revealed);
	fdpool_count(tree->pool, &ret_counts->descriptors);
}
