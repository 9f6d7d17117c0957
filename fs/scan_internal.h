/* SPDX-License-Identifier: MIT */
/* scan_internal: what the parts of the scan share: the job of one layer, the cache. Edge. */
#pragma once

#include <pthread.h>
#include <sys/stat.h>

#include "scan.h"

/* One layer's scan. It owns or references all that it touches: a job whose source hangs outlives
 * the load that gave it up. Who comes last frees it: the waiter of a job that is done, the thread
 * of one that was abandoned. */
struct scan_job {
	/* What the request says, copied or referenced. */
	struct policy_layer policy;
	enum policy_machine machine;
	bool check_trust;
	struct rootfs *root;
	struct rootfs *under;
	struct scan_cache *cache;
	uint64_t stamp; /* of the cache */
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
};

/* A copy of the request's part for its i-th layer, or NULL without memory. */
struct scan_job *scan_job_new(const struct scan_request *request, size_t i, uint64_t stamp);
/* Accepts NULL, returns NULL. */
struct scan_job *scan_job_free(struct scan_job *job);
/* Scans the layer; the result is in the job. */
void scan_job_run(struct scan_job *job);
/* All places of the policy's layer as absent ones. Returns 0 or -ENOMEM. */
int scan_add_absent(struct layer *layer, const struct policy_layer *policy);

/* The machine's want of memory or descriptors: no verdict on a file, the scan fails. */
bool scan_is_shortage(int error);

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

struct scan_name {
	char *name;
	unsigned char type; /* DT_… */
};

struct scan_names {
	struct scan_name *items;
	size_t count;
	size_t capacity;
};

/* The names in a walked directory, sorted, without "." and "..". Returns 0 or -errno. */
int scan_list(const struct rootfs_node *directory, struct scan_names *ret_names);
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

/* A directory of mixed content: its driver libraries and plug-ins. Returns 0 or -errno. */
int scan_directory(const struct scan_place *place);
/* Everything below the directory of that name in the place (whose `into` is ""), if there is one.
 * Returns 0 or -errno. */
int scan_tree(const struct scan_place *place, const char *name);

/* The source of a walked regular file. Returns 0; 1 and *ret_why (owned by the caller): it is not
 * what is expected; or a shortage's -errno. */
int scan_source(struct scan_job *job, const struct rootfs_node *node, enum scan_expect expect,
	struct source **ret_source, char **ret_why);

struct scan_cache *scan_cache_ref(struct scan_cache *cache);
/* Each scan has a stamp; the commit of a successful one drops what no scan since has seen. */
uint64_t scan_cache_begin(struct scan_cache *cache);
void scan_cache_commit(struct scan_cache *cache, uint64_t stamp);
/* A reference of the source cached for this path if it is still the file of `stat`, or NULL. */
struct source *scan_cache_find(struct scan_cache *cache, uint64_t stamp, const struct rootfs *root,
	const char *path, const struct stat *stat);
/* Keeps the source, or finds that another thread has cached the same. Returns a reference of the
 * one that is cached; the source itself where memory is short. */
struct source *scan_cache_insert(struct scan_cache *cache, uint64_t stamp, struct source *source);
