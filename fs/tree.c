/* SPDX-License-Identifier: MIT */
#include "tree.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "nodes.h"

struct tree {
	pthread_mutex_t lock;
	struct fdpool *pool;
	struct nodes *nodes;
	struct generation *current;
	uid_t uid; /* owner of directories, links and content */
	gid_t gid;
};

static void unlockp(pthread_mutex_t **lock)
{
	pthread_mutex_unlock(*lock);
}

/* Holds the tree's lock until the end of the scope. */
#define TREE_LOCK(tree)                                                                            \
	_cleanup_(unlockp) pthread_mutex_t *scoped_lock_ = &(tree)->lock;                          \
	pthread_mutex_lock(scoped_lock_)

struct tree *tree_new(struct fdpool *pool)
{
	struct tree *tree = calloc(1, sizeof(*tree));

	if (!tree)
		return NULL;
	pthread_mutex_init(&tree->lock, NULL);
	tree->pool = pool;
	tree->uid = geteuid();
	tree->gid = getegid();
	tree->nodes = nodes_new(pool);
	if (!tree->nodes)
		return tree_free(tree);
	return tree;
}

struct tree *tree_free(struct tree *tree)
{
	if (!tree)
		return NULL;
	nodes_free(tree->nodes);
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

/* Whether the kernel may have an answer for the name that is not true any more. */
static bool may_be_stale(struct tree *tree, const struct viewdiff_name *name)
{
	const struct node *node;

	if (name->what == VIEWDIFF_ADDED)
		return true; /* absent names are not remembered */
	node = nodes_find(tree->nodes, name->before);
	return node && node->lookups > 0;
}

/* Leaves in the list the names that must be told to the kernel, and one per directory at least: the
 * invalidation of a name waits for listings under way in its directory (FUSE.md 2), which that of
 * the cached listing does not. */
static void keep_revealed(struct tree *tree, struct viewdiff *diff)
{
	size_t kept = 0;
	uint32_t last_parent = 0;

	for (size_t i = 0; i < diff->n_names; i++) {
		bool last = i + 1 == diff->n_names ||
			    diff->names[i + 1].parent != diff->names[i].parent;
		bool wanted = may_be_stale(tree, &diff->names[i]) ||
			      (last && diff->names[i].parent != last_parent);

		if (!wanted)
			continue;
		last_parent = diff->names[i].parent;
		diff->names[kept++] = diff->names[i];
	}
	diff->n_names = kept;
}

int tree_publish(struct tree *tree, struct generation *generation, struct tree_change *ret_change)
{
	_cleanup_(tree_change_clear) struct tree_change change = { 0 };
	size_t capacity = 0;
	struct timespec now;
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
	}
	change.before = steal_pointer(tree->current);
	change.after = generation_ref(generation);
	tree->current = generation_ref(generation);
	nodes_publish(tree->nodes, generation->view);
	keep_revealed(tree, &change.diff);
	clock_gettime(CLOCK_REALTIME_COARSE, &now);
	for (size_t i = 0; i < change.diff.n_directories; i++) {
		struct node *node = nodes_find(tree->nodes, change.diff.directories[i]);

		if (node)
			node->mtime = now;
	}
	*ret_change = change;
	change = (struct tree_change){ 0 };
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

static void fill_stat(const struct tree *tree, const struct node *node, struct stat *st)
{
	*st = (struct stat){
		.st_ino = node->ino,
		.st_nlink = 1,
		.st_blksize = 4096,
		.st_uid = tree->uid,
		.st_gid = tree->gid,
	};
	switch (node->kind) {
	case VIEW_DIRECTORY:
		st->st_mode = S_IFDIR | 0555;
		st->st_mtim = node->mtime;
		break;
	case VIEW_FILE:
		st->st_mode = node->source->mode;
		st->st_uid = node->source->uid;
		st->st_gid = node->source->gid;
		st->st_size = (off_t)node->identity.size;
		st->st_mtim.tv_sec = node->identity.mtime_sec;
		st->st_mtim.tv_nsec = node->identity.mtime_nsec;
		break;
	case VIEW_LINK:
		st->st_mode = S_IFLNK | 0777;
		st->st_size = (off_t)node->target_size;
		st->st_mtim.tv_sec = 1; /* as a Nix store has it */
		break;
	case VIEW_CONTENT:
		st->st_mode = S_IFREG | 0444;
		st->st_size = (off_t)node->target_size;
		st->st_mtim.tv_sec = 1;
		break;
	}
	st->st_blocks = (st->st_size + 511) / 512;
	st->st_atim = st->st_mtim;
	st->st_ctim = st->st_mtim;
}

/* A file node that let go of its source can be asked for by nobody who plays by the rules. */
static bool node_answers(const struct node *node)
{
	return node && (node->kind != VIEW_FILE || node->source);
}

int tree_lookup(struct tree *tree, uint64_t parent, const char *name, struct stat *ret_stat)
{
	const struct view_entry *entry;
	struct node *node;
	TREE_LOCK(tree);

	node = nodes_find(tree->nodes, parent);
	if (!node)
		return -ENOENT;
	if (node->kind != VIEW_DIRECTORY)
		return -ENOTDIR;
	entry = node->directory ? view_lookup(node->directory, name) : NULL;
	if (!entry)
		return -ENOENT;
	node = nodes_find(tree->nodes, entry->ino);
	nodes_reveal(tree->nodes, node);
	fill_stat(tree, node, ret_stat);
	return 0;
}

int tree_getattr(struct tree *tree, uint64_t ino, struct stat *ret_stat)
{
	const struct node *node;
	TREE_LOCK(tree);

	node = nodes_find(tree->nodes, ino);
	if (!node_answers(node))
		return -ENOENT;
	fill_stat(tree, node, ret_stat);
	return 0;
}

void tree_forget(struct tree *tree, uint64_t ino, uint64_t count)
{
	struct node *node;
	TREE_LOCK(tree);

	node = nodes_find(tree->nodes, ino);
	if (node)
		nodes_forget(tree->nodes, node, count);
}

int tree_readlink(struct tree *tree, uint64_t ino, char *buffer, size_t size)
{
	const struct node *node;
	TREE_LOCK(tree);

	node = nodes_find(tree->nodes, ino);
	if (!node)
		return -ENOENT;
	if (node->kind != VIEW_LINK)
		return -EINVAL;
	if (node->target_size >= size)
		return -ENAMETOOLONG;
	memcpy(buffer, node->target, node->target_size + 1);
	return 0;
}

/* "." and "..", whose offsets are 1 and 2. Returns whether fill took what was to be listed. */
static bool list_dots(
	struct tree *tree, const struct node *node, off_t offset, tree_fill fill, void *context)
{
	struct stat st;

	fill_stat(tree, node, &st);
	if (offset < 1 && !fill(context, ".", &st, 1))
		return false;
	return offset >= 2 || fill(context, "..", &st, 2);
}

int tree_list(
	struct tree *tree, uint64_t ino, off_t offset, bool reveal, tree_fill fill, void *context)
{
	const struct view_directory *directory;
	const struct node *node;
	TREE_LOCK(tree);

	node = nodes_find(tree->nodes, ino);
	if (!node)
		return -ENOENT;
	if (node->kind != VIEW_DIRECTORY)
		return -ENOTDIR;
	if (!list_dots(tree, node, offset, fill, context))
		return 0;
	directory = node->directory;
	if (!directory || offset > (off_t)UINT32_MAX)
		return 0;
	for (size_t i = view_after(directory, (uint32_t)offset); i < directory->count; i++) {
		const struct view_entry *entry = &directory->entries[i];
		struct node *child;
		struct stat st;

		if (entry->hidden)
			continue;
		child = nodes_find(tree->nodes, entry->ino);
		fill_stat(tree, child, &st);
		if (!fill(context, entry->name, &st, entry->cookie))
			break;
		if (reveal)
			nodes_reveal(tree->nodes, child);
	}
	return 0;
}

ssize_t tree_read(struct tree *tree, uint64_t ino, char *buffer, size_t size, off_t offset,
	struct source **ret_source)
{
	const struct node *node;
	TREE_LOCK(tree);

	*ret_source = NULL;
	node = nodes_find(tree->nodes, ino);
	if (!node_answers(node))
		return -ENOENT;
	if (node->kind == VIEW_DIRECTORY)
		return -EISDIR;
	if (node->kind == VIEW_FILE) {
		*ret_source = source_ref(node->source);
		return 0;
	}
	if (node->kind != VIEW_CONTENT || offset < 0)
		return -EINVAL;
	if ((size_t)offset >= node->target_size)
		return 0;
	if (size > node->target_size - (size_t)offset)
		size = node->target_size - (size_t)offset;
	memcpy(buffer, node->target + offset, size);
	return (ssize_t)size;
}

/* The published entry that a link node stands for; NULL where it is of an older generation. */
static const struct view_entry *entry_of(struct tree *tree, const struct node *node)
{
	const struct view_entry *entry =
		view_find(tree->current->view, node->path + (node->path[0] == '/'));

	return entry && entry->ino == node->ino ? entry : NULL;
}

/* The layer of a file: the first entry of the published view that has it. Walks the view: for
 * people only. */
static const struct view_entry *entry_with_ino(const struct view_directory *directory, uint32_t ino)
{
	for (size_t i = 0; i < directory->count; i++) {
		const struct view_entry *entry = &directory->entries[i];

		if (entry->ino == ino)
			return entry;
		if (entry->kind == VIEW_DIRECTORY) {
			entry = entry_with_ino(entry->directory, ino);
			if (entry)
				return entry;
		}
	}
	return NULL;
}

static const char *xattr_text(struct tree *tree, const struct node *node, enum tree_xattr which)
{
	const struct view_entry *entry;

	if (which == TREE_XATTR_GENERATION)
		return tree->current->view->id;
	if (node->kind == VIEW_FILE && which == TREE_XATTR_SOURCE)
		return node->source->real_path;
	if (node->kind == VIEW_DIRECTORY || node->kind == VIEW_CONTENT)
		return NULL;
	entry = node->kind == VIEW_FILE ? entry_with_ino(&tree->current->view->root, node->ino)
					: entry_of(tree, node);
	if (!entry)
		return NULL;
	if (which == TREE_XATTR_LAYER)
		return entry->layer;
	return entry->source ? entry->source->real_path : NULL;
}

ssize_t tree_getxattr(
	struct tree *tree, uint64_t ino, enum tree_xattr which, char *buffer, size_t size)
{
	const struct node *node;
	const char *text;
	size_t length;
	TREE_LOCK(tree);

	node = nodes_find(tree->nodes, ino);
	if (!node_answers(node))
		return -ENOENT;
	text = xattr_text(tree, node, which);
	if (!text)
		return -ENODATA;
	length = strlen(text);
	if (size == 0)
		return (ssize_t)length;
	if (length > size)
		return -ERANGE;
	memcpy(buffer, text, length);
	return (ssize_t)length;
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
