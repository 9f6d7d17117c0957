/* SPDX-License-Identifier: MIT */
/* scan_internal: what the parts of the scan share: the job of one layer, the cache. Edge. */
#pragma once

#include <pthread.h>
#include <sys/stat.h>

#include "namemap.h"
#include "scan.h"
#include "scan_hung.h"
#include "touched.h"

/* One layer's scan. It owns or references all that it touches: a job whose source hangs outlives
 * the load that gave it up. Who comes last frees it: the waiter of a job that is done, the thread
 * of one that was abandoned. */
struct scan_job {
	/* What the request says, copied or referenced. */
	struct policy_layer policy;
	enum policy_machine machine;
	bool check_trust;
	dev_t own_device;
	struct rootfs *root;
	struct rootfs *under;
	struct scan_cache *cache;
	uint64_t stamp; /* of the cache */
	struct touched *touched;
	void (*offer)(void *context, struct source *source, int fd);
	void *offer_context;

	/* The thread's own until `done`. */
	struct rootfs_avoid avoid;
	struct layer *layer;
	struct diag_list diags;
	int result;
	size_t visited;
	struct source **by_inode; /* open-addressed by (dev, ino); references */
	size_t by_inode_size;     /* a power of two */
	size_t n_by_inode;

	pthread_mutex_t mutex;
	pthread_cond_t changed;
	bool done;      /* under mutex */
	bool abandoned; /* under mutex: nobody waits, nothing of the request may be used */

	struct timespec started;        /* CLOCK_MONOTONIC */
	LIST_ENTRY(scan_job) hung_link; /* while it is abandoned and has a cache */
};

/* A copy of the request's part for its i-th layer, or NULL without memory. */
struct scan_job *scan_job_new(const struct scan_request *request, size_t i, uint64_t stamp);
/* Accepts NULL, returns NULL. */
struct scan_job *scan_job_free(struct scan_job *job);
/* Scans the layer; the result is in the job. */
void scan_job_run(struct scan_job *job);
/* All places of the policy's layer as absent ones. Returns 0 or -ENOMEM. */
int scan_add_absent(struct layer *layer, const struct policy_layer *policy);

/* One place of the layer: its path in `root`, and where the policy names it. */
struct scan_origin {
	struct rootfs *root;
	const char *path;
	const char *file;
	unsigned line;
};

/* Notes that the place cannot be scanned. Returns 0 where the layer may do without it, else the
 * error. */
int scan_miss(struct scan_job *job, const struct scan_origin *at, int error);
/* The same for a place that is there and says nothing: `why` tells. */
int scan_miss_because(
	struct scan_job *job, const struct scan_origin *at, const char *why, int error);

/* Why a path could not be walked, as the end of a sentence that begins with "it". */
const char *scan_walk_text(int error);

/* The machine's want of memory or descriptors: no verdict on a file, the scan fails. */
bool scan_is_shortage(int error);

/* Whether another user can change the walked file and the layer is to serve and read none of these:
 * node->untrusted says where. */
bool scan_distrusts(const struct scan_job *job, const struct rootfs_node *node);

/* What a name must hold to become a candidate. */
enum scan_expect {
	EXPECT_ANYTHING,
	EXPECT_LIBRARY,
	EXPECT_TREE_LIBRARY, /* a library or a linker script */
	EXPECT_MANIFEST,     /* data whose text is read */
};

/* A directory in which names are taken. */
struct scan_place {
	struct scan_job *job;
	const struct rootfs_node *directory;
	const char *shown; /* its real path as written in the policy, for messages */
	size_t shown_root; /* length of what belongs to the root in it */
	const char *into;  /* "lib", "lib/gbm" */
	uint32_t set;
	bool curated;
};

/* A walked directory as a place. */
struct scan_opened {
	struct scan_place place;
	struct rootfs_node node;
	char *shown;
};

/* Walks to a directory; what is taken from it goes to `into` (kept by the caller) and to the set
 * that is added next. Returns 0, -ENOTDIR, or the walk's -errno; *ret_opened is to be cleared in
 * every case. */
int scan_open(struct scan_job *job, struct rootfs *root, const char *path, const char *into,
	struct scan_opened *ret_opened);
void scan_opened_clear(struct scan_opened *opened);

struct scan_name {
	char *name;
	unsigned char type; /* DT_… */
};

struct scan_names {
	struct scan_name *items;
	size_t count;
	size_t capacity;
};

/* The names in a walked directory, sorted, without "." and ".."; `matter`: the ones whose coming
 * and going changes what is taken. Returns 0 or -errno. */
int scan_list(const struct scan_job *job, const struct rootfs_node *directory,
	const struct touched_names *matter, struct scan_names *ret_names);
extern const struct touched_names scan_all_names;
void scan_names_clear(struct scan_names *names);

/* Walks to a name of the place. Returns 1 and the node; 0 where there is nothing to take (a
 * rejection is noted); or a shortage's -errno. *ret_link is the link's text or NULL. */
int scan_walk_name(const struct scan_place *place, const struct scan_name *name,
	struct rootfs_node *ret_node, char **ret_link);
/* Makes the walked name a candidate or a rejection. Returns 0 or a shortage's -errno. */
int scan_take(const struct scan_place *place, const char *name, const struct rootfs_node *node,
	const char *link, enum scan_expect expect);
/* Notes a rejection of a name of the place. Returns 0 or -ENOMEM. */
int scan_reject(const struct scan_place *place, const char *name, const char *format, ...)
	_printf_(3, 4);
/* Counts one more entry. Returns false where the layer has too many (noted once). */
bool scan_visit(const struct scan_place *place);

/* Each takes a name of a place of mixed content where it is the driver's (or included) and not
 * excluded, as the place's `into` has it: a library in lib, a plug-in in lib/gbm, lib/dri,
 * lib/vdpau, a manifest elsewhere. Returns 0 or a shortage's -errno. */
int scan_take_library(const struct scan_place *place, const struct scan_name *name);
int scan_take_plugin(const struct scan_place *place, const struct scan_name *name);
int scan_take_manifest(const struct scan_place *place, const struct scan_name *name);

/* A directory of mixed content: its driver libraries and plug-ins. Returns 0 or -errno. */
int scan_directory(const struct scan_place *place);
/* Only the plug-ins of its gbm, dri and vdpau. Returns 0 or -errno. */
int scan_plugins(const struct scan_place *place);
/* Everything below the directory of that name in the place (whose `into` is ""), if there is one.
 * Returns 0 or -errno. */
int scan_tree(const struct scan_place *place, const char *name);

/* The places that `csv =` and `cdi =` of the policy name. Return 0 or -errno; a list that cannot be
 * read is a warning. */
int scan_csv(struct scan_job *job, const struct scan_origin *at);
int scan_cdi(struct scan_job *job, const struct scan_origin *at);

/* Host files by their paths, each taken where it belongs (hostplace), once per set. */
struct scan_paths {
	struct scan_job *job;
	struct rootfs *root;
	struct scan_opened directory; /* of the last path */
	char *directory_path;         /* NULL: none is open */
	uint32_t set;
	const char *into;
	struct namemap taken; /* places in the driver directory */
};

/* Starts with job, root, set and directory.node.fd = -1; clear it afterwards. Takes a path, its
 * wildcards expanded inside the root; what is missing or has no place is nothing. `as` (may be
 * NULL) is the path that tells place and name instead; then there are no wildcards. Returns 0 or a
 * shortage's -errno. */
int scan_path(struct scan_paths *paths, const char *path, const char *as);
void scan_paths_clear(struct scan_paths *paths);

/* Reads a file that tells what to serve: regular, not of a mount of ours, and in a system mount not
 * another user's to change. Returns 0 (as rootfs_read), -ENOENT, 1 with *ret_why (owned by the
 * caller), or a shortage's -errno. */
int scan_read(struct scan_job *job, struct rootfs *root, const char *path, size_t max,
	char **ret_data, size_t *ret_size, char **ret_why);

/* The source of a walked regular file. Returns 0; 1 and *ret_why (owned by the caller): it is not
 * what is expected; or a shortage's -errno. */
int scan_source(struct scan_job *job, const struct rootfs_node *node, enum scan_expect expect,
	struct source **ret_source, char **ret_why);

struct scan_cache *scan_cache_ref(struct scan_cache *cache);
/* The jobs that hang of all scans with this cache. */
struct scan_hung *scan_cache_hung(struct scan_cache *cache);
/* Each scan has a stamp; the commit of a successful one drops what no scan since has seen. */
uint64_t scan_cache_begin(struct scan_cache *cache);
void scan_cache_commit(struct scan_cache *cache, uint64_t stamp);
/* A reference of the source cached for this path if it is still the file of `stat`, or NULL. */
struct source *scan_cache_find(struct scan_cache *cache, uint64_t stamp, const struct rootfs *root,
	const char *path, const struct stat *stat);
/* Keeps the source, or finds that another thread has cached the same. Returns a reference of the
 * one that is cached; the source itself where memory is short. */
struct source *scan_cache_insert(struct scan_cache *cache, uint64_t stamp, struct source *source);
