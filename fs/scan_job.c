/* SPDX-License-Identifier: MIT */
/* scan: the job of one layer: its own copies, and the places of the layer one after the other. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "scan_internal.h"

struct scan_job *scan_job_new(const struct scan_request *request, size_t i, uint64_t stamp)
{
	struct scan_job *job = calloc(1, sizeof(*job));
	pthread_condattr_t monotonic;

	if (!job)
		return NULL;
	pthread_mutex_init(&job->mutex, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&job->changed, &monotonic);
	pthread_condattr_destroy(&monotonic);
	job->machine = request->policy->machine;
	job->check_trust = request->check_trust;
	job->root = rootfs_ref(request->root);
	job->under = request->under ? rootfs_ref(request->under) : NULL;
	job->cache = request->cache ? scan_cache_ref(request->cache) : NULL;
	job->stamp = stamp;
	job->offer = request->offer;
	job->offer_context = request->offer_context;
	job->layer = calloc(1, sizeof(*job->layer));
	if (!job->layer || policy_layer_copy(&request->policy->layers[i], &job->policy) < 0)
		return scan_job_free(job);
	return job;
}

struct scan_job *scan_job_free(struct scan_job *job)
{
	if (!job)
		return NULL;
	policy_layer_clear(&job->policy);
	for (size_t i = 0; i < job->by_inode_size; i++)
		source_unref(job->by_inode[i]);
	free(job->by_inode);
	layer_free(job->layer);
	diag_clear(&job->diags);
	rootfs_avoid_clear(&job->avoid);
	rootfs_unref(job->root);
	rootfs_unref(job->under);
	scan_cache_free(job->cache);
	pthread_cond_destroy(&job->changed);
	pthread_mutex_destroy(&job->mutex);
	free(job);
	return NULL;
}

/* One place of the layer: its path in `root`, and where the policy names it. */
struct place_request {
	struct rootfs *root;
	const char *path;
	const char *file;
	unsigned line;
};

/* Notes that the place cannot be scanned. Returns 0 where the layer may do without it. */
static int miss(struct scan_job *job, const struct place_request *at, int error)
{
	const char *what = error == -ENOENT    ? "does not exist"
			   : error == -EREMOTE ? "lies on a mount of gldriverfs itself"
			   : error == -ELOOP   ? "is a link that leads in a circle"
					       : strerror(-error);
	bool spared = job->policy.optional && !scan_is_shortage(error);
	enum diag_level level = spared ? DIAG_WARNING : DIAG_ERROR;

	if (!spared || error != -ENOENT)
		diag_add_as(&job->diags, level, "layer-unread", at->file, at->line,
			"layer %s: %s%s%s", job->policy.name, at->path,
			error == -ENOENT || error == -EREMOTE || error == -ELOOP ? " " : ": ",
			what);
	return spared ? 0 : error;
}

static int scan_parts(const struct scan_place *at, bool tree)
{
	static const char *const parts[] = { "lib", "share", "etc" };
	int result = 0;

	for (size_t i = 0; tree && result == 0 && i < ARRAY_SIZE(parts); i++)
		result = scan_tree(at, parts[i]);
	return tree ? result : scan_directory(at);
}

static int take_place(struct scan_job *job, const struct place_request *at, bool tree)
{
	_cleanup_(rootfs_node_clear) struct rootfs_node node = { .fd = -1 };
	_cleanup_(freep) char *shown = rootfs_real_path(at->root, at->path);
	struct scan_place place = { .job = job,
		.directory = &node,
		.shown = shown,
		.shown_root = strlen(at->root->prefix),
		.into = tree ? "" : "lib",
		.set = (uint32_t)job->layer->n_sets,
		.curated = tree };
	int result, missed = 0;

	if (!shown)
		return -ENOMEM;
	result = rootfs_walk(at->root, at->path, &job->avoid, &node);
	if (result == 0 && !S_ISDIR(node.stat.st_mode))
		result = -ENOTDIR;
	if (result < 0)
		missed = miss(job, at, result);
	if (layer_add_set(job->layer, at->path, at->file, at->line, result == 0) < 0)
		return -ENOMEM;
	if (result < 0)
		return missed;
	result = scan_parts(&place, tree);
	return result < 0 ? miss(job, at, result) : 0;
}

/* What lies under the mount: a library directory, and share/ and etc/ as they are. */
static int scan_under(struct scan_job *job)
{
	struct place_request at = { job->under, job->under ? job->under->prefix : "under",
		job->policy.file, job->policy.line };
	_cleanup_(rootfs_node_clear) struct rootfs_node top = { .fd = -1 }, lib = { .fd = -1 };
	_cleanup_(freep) char *shown = NULL;
	struct scan_place place = { .job = job, .set = (uint32_t)job->layer->n_sets };
	int result = job->under ? rootfs_walk(job->under, "/", &job->avoid, &top) : -ENOENT;

	if (layer_add_set(job->layer, at.path, at.file, at.line, result == 0) < 0)
		return -ENOMEM;
	if (result < 0 && !job->under && !job->policy.optional)
		diag_add(&job->diags, DIAG_ERROR, at.file, at.line,
			"layer %s: what lies under the mountpoint is not known", job->policy.name);
	if (result < 0)
		return job->under ? miss(job, &at, result) : job->policy.optional ? 0 : result;
	place.directory = &top;
	place.shown = job->under->prefix;
	place.shown_root = strlen(job->under->prefix);
	place.into = "";
	result = scan_tree(&place, "share");
	if (result == 0)
		result = scan_tree(&place, "etc");
	if (result == 0)
		result = rootfs_walk_at(&top, "lib", &job->avoid, &lib);
	if (result == -ENOENT || (result == 0 && !S_ISDIR(lib.stat.st_mode)))
		return 0;
	if (result < 0)
		return miss(job, &at, result);
	shown = string_format("%s/lib", job->under->prefix);
	if (!shown)
		return -ENOMEM;
	place.directory = &lib;
	place.shown = shown;
	place.into = "lib";
	result = scan_directory(&place);
	return result < 0 ? miss(job, &at, result) : 0;
}

/* Remembers the first failure and goes on: every missing path is named at once. */
static void keep_first(int *result, int error)
{
	if (*result == 0)
		*result = error;
}

static int scan_places(struct scan_job *job, struct rootfs *root)
{
	const struct policy_layer *policy = &job->policy;
	int result = 0;

	for (size_t i = 0; i < policy->dirs.count; i++) {
		const struct policy_value *dir = &policy->dirs.items[i];

		keep_first(&result,
			take_place(job,
				&(struct place_request){ root, dir->text, dir->file, dir->line },
				false));
	}
	for (size_t i = 0; i < policy->trees.count; i++) {
		const struct policy_value *tree = &policy->trees.items[i];

		keep_first(&result,
			take_place(job,
				&(struct place_request){ root, tree->text, tree->file, tree->line },
				true));
	}
	if (policy->under)
		keep_first(&result, scan_under(job));
	return result;
}

int scan_add_absent(struct layer *layer, const struct policy_layer *policy)
{
	int result = 0;

	for (size_t i = 0; i < policy->dirs.count; i++)
		keep_first(&result,
			layer_add_set(layer, policy->dirs.items[i].text, policy->dirs.items[i].file,
				policy->dirs.items[i].line, false));
	for (size_t i = 0; i < policy->trees.count; i++)
		keep_first(&result,
			layer_add_set(layer, policy->trees.items[i].text,
				policy->trees.items[i].file, policy->trees.items[i].line, false));
	if (policy->under)
		keep_first(
			&result, layer_add_set(layer, "under", policy->file, policy->line, false));
	return result;
}

/* The layer's own root, inside the machine's. */
static int open_root(struct scan_job *job, struct rootfs **ret_root)
{
	_cleanup_(rootfs_node_clear) struct rootfs_node node = { .fd = -1 };
	int result = rootfs_walk(job->root, job->policy.root.text, &job->avoid, &node);

	return result < 0 ? result : rootfs_open_node(&node, ret_root);
}

static int run(struct scan_job *job)
{
	_cleanup_(rootfs_unrefp) struct rootfs *root = NULL;
	struct place_request at = { job->root, job->policy.root.text, job->policy.root.file,
		job->policy.root.line };
	int result = rootfs_avoid_ours(&job->avoid);

	if (result < 0) {
		diag_add(&job->diags, DIAG_ERROR, "/proc/self/mountinfo", 0, "%s",
			strerror(-result));
		return result;
	}
	if (job->under && job->under->outer)
		rootfs_avoid_covered(&job->avoid, job->under);
	if (!job->policy.root.text)
		return scan_places(job, job->root);
	result = open_root(job, &root);
	if (result == 0)
		return scan_places(job, root);
	result = miss(job, &at, result);
	return result < 0 ? result : scan_add_absent(job->layer, &job->policy);
}

void scan_job_run(struct scan_job *job)
{
	job->result = run(job);
	layer_sort(job->layer);
}
