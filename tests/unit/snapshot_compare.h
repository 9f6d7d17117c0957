/* SPDX-License-Identifier: MIT */
/* Asserts that one snapshot is as another. Include compat/cmocka.h first. */
#pragma once

#include <string.h>

#include "snapshot.h"
#include "util.h"

/* What was met as what: a source that was one is one again, and two are two. */
struct pairs {
	const void *items[64][2];
	size_t count;
};

/* Whether the pair is new. */
static bool meet(struct pairs *pairs, const void *before, const void *after)
{
	for (size_t i = 0; i < pairs->count; i++) {
		if (pairs->items[i][0] != before && pairs->items[i][1] != after)
			continue;
		assert_ptr_equal(pairs->items[i][0], before);
		assert_ptr_equal(pairs->items[i][1], after);
		return false;
	}
	assert_true(pairs->count < ARRAY_SIZE(pairs->items));
	pairs->items[pairs->count][0] = before;
	pairs->items[pairs->count++][1] = after;
	return true;
}

static void same_text(const char *before, const char *after)
{
	if (!string_equal(before, after))
		fail_msg("%s became %s", before ? before : "NULL", after ? after : "NULL");
}

static void same_source(struct pairs *pairs, const struct source *a, const struct source *b)
{
	assert_int_equal(a != NULL, b != NULL);
	if (!a || !meet(pairs, a, b))
		return;
	assert_memory_equal(&a->identity, &b->identity, sizeof(a->identity));
	assert_int_equal(a->ctime_sec, b->ctime_sec);
	assert_int_equal(a->ctime_nsec, b->ctime_nsec);
	assert_int_equal(a->mode, b->mode);
	assert_int_equal(a->uid, b->uid);
	assert_int_equal(a->gid, b->gid);
	assert_int_equal(a->in_store, b->in_store);
	assert_int_equal(a->covered, b->covered);
	same_text(a->path, b->path);
	same_text(a->real_path, b->real_path);
	assert_false(b->is_elf);
	assert_true(!b->root && !b->text && !b->note && !b->pin && !b->release);
}

static void same_overlay(struct pairs *pairs, const struct overlay *a, const struct overlay *b)
{
	assert_int_equal(a != NULL, b != NULL);
	if (!a || !meet(pairs, a, b))
		return;
	assert_int_equal(a->base, b->base);
	assert_int_equal(a->size, b->size);
	assert_int_equal(a->id, b->id);
	assert_int_equal(a->count, b->count);
	for (size_t i = 0; i < a->count; i++) {
		assert_int_equal(a->edits[i].offset, b->edits[i].offset);
		assert_int_equal(a->edits[i].size, b->edits[i].size);
		assert_memory_equal(a->edits[i].bytes, b->edits[i].bytes, a->edits[i].size);
	}
}

static void same_directory(struct pairs *pairs, const struct view_directory *a,
	const struct view_directory *b, const struct string_list *layers)
{
	same_text(a->path, b->path);
	assert_int_equal(a->ino, b->ino);
	assert_int_equal(a->count, b->count);
	for (size_t i = 0; i < a->count; i++) {
		const struct view_entry *before = &a->entries[i], *after = &b->entries[i];
		bool borrowed = !after->layer;

		same_text(before->name, after->name);
		assert_int_equal(before->cookie, after->cookie);
		assert_int_equal(before->ino, after->ino);
		assert_int_equal(before->kind, after->kind);
		assert_int_equal(before->hidden, after->hidden);
		same_source(pairs, before->source, after->source);
		same_overlay(pairs, before->overlay, after->overlay);
		same_text(before->target, after->target);
		assert_int_equal(before->content != NULL, after->content != NULL);
		assert_int_equal(before->content_size, after->content_size);
		if (before->content)
			assert_memory_equal(
				before->content, after->content, before->content_size + 1);
		same_text(before->layer, after->layer);
		for (size_t k = 0; k < layers->count; k++)
			borrowed = borrowed || after->layer == layers->items[k];
		assert_true(borrowed);
		if (before->kind == VIEW_DIRECTORY)
			same_directory(pairs, before->directory, after->directory, layers);
	}
}

static void same_sets(struct pairs *pairs, const struct set_list *a, const struct set_list *b)
{
	assert_int_equal(a->count, b->count);
	for (size_t i = 0; i < a->count; i++) {
		same_text(a->items[i]->id, b->items[i]->id);
		assert_int_equal(a->items[i]->count, b->items[i]->count);
		for (size_t k = 0; k < a->items[i]->count; k++) {
			const struct set_entry *before = &a->items[i]->entries[k];
			const struct set_entry *after = &b->items[i]->entries[k];

			same_text(before->name, after->name);
			assert_int_equal(before->kind, after->kind);
			same_text(before->target, after->target);
			same_text(before->layer, after->layer);
			same_source(pairs, before->source, after->source);
			same_overlay(pairs, before->overlay, after->overlay);
		}
	}
}

static void same_nodes(struct pairs *pairs, const struct snapshot *a, const struct snapshot *b)
{
	assert_int_equal(a->n_nodes, b->n_nodes);
	for (size_t i = 0; i < a->n_nodes; i++) {
		const struct snapshot_node *before = &a->nodes[i], *after = &b->nodes[i];

		assert_int_equal(before->ino, after->ino);
		assert_int_equal(before->kind, after->kind);
		assert_int_equal(before->mtime.tv_sec, after->mtime.tv_sec);
		assert_int_equal(before->mtime.tv_nsec, after->mtime.tv_nsec);
		same_text(before->path, after->path);
		assert_int_equal(before->target_size, after->target_size);
		assert_int_equal(before->target != NULL, after->target != NULL);
		if (before->target)
			assert_memory_equal(before->target, after->target, before->target_size + 1);
		same_source(pairs, before->source, after->source);
		same_overlay(pairs, before->overlay, after->overlay);
	}
}

static void same_change(const struct snapshot *a, const struct snapshot *b)
{
	assert_int_equal(a->change.n_names, b->change.n_names);
	for (size_t i = 0; i < a->change.n_names; i++) {
		assert_int_equal(a->change.names[i].what, b->change.names[i].what);
		assert_int_equal(a->change.names[i].parent, b->change.names[i].parent);
		assert_int_equal(a->change.names[i].before, b->change.names[i].before);
		same_text(a->change.names[i].name, b->change.names[i].name);
	}
	assert_int_equal(a->change.n_directories, b->change.n_directories);
	if (a->change.n_directories)
		assert_memory_equal(a->change.directories, b->change.directories,
			a->change.n_directories * sizeof(uint32_t));
	assert_int_equal(a->n_attributes, b->n_attributes);
	if (a->n_attributes)
		assert_memory_equal(
			a->attributes, b->attributes, a->n_attributes * sizeof(uint32_t));
}

/* Returns how many sources and overlays they share out. */
static size_t same_snapshot(const struct snapshot *a, const struct snapshot *b)
{
	struct pairs pairs = { 0 };

	same_text(a->name, b->name);
	same_text(a->mountpoint, b->mountpoint);
	assert_int_equal(a->compat_on, b->compat_on);
	assert_int_equal(a->last_ino, b->last_ino);
	same_text(a->view->id, b->view->id);
	assert_int_equal(a->view->n_entries, b->view->n_entries);
	same_directory(&pairs, &a->view->root, &b->view->root, &b->layers);
	same_sets(&pairs, &a->sets, &b->sets);
	same_nodes(&pairs, a, b);
	same_change(a, b);
	return pairs.count;
}
