/* SPDX-License-Identifier: MIT */
/* discover: the machine's own driver for a layer with `discover =`: the L4T directories of a Jetson
 * or what the loader's cache lists, and the manifests beside them (FACTS.md 5, 6). Edge. */
#pragma once

#include "scan_internal.h"

/* Finds the driver inside the root and takes it. Each directory becomes a set. Returns 0, -ENOENT:
 * there is none (an error in the job's diags, unless the layer is optional), or a shortage's
 * -errno. */
int discover(struct scan_job *job, struct rootfs *root);
/* The set that stands for a driver that was not found. Returns 0 or -ENOMEM. */
int discover_add_absent(struct layer *layer, const struct policy_layer *policy);

/* What the parts of a discovery share. */
struct discovery {
	struct scan_job *job;
	struct rootfs *root;
	struct discovered {
		dev_t dev;
		ino_t ino;
	} * taken; /* directories: a link to one is not taken again */
	size_t n_taken;
	size_t taken_capacity;
};

/* Takes one directory, if it is there, with `take`: a set of its own where it has anything. Returns
 * 0 or a shortage's -errno. */
int discover_directory(struct discovery *discovery, const char *path, const char *into,
	int (*take)(const struct scan_place *place));
/* Reads a file of the machine; one that cannot be used is noted. Returns 0, -ENOENT, or a
 * shortage's -errno. */
int discover_read(struct discovery *discovery, const char *path, size_t max, char **ret_data,
	size_t *ret_size);

enum discovered_library {
	DISCOVERED_NOTHING,
	DISCOVERED_DISTRUSTED, /* only such as another user can replace */
	DISCOVERED,
};
/* Whether the directory has a library of that prefix that is a file with something in it. */
enum discovered_library discover_look(
	struct discovery *discovery, const char *path, const char *prefix);

/* Each takes what it finds. Returns 1, 0: there is nothing of its kind, or a shortage's -errno. */
int discover_l4t(struct discovery *discovery);
/* well_known: also where desktops have drivers that the cache does not list. */
int discover_ldcache(struct discovery *discovery, bool well_known);
