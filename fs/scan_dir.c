/* SPDX-License-Identifier: MIT */
/* scan: which names of a directory of mixed content and of a tree are looked at. */
#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "hostplace.h"
#include "scan_internal.h"
#include "soname.h"

#define DEPTH_MAX 16

static bool matches(const struct policy_list *patterns, const char *name)
{
	for (size_t i = 0; i < patterns->count; i++)
		if (fnmatch(patterns->items[i].text, name, 0) == 0)
			return true;
	return false;
}

static int take(const struct scan_place *place, const struct scan_name *name)
{
	_cleanup_(rootfs_node_clear) struct rootfs_node node = { .fd = -1 };
	_cleanup_(freep) char *link = NULL;
	int result;

	if (!scan_visit(place))
		return 0;
	result = scan_walk_name(place, name, &node, &link);
	if (result <= 0)
		return result;
	return scan_take(place, name->name, &node, link, EXPECT_LIBRARY);
}

/* Asked for by its full name, and refused all the same: that is told. */
static bool is_refused_include(const struct policy_layer *policy, const char *name)
{
	if (soname_classify(name) != SONAME_NEVER)
		return false;
	for (size_t i = 0; i < policy->includes.count; i++)
		if (strcmp(policy->includes.items[i].text, name) == 0)
			return true;
	return false;
}

int scan_take_library(const struct scan_place *place, const struct scan_name *name)
{
	const struct policy_layer *policy = &place->job->policy;
	const char *why;

	if (soname_is_temporary(name->name))
		return 0;
	if (is_refused_include(policy, name->name)) {
		layer_wants(policy, name->name, &why);
		return scan_reject(place, name->name, "%s", why);
	}
	if (soname_is_library(name->name) && layer_wants(policy, name->name, &why))
		return take(place, name);
	return 0;
}

int scan_take_plugin(const struct scan_place *place, const struct scan_name *name)
{
	const struct policy_layer *policy = &place->job->policy;
	enum hostplace_plugin plugin = hostplace_plugin_of(place->into, name->name);

	if (plugin == HOSTPLACE_NO_PLUGIN || soname_is_temporary(name->name) ||
		matches(&policy->excludes, name->name))
		return 0;
	if (plugin == HOSTPLACE_FOREIGN_PLUGIN && !matches(&policy->includes, name->name))
		return 0;
	return take(place, name);
}

/* By its name, else by the library that it names. One that is not trusted is not read: 1, and it is
 * rejected as any. Returns 1, 0, or a shortage's -errno. */
static int is_driver_manifest(
	const struct scan_place *place, const char *name, const struct rootfs_node *node)
{
	_cleanup_(freep) char *text = NULL;
	size_t size;
	int result;

	if (hostplace_is_driver_name(name) || matches(&place->job->policy.includes, name))
		return 1;
	if (!S_ISREG(node->stat.st_mode))
		return 0;
	if (scan_distrusts(place->job, node))
		return 1;
	result = rootfs_read(node->root, node->path, HOSTPLACE_MANIFEST_MAX, &text, &size);
	if (result < 0)
		return scan_is_shortage(result) ? result : 0;
	return hostplace_names_driver(place->into, text, size);
}

int scan_take_manifest(const struct scan_place *place, const struct scan_name *name)
{
	_cleanup_(rootfs_node_clear) struct rootfs_node node = { .fd = -1 };
	_cleanup_(freep) char *link = NULL;
	int result;

	if (!hostplace_is_manifest(place->into, name->name) ||
		matches(&place->job->policy.excludes, name->name) || !scan_visit(place))
		return 0;
	result = scan_walk_name(place, name, &node, &link);
	if (result == 1)
		result = is_driver_manifest(place, name->name, &node);
	if (result <= 0)
		return result;
	return scan_take(place, name->name, &node, link, EXPECT_ANYTHING);
}

static int scan_libraries(const struct scan_place *place)
{
	const struct touched_names matter = { .driver = true,
		.patterns = &place->job->policy.includes };
	_cleanup_(scan_names_clear) struct scan_names names = { 0 };
	int result = scan_list(place->job, place->directory, &matter, &names);

	for (size_t i = 0; result == 0 && i < names.count; i++)
		result = scan_take_library(place, &names.items[i]);
	return result;
}

static int take_plugins(const struct scan_place *place)
{
	_cleanup_(scan_names_clear) struct scan_names names = { 0 };
	int result = scan_list(place->job, place->directory, &scan_all_names, &names);

	if (result < 0)
		return scan_is_shortage(result) ? result : 0;
	for (size_t i = 0; result == 0 && i < names.count; i++)
		result = scan_take_plugin(place, &names.items[i]);
	return result;
}

/* A directory of a place as a place of its own, with what it stands on. */
struct below {
	struct scan_place place;
	struct rootfs_node node;
	char *shown, *into;
};

static void below_clear(struct below *below)
{
	rootfs_node_clear(&below->node);
	free(below->shown);
	free(below->into);
}

/* Returns 1, 0 where there is none, or a shortage's -errno; *ret_below is to be cleared in every
 * case. */
static int find_below(const struct scan_place *place, const char *name, struct below *ret_below)
{
	struct scan_name entry = { (char *)name, DT_UNKNOWN };
	_cleanup_(freep) char *link = NULL;
	int result;

	*ret_below = (struct below){ .place = *place, .node.fd = -1 };
	result = scan_walk_name(place, &entry, &ret_below->node, &link);
	if (result <= 0 || !S_ISDIR(ret_below->node.stat.st_mode))
		return result < 0 ? result : 0;
	ret_below->shown = string_format("%s/%s", place->shown, name);
	ret_below->into = string_format("%s%s%s", place->into, *place->into ? "/" : "", name);
	ret_below->place.directory = &ret_below->node;
	ret_below->place.shown = ret_below->shown;
	ret_below->place.into = ret_below->into;
	return ret_below->shown && ret_below->into ? 1 : -ENOMEM;
}

int scan_plugins(const struct scan_place *place)
{
	int result = 0;

	for (size_t i = 0; result == 0 && i < HOSTPLACE_PLUGINS; i++) {
		_cleanup_(below_clear) struct below below;

		result = find_below(place, hostplace_plugins[i].host, &below);
		if (result == 1)
			result = take_plugins(&below.place);
	}
	return result;
}

int scan_directory(const struct scan_place *place)
{
	int result = scan_libraries(place);

	return result < 0 ? result : scan_plugins(place);
}

/* A directory on the way down a tree: a link back to one of them is a loop. */
struct ancestor {
	const struct ancestor *above;
	dev_t dev;
	ino_t ino;
	unsigned depth;
};

static int scan_branch(const struct scan_place *place, const struct ancestor *above);

static int take_branch(const struct scan_place *place, const char *name,
	const struct rootfs_node *node, const struct ancestor *above)
{
	_cleanup_(freep) char *shown = NULL, *into = NULL;
	struct scan_place below = *place;

	for (const struct ancestor *a = above; a; a = a->above)
		if (a->dev == node->stat.st_dev && a->ino == node->stat.st_ino)
			return scan_reject(
				place, name, "it leads back to a directory that it is in");
	if (above->depth >= DEPTH_MAX)
		return scan_reject(
			place, name, "it is nested more than %d directories deep", DEPTH_MAX);
	shown = string_format("%s/%s", place->shown, name);
	into = string_format("%s/%s", place->into, name);
	if (!shown || !into)
		return -ENOMEM;
	below.directory = node;
	below.shown = shown;
	below.into = into;
	return scan_branch(&below, above);
}

static int take_leaf(
	const struct scan_place *place, const struct scan_name *name, const struct ancestor *above)
{
	_cleanup_(rootfs_node_clear) struct rootfs_node node = { .fd = -1 };
	_cleanup_(freep) char *link = NULL;
	bool in_lib =
		string_has_prefix(place->into, "lib") && (place->into[3] == '/' || !place->into[3]);
	bool library =
		in_lib && (soname_is_library(name->name) || string_has_suffix(name->name, ".so"));
	int result;

	if (!scan_visit(place))
		return 0;
	result = scan_walk_name(place, name, &node, &link);
	if (result <= 0)
		return result;
	if (S_ISDIR(node.stat.st_mode) && !library)
		return take_branch(place, name->name, &node, above);
	return scan_take(
		place, name->name, &node, link, library ? EXPECT_TREE_LIBRARY : EXPECT_ANYTHING);
}

static int scan_branch(const struct scan_place *place, const struct ancestor *above)
{
	const struct stat *stat = &place->directory->stat;
	struct ancestor here = { above, stat->st_dev, stat->st_ino, above->depth + 1 };
	_cleanup_(scan_names_clear) struct scan_names names = { 0 };
	int result = scan_list(place->job, place->directory, &scan_all_names, &names);

	if (result < 0 && !scan_is_shortage(result))
		return layer_add_rejection(place->job->layer, place->shown,
			"the directory cannot be read: %s", strerror(-result));
	for (size_t i = 0; result == 0 && i < names.count; i++) {
		const char *name = names.items[i].name, *why;

		if (!soname_is_temporary(name) && layer_tree_wants(&place->job->policy, name, &why))
			result = take_leaf(place, &names.items[i], &here);
	}
	return result;
}

int scan_tree(const struct scan_place *place, const char *name)
{
	const struct stat *stat = &place->directory->stat;
	struct ancestor top = { NULL, stat->st_dev, stat->st_ino, 0 };
	_cleanup_(below_clear) struct below below;
	int result = find_below(place, name, &below);

	return result == 1 ? scan_branch(&below.place, &top) : result;
}
