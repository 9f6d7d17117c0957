/* SPDX-License-Identifier: MIT */
/* snapshot: a published view, the node table and what is still to be told to the kernel, as bytes
 * that the process which takes over can read (DESIGN 6: resume state). Each record says its own
 * length, so that a later version can add to it. Core. */
#pragma once

#include <sys/stat.h> /* struct timespec */

#include "decide.h"
#include "sets.h"
#include "viewdiff.h"

/* Of the bytes' format. A reader takes every version up to its own. */
#define SNAPSHOT_VERSION 1

/* One inode number that the kernel may know. */
struct snapshot_node {
	uint32_t ino;
	enum view_kind kind;
	struct timespec mtime; /* directories */
	char *path;            /* directory, link, content; owned by the snapshot when decoded */
	char *target;          /* link, content: target_size bytes, then a NUL */
	size_t target_size;
	struct source *source; /* file: references when decoded */
	struct overlay *overlay;
};

/* What is encoded borrows everything; what was decoded owns all of it (snapshot_clear). */
struct snapshot {
	char *name;       /* of the instance */
	char *mountpoint; /* canonical */
	bool compat_on;
	struct view *view; /* finished, entries have their numbers; layer names: see below */
	struct string_list layers; /* decoded: the names that the view's entries borrow */
	/* The CUDA sets that are served; decoded: new ones that own what they refer to. */
	struct set_list sets;
	struct snapshot_node *nodes; /* all of them, the view's too */
	size_t n_nodes;
	uint32_t last_ino;               /* the highest number ever given */
	struct viewdiff change;          /* the names and directories that the publish changed */
	struct string_list change_names; /* decoded: what change.names[].name borrows */
	uint32_t *attributes;            /* nodes whose owner or mode changed */
	size_t n_attributes;
	/* Encoding: the number under which the source's descriptor is kept, 0: it is not. */
	uint64_t (*pin_of)(void *context, const struct source *source);
	void *context;
	/* Decoded: every source once, as a reference, with that number. Their `root` is NULL, their
	 * elf facts are empty. */
	struct source **sources;
	uint64_t *pins;
	size_t n_sources;
};

/* Encodes. Returns 0 with *ret_bytes (owned by the caller, free) or -ENOMEM. */
int snapshot_encode(const struct snapshot *snapshot, uint8_t **ret_bytes, size_t *ret_size);
/* Decodes bytes that nobody else writes meanwhile. Returns 0; -EPROTO: a newer version; -EBADMSG:
 * not a snapshot or a damaged one (it has a checksum); or -ENOMEM. */
int snapshot_decode(const uint8_t *bytes, size_t size, struct snapshot *ret_snapshot);
/* Frees what a decoded snapshot owns; empty afterwards. */
void snapshot_clear(struct snapshot *snapshot);
