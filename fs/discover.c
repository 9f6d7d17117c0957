/* SPDX-License-Identifier: MIT */
#include "discover.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "hostplace.h"
#include "soname.h"

/* Whether the directory was taken before; if not, it is from now on. Returns 1, 0 or -ENOMEM. */
static int is_taken(struct discovery *discovery, const struct rootfs_node *node)
{
	struct discovered this = { node->stat.st_dev, node->stat.st_ino };

	for (size_t i = 0; i < discovery->n_taken; i++)
		if (discovery->taken[i].dev == this.dev && discovery->taken[i].ino == this.ino)
			return 1;
	if (array_grow(&discovery->taken, &discovery->taken_capacity, discovery->n_taken,
		    sizeof(this)) < 0)
		return -ENOMEM;
	discovery->taken[discovery->n_taken++] = this;
	return 0;
}

int discover_directory(struct discovery *discovery, const char *path, const char *into,
	int (*take)(const struct scan_place *place))
{
	struct scan_job *job = discovery->job;
	struct layer *layer = job->layer;
	size_t before = layer->n_candidates + layer->n_rejections;
	_cleanup_(scan_opened_clear) struct scan_opened opened;
	int result = scan_open(job, discovery->root, path, into, &opened);

	if (result == 0)
		result = is_taken(discovery, &opened.node);
	if (result == 1 || result == -ENOENT || result == -ENOTDIR)
		return 0;
	if (result == 0)
		result = take(&opened.place);
	if (result < 0 && !scan_is_shortage(result))
		result = layer_add_rejection(layer, opened.shown, "it %s", scan_walk_text(result));
	if (result < 0 || layer->n_candidates + layer->n_rejections == before)
		return result;
	return layer_add_set(layer, path, job->policy.file, job->policy.line, true);
}

int discover_read(struct discovery *discovery, const char *path, size_t max, char **ret_data,
	size_t *ret_size)
{
	_cleanup_(freep) char *why = NULL, *shown = NULL;
	int result =
		scan_read(discovery->job, discovery->root, path, max, ret_data, ret_size, &why);

	if (result != 1)
		return result;
	shown = rootfs_real_path(discovery->root, path);
	if (!shown || layer_add_rejection(discovery->job->layer, shown, "%s", why) < 0)
		return -ENOMEM;
	return -ENOENT;
}

enum discovered_library discover_look(
	struct discovery *discovery, const char *path, const char *prefix)
{
	_cleanup_(scan_opened_clear) struct scan_opened opened;
	_cleanup_(scan_names_clear) struct scan_names names = { 0 };
	const struct rootfs_avoid *avoid = &discovery->job->avoid;
	const struct touched_names matter = { .driver = true };
	enum discovered_library found = DISCOVERED_NOTHING;

	if (scan_open(discovery->job, discovery->root, path, "lib", &opened) < 0 ||
		scan_list(discovery->job, &opened.node, &matter, &names) < 0)
		return DISCOVERED_NOTHING;
	for (size_t i = 0; found != DISCOVERED && i < names.count; i++) {
		_cleanup_(rootfs_node_clear) struct rootfs_node node = { .fd = -1 };
		const char *name = names.items[i].name;

		if (string_has_prefix(name, prefix) && soname_is_library(name) &&
			rootfs_walk_at(&opened.node, name, avoid, &node) == 0 &&
			S_ISREG(node.stat.st_mode) && node.stat.st_size > 0)
			found = scan_distrusts(discovery->job, &node) ? DISCOVERED_DISTRUSTED
								      : DISCOVERED;
	}
	return found;
}

static int take_manifests(const struct scan_place *place)
{
	_cleanup_(scan_names_clear) struct scan_names names = { 0 };
	int result = scan_list(place->job, place->directory, &scan_all_names, &names);

	for (size_t i = 0; result == 0 && i < names.count; i++)
		result = scan_take_manifest(place, &names.items[i]);
	return result;
}

/* Returns 1 or a shortage's -errno. */
static int take_all_manifests(struct discovery *discovery)
{
	int result = 0;

	for (size_t i = 0; result == 0 && i < HOSTPLACE_COUNT; i++)
		result = discover_directory(
			discovery, hostplaces[i].host, hostplaces[i].into, take_manifests);
	return result < 0 ? result : 1;
}

static int find(struct discovery *discovery)
{
	enum layer_discover how = discovery->job->policy.discover;
	int result = 0;

	if (how != DISCOVER_LDCACHE)
		result = discover_l4t(discovery);
	if (result == 0 && how != DISCOVER_L4T)
		result = discover_ldcache(discovery, how == DISCOVER_AUTO);
	return result == 1 ? take_all_manifests(discovery) : result;
}

int discover_add_absent(struct layer *layer, const struct policy_layer *policy)
{
	_cleanup_(freep) char *what =
		string_format("discover = %s", layer_discover_name(policy->discover));

	return what ? layer_add_set(layer, what, policy->file, policy->line, false) : -ENOMEM;
}

int discover(struct scan_job *job, struct rootfs *root)
{
	struct discovery discovery = { .job = job, .root = root };
	struct scan_origin at = { root, "discover", job->policy.file, job->policy.line };
	int result = find(&discovery);

	free(discovery.taken);
	if (result != 0)
		return result < 0 ? result : 0;
	if (discover_add_absent(job->layer, &job->policy) < 0)
		return -ENOMEM;
	if (job->policy.optional)
		return 0;
	return scan_miss_because(job, &at,
		job->policy.discover == DISCOVER_L4T ? " = l4t finds no L4T driver directory"
		: job->policy.discover == DISCOVER_LDCACHE
			? " = ldcache finds no driver library in /etc/ld.so.cache"
			: " = auto finds no driver",
		-ENOENT);
}
