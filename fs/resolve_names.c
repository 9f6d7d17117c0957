/* SPDX-License-Identifier: MIT */
#include "resolve_internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "candidate.h"
#include "soname.h"
#include "util.h"

/* Claims a name in lib/. Returns 0; -EEXIST: another group has it; or -ENOMEM. The group's own
 * names may be claimed again. */
static int claim(struct resolve_job *job, const char *name, const struct resolve_group *group)
{
	const size_t index = (size_t)(group - job->groups);
	size_t owner;
	int result = namemap_put(&job->names, name, index);

	if (result == -EEXIST && namemap_get(&job->names, name, &owner) && owner == index)
		return 0;
	return result;
}

/* Compat's before tegra's before others, then by layer; of one stem the highest SONAME first, so
 * that it gets libNAME.so. */
static int compare_groups(const void *a, const void *b)
{
	const struct resolve_group *left = *(struct resolve_group *const *)a;
	const struct resolve_group *right = *(struct resolve_group *const *)b;
	const struct resolve_item *l = &left->items[0];
	const struct resolve_item *r = &right->items[0];
	size_t l_stem = soname_stem(left->key);
	size_t r_stem = soname_stem(right->key);
	int order = l->rank - r->rank;

	if (order == 0 && l->layer_index != r->layer_index)
		order = l->layer_index < r->layer_index ? -1 : 1;
	if (order == 0)
		order = memcmp(left->key, right->key, l_stem < r_stem ? l_stem : r_stem);
	if (order == 0 && l_stem != r_stem)
		order = l_stem < r_stem ? -1 : 1;
	if (order == 0)
		order = version_compare(soname_version(right->key), soname_version(left->key));
	return order ? order : strcmp(left->key, right->key);
}

/* JSON and ICD files name libraries: they are files wherever they come from. */
static bool is_manifest(const char *path)
{
	if (string_has_suffix(path, ".json"))
		return string_has_prefix(path, "share/") || string_has_prefix(path, "etc/");
	return string_has_prefix(path, "etc/OpenCL/vendors/") && string_has_suffix(path, ".icd");
}

/* Adds the source under path as the policy presents it. A link to what the mount covers would lead
 * to itself. */
static int present(const struct resolve_job *job, const struct resolve_item *item, const char *path)
{
	struct source *source = item->candidate->source;
	const char *layer = item->layer->policy->name;
	bool link = job->policy->present == PRESENT_SYMLINK ||
		    (job->policy->present == PRESENT_AUTO && source->in_store);

	if (link && !source->covered && !is_manifest(path))
		return view_add_link(job->resolution->view, path, source->real_path, source, layer);
	return view_add_file(job->resolution->view, path, source, layer);
}

static int add_link(const struct resolve_job *job, const struct resolve_group *group,
	const char *name, const char *target)
{
	char path[512];

	if (snprintf(path, sizeof(path), "lib/%s", name) >= (int)sizeof(path))
		return -EINVAL;
	return view_add_link(job->resolution->view, path, target, group->winner->candidate->source,
		group->winner->layer->policy->name);
}

/* Whether a is the better name for the file: of the SONAME's stem, then the most versioned. */
static bool is_better_name(const char *a, const char *b, const char *key)
{
	bool a_stem = soname_same_stem(a, key);
	bool b_stem = soname_same_stem(b, key);
	size_t a_parts = version_parts(soname_version(a));
	size_t b_parts = version_parts(soname_version(b));

	if (a_stem != b_stem)
		return a_stem;
	if (a_parts != b_parts)
		return a_parts > b_parts;
	if (strlen(a) != strlen(b))
		return strlen(a) > strlen(b);
	return strcmp(a, b) < 0;
}

/* Names the file and adds it. Where another group has its name, it has only its SONAME. */
static int add_served(struct resolve_job *job, struct resolve_group *group)
{
	const char *best = NULL;
	char path[512];
	int result;

	for (size_t i = 0; i < group->n_own; i++) {
		const struct resolve_item *item = &group->items[i];

		if (item->fate == FATE_WINNER &&
			(!best || is_better_name(item->name, best, group->key)))
			best = item->name;
	}
	result = claim(job, best, group);
	if (result == -EEXIST)
		best = group->key;
	else if (result < 0)
		return result;
	group->served = best;
	if (snprintf(path, sizeof(path), "lib/%s", best) >= (int)sizeof(path))
		return -EINVAL;
	result = present(job, group->winner, path);
	if (result == 0 && strcmp(best, group->key) != 0)
		result = add_link(job, group, group->key, best);
	return result;
}

static int say_taken(struct resolve_item *item)
{
	return resolve_say(item, VERDICT_LOST_ORDER, NULL, "another library has the name %s",
		path_base(item->candidate->path));
}

/* Why the group's winner is served, or its other version is not. */
static const char *reason_text(const struct resolve_group *group)
{
	switch (group->reason) {
	case PICK_KERNEL:
		return "the kernel driver's version";
	case PICK_LINK:
		return "where the layer's own link leads";
	case PICK_HIGHEST:
		break;
	}
	return "the highest version";
}

static int say_served(const struct resolve_job *job, const struct resolve_group *group,
	struct resolve_item *item, const char *served)
{
	_cleanup_(freep) char *what = resolve_describe_key(group);
	const char *layer = item->layer->policy->name;

	if (!what)
		return -ENOMEM;
	if (job->decision->on && item->rank == 0)
		return resolve_say(item, VERDICT_SERVED, served,
			"compat is on: layer %s gives the CUDA libraries", layer);
	if (group->kept)
		return resolve_say(item, VERDICT_SERVED, served,
			"compat is on, but another library of the host needs %s", group->key);
	return resolve_say(
		item, VERDICT_SERVED, served, "layer %s is the first to give %s", layer, what);
}

/* A name of the group beside its file's: a link, or nothing where another group has it. */
static int add_alias(struct resolve_job *job, struct resolve_group *group,
	struct resolve_item *item, const char *served)
{
	size_t stem = soname_stem(group->key);
	bool bare = soname_same_stem(item->name, group->key) && item->name[stem + 3] == '\0';
	int result = claim(job, item->name, group);

	if (result == -EEXIST && item == group->winner)
		return resolve_say(item, VERDICT_SERVED, served,
			"served as %s: another library has the name %s", group->served, item->name);
	if (result == -EEXIST)
		return say_taken(item);
	if (result == 0 && strcmp(item->name, group->key) != 0)
		result = add_link(job, group, item->name,
			bare && strcmp(group->key, group->served) != 0 ? group->key
								       : group->served);
	if (result == -ENOMEM)
		return result;
	if (item->fate == FATE_WINNER)
		return resolve_say(item, VERDICT_ALIAS, served, "a name of the same file as %s",
			group->served);
	return resolve_say(item, VERDICT_ALIAS, served,
		"a link to %s: both have SONAME %s, and one file is served (%s)", group->served,
		group->key, reason_text(group));
}

static int name_item(struct resolve_job *job, struct resolve_group *group,
	struct resolve_item *item, const char *served)
{
	if (strcmp(item->name, group->served) == 0) {
		if (item->fate == FATE_WINNER)
			return say_served(job, group, item, served);
		if (item->fate == FATE_COPY)
			return resolve_say(item, VERDICT_LOST_ORDER, NULL,
				"another directory of layer %s has it too and comes first",
				item->layer->policy->name);
	}
	switch (item->fate) {
	case FATE_WINNER:
	case FATE_COPY:
		return add_alias(job, group, item, served);
	case FATE_VERSION:
		return resolve_say(item, VERDICT_LOST_VERSION, NULL, "%s is shown of %s: it is %s",
			group->served, group->key, reason_text(group));
	case FATE_OWN: {
		int result = claim(job, item->name, group);

		if (result == -EEXIST)
			return say_taken(item);
		if (result == 0)
			result = present(job, item, item->candidate->path);
		if (result == -EEXIST)
			return say_taken(item);
		if (result < 0)
			return result;
		return resolve_say(item, VERDICT_SERVED, item->candidate->path,
			"served under its own name beside %s, which has the same SONAME",
			group->served);
	}
	case FATE_LOST:
		break;
	}
	return 0;
}

static int name_group(struct resolve_job *job, struct resolve_group *group)
{
	char path[512];

	snprintf(path, sizeof(path), "lib/%s", group->served);
	for (size_t i = 0; i < group->n_own; i++) {
		int result = name_item(job, group, &group->items[i], path);

		if (result < 0)
			return result;
	}
	return 0;
}

/* libNAME.so, where nothing else has the name. What is kept for the host's own libraries is
 * asked for by its SONAME only. */
static int add_bare_name(struct resolve_job *job, struct resolve_group *group)
{
	size_t stem = soname_stem(group->key);
	char name[512];
	int result;

	if (stem == 0 || group->kept || !group->winner->candidate->source->elf.soname ||
		snprintf(name, sizeof(name), "%.*s.so", (int)stem, group->key) >=
			(int)sizeof(name) ||
		namemap_get(&job->names, name, NULL))
		return 0;
	if (string_list_add(&job->strings, name) < 0)
		return -ENOMEM;
	result = claim(job, job->strings.items[job->strings.count - 1], group);
	if (result == 0)
		result = add_link(job, group, name, group->key);
	return result == -EEXIST ? 0 : result;
}

/* What is owned by its path: plugins, manifests, everything outside lib/. */
static int add_path(struct resolve_job *job, struct resolve_group *group)
{
	struct resolve_item *item = &group->items[0];
	int result = present(job, item, group->key);

	group->served = group->key;
	if (result == -EEXIST || result == -ENOTDIR || result == -EINVAL) {
		group->serves = false;
		result = resolve_say(item, VERDICT_LOST_ORDER, NULL,
			result == -EINVAL ? "%s is no valid path"
					  : "a file or directory of an earlier layer is in the way "
					    "of %s",
			group->key);
	} else if (result == 0) {
		result = say_served(job, group, item, group->key);
	}
	for (size_t i = 1; i < group->n_own && result == 0; i++)
		result = resolve_say(&group->items[i], VERDICT_LOST_ORDER, NULL,
			"another directory of layer %s has it too and comes first",
			item->layer->policy->name);
	return result;
}

/* Groups whose SONAME is of a driver version that is not shown. */
static int say_versions(const struct resolve_job *job, struct resolve_group *group)
{
	for (size_t i = 0; i < group->n_own; i++) {
		const struct resolve_item *item = &group->items[i];

		if (item->fate == FATE_VERSION &&
			resolve_say(&group->items[i], VERDICT_LOST_VERSION, NULL,
				"version %s is shown of layer %s: it is %s",
				job->picks[item->layer_index].version, item->layer->policy->name,
				reason_text(group)) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int claim_key(struct resolve_job *job, struct resolve_group *group)
{
	return claim(job, group->key, group);
}

/* SONAMEs first: whatever else wants one of them as a name does not get it. Names that no layer
 * has come last. */
static int add_all(struct resolve_job *job, struct resolve_group **groups, size_t count)
{
	static const struct {
		int (*run)(struct resolve_job *job, struct resolve_group *group);
		bool library;
	} steps[] = {
		{ claim_key, true },
		{ add_served, true },
		{ name_group, true },
		{ add_path, false },
		{ add_bare_name, true },
	};

	for (size_t step = 0; step < ARRAY_SIZE(steps); step++) {
		for (size_t i = 0; i < count; i++) {
			bool library = groups[i]->items[0].name != NULL;
			int result = library == steps[step].library
					     ? steps[step].run(job, groups[i])
					     : 0;

			if (result < 0)
				return result;
		}
	}
	return 0;
}

int resolve_names(struct resolve_job *job)
{
	_cleanup_(freep) struct resolve_group **order = NULL;
	size_t count = 0;

	order = calloc(job->n_groups + 1, sizeof(*order));
	if (!order)
		return -ENOMEM;
	for (size_t i = 0; i < job->n_groups; i++) {
		if (job->groups[i].serves)
			order[count++] = &job->groups[i];
		else if (say_versions(job, &job->groups[i]) < 0)
			return -ENOMEM;
	}
	if (count > 1)
		qsort(order, count, sizeof(*order), compare_groups);
	return add_all(job, order, count);
}
