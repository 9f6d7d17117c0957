/* SPDX-License-Identifier: MIT */
/* view: the immutable tree that one generation shows: directories of entries in the order of their
 * cookies, and its name-based UUID. Core. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "layer.h"
#include "namemap.h"
#include "overlay.h"

enum view_kind { VIEW_DIRECTORY, VIEW_FILE, VIEW_LINK, VIEW_CONTENT };

struct view_directory;

struct view_entry {
	char *name;
	/* The readdir offset: 31 bits (32-bit programs), from the name's hash, so that it is the
	 * same in every generation; unique in its directory; 1 and 2 are "." and "..". */
	uint32_t cookie;
	uint32_t ino; /* given by the node table before publish; 0 until then */
	enum view_kind kind;
	bool hidden;                      /* reachable by name, not listed */
	struct view_directory *directory; /* VIEW_DIRECTORY: owned */
	struct source *source; /* a file: whose bytes; a link: where it leads; a reference */
	struct overlay
		*overlay; /* VIEW_FILE: what is changed of the source; a reference; NULL: nothing */
	char *target;     /* VIEW_LINK: the link's text */
	char *content;    /* VIEW_CONTENT: owned bytes */
	size_t content_size;
	const char *layer; /* the layer's name (owned by the generation's policy); NULL: ours */
};

struct view_directory {
	char *path; /* from the root of the mount: "" for the root, "lib", "share/vulkan" */
	uint32_t ino;
	struct view_entry *entries; /* after view_finish: sorted by (hash of name, name) */
	size_t count;
	size_t capacity;
	struct namemap index; /* name → index into entries, while adding; empty after view_finish */
};

struct view {
	struct view_directory root;
	char id[37];      /* the generation's UUID, set by view_identify */
	size_t n_entries; /* without directories */
};

/* An empty view, or NULL without memory. */
struct view *view_new(void);
/* Accepts NULL, returns NULL. */
struct view *view_free(struct view *view);

/* Each adds one entry at path ("lib/libcuda.so.1"), making the directories above it. Strings are
 * copied (content too), source is referenced, layer is borrowed. Return 0; -EEXIST: the path has an
 * entry already; -ENOTDIR: a component of it is not a directory; -EINVAL: no valid path; -ENOMEM.
 */
int view_add_file(struct view *view, const char *path, struct source *source, const char *layer);
/* A file of which an overlay changes something (a reference is taken; NULL: nothing is changed). */
int view_add_patched(struct view *view, const char *path, struct source *source,
	struct overlay *overlay, const char *layer);
int view_add_link(struct view *view, const char *path, const char *target, struct source *source,
	const char *layer);
int view_add_content(struct view *view, const char *path, const char *content, size_t size);
int view_add_directory(struct view *view, const char *path, bool hidden);

/* Sorts and gives the cookies. To be called once, after the last add; lookups work afterwards.
 * Returns 0, or -EOVERFLOW: more names of one hash than there are cookies. */
int view_finish(struct view *view);
/* Computes view->id over the (finished or unfinished) content except hidden directories: the same
 * content gives the same id, in any order of adding. uuid_generate_sha1, version 5. */
int view_identify(struct view *view);

/* Serves the entry, a file or a link to the source's file, as a file with these changes. */
void view_patch(struct view_entry *entry, struct overlay *overlay);
/* How many bytes the entry has to give (of a link: its text); 0 for a directory. */
uint64_t view_entry_size(const struct view_entry *entry);

/* The entry of that name, or NULL. Only after view_finish. */
struct view_entry *view_lookup(const struct view_directory *directory, const char *name);
/* The directory at path ("" = the root), or NULL. */
struct view_directory *view_find_directory(struct view *view, const char *path);
/* The entry at path, or NULL (the root has none). */
struct view_entry *view_find(struct view *view, const char *path);
/* The first entry whose cookie is greater, as an index; directory->count: none. */
size_t view_after(const struct view_directory *directory, uint32_t cookie);
