/* SPDX-License-Identifier: MIT */
/* scan: the job of one layer: its own copies, and the places of the layer one after the other. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "discover.h"
#include "scan_internal.h"

struct scan_job *scan_job_new(const struct scan_request *request, size_t i, uint64_t stamp)
{
	struct scan_job *job = calloc(1, sizeof(*job));
	pthread_condattr_t monotonic;

	if (!job)
		return NULL;
	clock_gettime(CLOCK_MONOTONIC, &job->started);
	pthread_mutex_init(&job->mutex, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&job->changed, &monotonic);
	pthread_condattr_destroy(&monotonic);
	job->machine = request->policy->machine;
	job->check_trust = request->check_trust;
	job->own_device = request->own_device;
	job->root = rootfs_ref(request->root);
	job->under = request->under ? rootfs_ref(request->under) : NULL;
	job->cache = request->cache ? scan_cache_ref(request->cache) : NULL;
	job->touched = request->touched ? touched_ref(request->touched) : NULL;
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
	touched_unref(job->touched);
	rootfs_unref(job->root);
	rootfs_unref(job->under);
	scan_cache_free(job->cache);
	pthread_cond_destroy(&job->changed);
	pthread_mutex_destroy(&job->mutex);
	free(job);
	return NULL;
}

int scan_miss_because(
	struct scan_job *job, const struct scan_origin *at, const char *why, int error)
{
	bool spared = job->policy.optional && !scan_is_shortage(error);

	diag_add_as(&job->diags, spared ? DIAG_WARNING : DIAG_ERROR, "layer-unread", at->file,
		at->line, "layer %s: %s%s", job->policy.name, at->path, why);
	return spared ? 0 : error;
}

int scan_miss(struct scan_job *job, const struct scan_origin *at, int error)
{
	_cleanup_(freep) char *other = NULL;

	if (error == -ENOENT && job->policy.optional)
		return 0;
	if (error == -ENOENT)
		return scan_miss_because(job, at, " does not exist", error);
	if (error == -EREMOTE)
		return scan_miss_because(job, at, " lies on a mount of gldriverfs itself", error);
	if (error == -ELOOP)
		return scan_miss_because(job, at, " is a link that leads in a circle", error);
	other = string_format(": %s", strerror(-error));
	return other ? scan_miss_because(job, at, other, error) : -ENOMEM;
}

static int scan_parts(const struct scan_place *at, bool tree)
{
	static const char *const parts[] = { "lib", "share", "etc" };
	int result = 0;

	for (size_t i = 0; tree && result == 0 && i < ARRAY_SIZE(parts); i++)
		result = scan_tree(at, parts[i]);
	return tree ? result : scan_directory(at);
}

int scan_open(struct scan_job *job, struct rootfs *root, const char *path, const char *into,
	struct scan_opened *ret_opened)
{
	int result;

	*ret_opened = (struct scan_opened){ .node.fd = -1 };
	ret_opened->shown = rootfs_real_path(root, path);
	ret_opened->place = (struct scan_place){ .job = job,
		.directory = &ret_opened->node,
		.shown = ret_opened->shown,
		.shown_root = strlen(root->prefix),
		.into = into,
		.set = (uint32_t)job->layer->n_sets };
	if (!ret_opened->shown)
		return -ENOMEM;
	result = rootfs_walk(root, path, &job->avoid, &ret_opened->node);
	if (result == 0 && !S_ISDIR(ret_opened->node.stat.st_mode))
		result = -ENOTDIR;
	return result;
}

void scan_opened_clear(struct scan_opened *opened)
{
	rootfs_node_clear(&opened->node);
	free(opened->shown);
	opened->shown = NULL;
}

static int take_place(struct scan_job *job, const struct scan_origin *at, bool tree)
{
	_cleanup_(scan_opened_clear) struct scan_opened opened;
	int result = scan_open(job, at->root, at->path, tree ? "" : "lib", &opened), missed = 0;

	opened.place.curated = tree;
	if (result < 0)
		missed = scan_miss(job, at, result);
	if (layer_add_set(job->layer, at->path, at->file, at->line, result == 0) < 0)
		return -ENOMEM;
	if (result < 0)
		return missed;
	result = scan_parts(&opened.place, tree);
	return result < 0 ? scan_miss(job, at, result) : 0;
}

/* What lies under the mount: a library directory, and share/ and etc/ as they are. */
static int scan_under(struct scan_job *job)
{
	struct scan_origin at = { job->under, job->under ? job->under->prefix : "under",
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
		return job->under ? scan_miss(job, &at, result) : job->policy.optional ? 0 : result;
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
		return scan_miss(job, &at, result);
	shown = string_format("%s/lib", job->under->prefix);
	if (!shown)
		return -ENOMEM;
	place.directory = &lib;
	place.shown = shown;
	place.into = "lib";
	result = scan_directory(&place);
	return result < 0 ? scan_miss(job, &at, result) : 0;
}

/* Remembers the first failure and goes on: every missing path is named at once. */
static void keep_first(int *result, int error)
{
	if (*result == 0)
		*result = error;
}

static int take_dir(struct scan_job *job, const struct scan_origin *at)
{
	return take_place(job, at, false);
}

static int take_tree(struct scan_job *job, const struct scan_origin *at)
{
	return take_place(job, at, true);
}

/* The lists of places of a layer, in the order in which they are asked. */
static const struct {
	size_t offset; /* in struct policy_layer */
	int (*take)(struct scan_job *job, const struct scan_origin *at);
} lists[] = {
	{ offsetof(struct policy_layer, dirs), take_dir },
	{ offsetof(struct policy_layer, trees), take_tree },
	{ offsetof(struct policy_layer, csvs), scan_csv },
	{ offsetof(struct policy_layer, cdis), scan_cdi },
};

static const struct policy_list *list_of(const struct policy_layer *policy, size_t i)
{
	return (const struct policy_list *)((const char *)policy + lists[i].offset);
}

static int scan_places(struct scan_job *job, struct rootfs *root)
{
	const struct policy_layer *policy = &job->policy;
	int result = 0;

	for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
		const struct policy_list *list = list_of(policy, i);

		for (size_t n = 0; n < list->count; n++) {
			const struct policy_value *value = &list->items[n];
			struct scan_origin at = { root, value->text, value->file, value->line };

			keep_first(&result, lists[i].take(job, &at));
		}
	}
	if (policy->discover != DISCOVER_NONE)
		keep_first(&result, discover(job, root));
	if (policy->under)
		keep_first(&result, scan_under(job));
	return result;
}

int scan_add_absent(struct layer *layer, const struct policy_layer *policy)
{
	int result = 0;

	for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
		const struct policy_list *list = list_of(policy, i);

		for (size_t n = 0; n < list->count; n++)
			keep_first(
				&result, layer_add_set(layer, list->items[n].text,
						 list->items[n].file, list->items[n].line, false));
	}
	if (policy->discover != DISCOVER_NONE)
		keep_first(&result, discover_add_absent(layer, policy));
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
	struct scan_origin at = { job->root, job->policy.root.text, job->policy.root.file,
		job->policy.root.line };
	int result = rootfs_avoid_ours(&job->avoid);

	if (result == 0)
		result = rootfs_avoid_device(&job->avoid, job->own_device);
	if (result < 0) {
		diag_add(&job->diags, DIAG_ERROR, "/proc/thread-self/mountinfo", 0, "%s",
			strerror(-result));
		return result;
	}
	job->avoid.touched = job->touched;
	if (job->under && job->under->outer)
		rootfs_avoid_covered(&job->avoid, job->under);
	if (!job->policy.root.text)
		return scan_places(job, job->root);
	result = open_root(job, &root);
	if (result == 0)
		return scan_places(job, root);
	result = scan_miss(job, &at, result);
	return result < 0 ? result : scan_add_absent(job->layer, &job->policy);
}

void scan_job_run(struct scan_job *job)
{
	job->result = run(job);
	layer_sort(job->layer);
}
