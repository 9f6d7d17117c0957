/* SPDX-License-Identifier: MIT */
/* layer: what a scan found in one layer of the policy: candidates, each a place in the driver
 * directory and the host file that could stand there, and what was refused and why. Core. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "elf.h"
#include "note.h"
#include "policy.h"

/* What makes a host file the same file (DESIGN 2). Zero the struct before filling: it is compared
 * and hashed as bytes. */
struct file_identity {
	uint64_t dev;
	uint64_t ino;
	uint64_t size;
	int64_t mtime_sec;
	uint32_t mtime_nsec;
	uint32_t build_id_size;
	uint8_t build_id[ELF_BUILD_ID_MAX];
};

struct rootfs;

/* One host file at one moment. Immutable once scanned, shared by reference between generations. */
struct source {
	atomic_uint references;
	struct file_identity identity;
	int64_t ctime_sec;
	uint32_t ctime_nsec;
	uint32_t mode; /* type and permissions without setuid, setgid and sticky */
	uint32_t uid;
	uint32_t gid;
	bool in_store;       /* the path inside its root begins with /nix/store/ */
	bool covered;        /* under the mount: no path leads there */
	bool is_elf;         /* elf is filled */
	char *path;          /* canonical, inside its root: "/usr/lib/…" */
	char *real_path;     /* the same as this process (and the user) reaches it */
	struct rootfs *root; /* where `path` is opened again; a reference */
	struct elf_facts elf;
	/* Of a JSON or ICD file that names a library (module `manifest`): its identity.size bytes,
	 * owned; NULL: not read. */
	char *text;
	struct compat_note *note; /* of a libcuda, owned; NULL: it is none */
	/* What edges hang on it: the descriptor held of it (fdpool) and what the last reference
	 * runs before it frees (closes the descriptor, drops `root`); NULL: nothing. */
	void *pin;
	void (*release)(struct source *source);
};

struct source *source_ref(struct source *source);
/* Drops a reference; the last one frees. Accepts NULL, returns NULL. */
struct source *source_unref(struct source *source);
void source_unrefp(struct source **source);
struct stat;
/* Whether a file with these attributes still has the source's content: device, inode, size, mtime.
 */
bool source_matches(const struct source *source, const struct stat *st);

struct candidate {
	char *path; /* in the driver directory: "lib/libcuda.so.1", "share/vulkan/icd.d/x.json" */
	struct source *source; /* a reference */
	char *link;   /* the host has a link here: its text; NULL where it has the file itself */
	uint32_t set; /* index into the layer's sets: the directory it came from */
	bool curated; /* from a tree: served under its own path, no allow-list */
};

/* One directory of the layer (a `dir`, a `tree`, what was under the mount). */
struct layer_set {
	char *path; /* on the host, as the user wrote it */
	char *file; /* where it was written, NULL: built in */
	unsigned line;
	bool present; /* it is there; false only where the layer is optional */
};

enum link_fault { LINK_FINE, LINK_DANGLING, LINK_REFLEXIVE, LINK_LOOP };

struct rejection {
	char *path; /* host path */
	enum link_fault
		fault; /* it is a link that leads nowhere; LINK_FINE: it is something else */
	char *text;    /* why, in words that a user understands */
};

struct layer {
	const struct policy_layer *policy; /* owned by the generation's policy */
	struct layer_set *sets;
	size_t n_sets;
	size_t sets_capacity;
	struct candidate *candidates; /* sorted by set, then by path */
	size_t n_candidates;
	size_t candidates_capacity;
	struct rejection *rejections; /* sorted by path */
	size_t n_rejections;
	size_t rejections_capacity;
};

/* Each appends one item, copying the strings; the candidate takes its own reference of the source.
 * Return 0 or -ENOMEM. */
int layer_add_set(
	struct layer *layer, const char *path, const char *file, unsigned line, bool present);
int layer_add_candidate(struct layer *layer, const char *path, struct source *source,
	const char *link, uint32_t set, bool curated);
int layer_add_rejection(struct layer *layer, const char *path, const char *format, ...)
	_printf_(3, 4);
/* Says of the last rejection what is wrong with it as a link. */
void layer_set_fault(struct layer *layer, enum link_fault fault);
/* Sorts candidates and rejections: the result does not depend on readdir's order. */
void layer_sort(struct layer *layer);
/* Accepts NULL, returns NULL. */
struct layer *layer_free(struct layer *layer);

/* Whether a file of this name in a directory of mixed content (not a tree) is wanted: the
 * allow-list plus include minus exclude (DESIGN 3.2). *ret_why is set where it is not: a constant
 * string. */
bool layer_wants(const struct policy_layer *policy, const char *name, const char **ret_why);
/* Whether a tree's file of this name is kept: not excluded, not of the libc family. */
bool layer_tree_wants(const struct policy_layer *policy, const char *name, const char **ret_why);
