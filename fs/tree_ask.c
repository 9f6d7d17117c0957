/* SPDX-License-Identifier: MIT */
#include "tree_internal.h"

#include <errno.h>
#include <string.h>

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
		st->st_size = (off_t)node->size;
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

/* Whether the view that is about to be published has the name. */
static bool is_incoming(const struct tree *tree, const struct node *parent, const char *name)
{
	const struct view_directory *directory;

	if (!tree->incoming)
		return false;
	directory = view_find_directory(tree->incoming, parent->path);
	return directory && view_lookup(directory, name);
}

/* A name that the published view does not have. Returns the node to serve all the same, NULL with
 * *ret_error: absent, or the walk must start again. *ret_keep: the answer may be remembered. */
static struct node *ask_stale(struct tree *tree, pid_t thread, uint64_t unique, uint64_t parent,
	const char *name, int *ret_error, bool *ret_keep)
{
	struct node *node = nodes_find(tree->nodes, stale_ino(tree->stale, (uint32_t)parent, name));
	bool known = node && node->lookups > 0;
	uint32_t ino;

	*ret_error = -ENOENT;
	*ret_keep = false;
	switch (stale_ask(tree->stale, thread, unique, (uint32_t)parent, name, known, &ino)) {
	case STALE_ABSENT:
		*ret_keep = true;
		return NULL;
	case STALE_ABSENT_NOW:
		return NULL;
	case STALE_AGAIN:
		*ret_error = -ESTALE;
		return NULL;
	case STALE_SERVE:
		node = nodes_find(tree->nodes, ino);
		return node_answers(node) ? node : NULL;
	}
	return NULL;
}

int tree_lookup(struct tree *tree, uint64_t parent, const char *name, pid_t thread, uint64_t unique,
	struct stat *ret_stat, bool *ret_keep)
{
	const struct view_entry *entry;
	struct node *node;
	int error;
	TREE_LOCK(tree);

	*ret_keep = true;
	node = nodes_find(tree->nodes, parent);
	if (!node)
		return -ENOENT;
	if (node->kind != VIEW_DIRECTORY)
		return -ENOTDIR;
	entry = node->directory ? view_lookup(node->directory, name) : NULL;
	if (entry) {
		node = nodes_find(tree->nodes, entry->ino);
		if (node->kind == VIEW_LINK && node->target[0] != '/')
			stale_followed(tree->stale, thread);
		else if (node->kind == VIEW_DIRECTORY)
			stale_restarted(tree->stale, thread);
		else
			stale_arrived(tree->stale, thread);
	} else {
		bool incoming = is_incoming(tree, node, name);

		/* What comes back may be what a walk over a link of two views ago leads to. */
		node = ask_stale(tree, thread, unique, parent, name, &error, ret_keep);
		*ret_keep &= !incoming;
		if (!node)
			return error;
	}
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
	struct source **ret_source, struct overlay **ret_overlay)
{
	const struct node *node;
	TREE_LOCK(tree);

	*ret_source = NULL;
	*ret_overlay = NULL;
	node = nodes_find(tree->nodes, ino);
	if (!node_answers(node))
		return -ENOENT;
	if (node->kind == VIEW_DIRECTORY)
		return -EISDIR;
	if (node->kind == VIEW_FILE) {
		*ret_source = source_ref(node->source);
		*ret_overlay = node->overlay ? overlay_ref(node->overlay) : NULL;
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
