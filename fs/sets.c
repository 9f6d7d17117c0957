/* SPDX-License-Identifier: MIT */
#include "sets.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "soname.h"

bool sets_has(const struct decision *decision, const struct view_entry *entry)
{
	const struct source *source = entry->source;
	const char *key;

	if (!source || !source->is_elf || (entry->kind != VIEW_FILE && entry->kind != VIEW_LINK))
		return false;
	if (decision->on)
		return string_equal(entry->layer, decision->layer->policy->name);
	key = source->elf.soname ? source->elf.soname : entry->name;
	return soname_is_cuda_set(key) || soname_is_compat_extra(key);
}

bool sets_pins(const struct source *source)
{
	const char *soname = source->elf.soname;

	return soname && soname_is_cuda_set(soname) && !version_is_driver(soname_version(soname));
}

/* lib/ of a view that may not be finished. */
static struct view_directory *find_lib(struct view *view)
{
	for (size_t i = 0; i < view->root.count; i++) {
		struct view_entry *entry = &view->root.entries[i];

		if (entry->kind == VIEW_DIRECTORY && strcmp(entry->name, "lib") == 0)
			return entry->directory;
	}
	return NULL;
}

static int compare_identities(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct file_identity));
}

int sets_identify(struct view *view, const struct decision *decision, char ret_id[SETS_ID_SIZE])
{
	const struct view_directory *lib = find_lib(view);
	_cleanup_(freep) struct file_identity *files =
		calloc(lib ? lib->count + 1 : 1, sizeof(*files));
	uint64_t hash = FNV_START;
	size_t count = 0;

	if (!files)
		return -ENOMEM;
	*ret_id = '\0';
	for (size_t i = 0; lib && i < lib->count; i++)
		if (sets_has(decision, &lib->entries[i]))
			files[count++] = lib->entries[i].source->identity;
	if (count == 0)
		return 0;
	qsort(files, count, sizeof(*files), compare_identities);
	for (size_t i = 0; i < count; i++)
		if (i == 0 || compare_identities(&files[i - 1], &files[i]) != 0)
			hash = fnv1a(hash, &files[i], sizeof(files[i]));
	snprintf(ret_id, SETS_ID_SIZE, "%08x", (unsigned)(hash ^ hash >> 32));
	return 1;
}

static struct cuda_set *set_unref(struct cuda_set *set)
{
	if (!set || atomic_fetch_sub_explicit(&set->references, 1, memory_order_acq_rel) != 1)
		return NULL;
	for (size_t i = 0; i < set->count; i++) {
		free(set->entries[i].name);
		free(set->entries[i].target);
		free(set->entries[i].layer);
		source_unref(set->entries[i].source);
		overlay_unref(set->entries[i].overlay);
	}
	free(set->entries);
	free(set);
	return NULL;
}

static int take_entry(const struct view_entry *from, struct set_entry *to)
{
	*to = (struct set_entry){
		.kind = from->kind,
		.name = strdup(from->name),
		.target = from->target ? strdup(from->target) : NULL,
		.layer = strdup(from->layer ? from->layer : ""),
		.source = source_ref(from->source),
		.overlay = from->overlay ? overlay_ref(from->overlay) : NULL,
	};
	return to->name && to->layer && (to->target || !from->target) ? 0 : -ENOMEM;
}

/* The active set as lib/ has it. *ret_set is NULL where there is none. */
static int take_active(
	struct view *view, const struct decision *decision, struct cuda_set **ret_set)
{
	const struct view_directory *lib = find_lib(view);
	char id[SETS_ID_SIZE];
	struct cuda_set *set;
	int r = sets_identify(view, decision, id);

	*ret_set = NULL;
	if (r <= 0)
		return r;
	set = calloc(1, sizeof(*set));
	if (!set)
		return -ENOMEM;
	atomic_init(&set->references, 1);
	memcpy(set->id, id, sizeof(id));
	set->entries = calloc(lib->count, sizeof(*set->entries));
	r = set->entries ? 0 : -ENOMEM;
	for (size_t i = 0; r == 0 && i < lib->count; i++)
		if (sets_has(decision, &lib->entries[i]))
			r = take_entry(&lib->entries[i], &set->entries[set->count++]);
	if (r < 0) {
		set_unref(set);
		return r;
	}
	*ret_set = set;
	return 0;
}

int sets_collect(struct view *view, const struct decision *decision, const struct set_list *before,
	const struct sets_usage *usage, struct set_list *ret_sets)
{
	struct set_list sets = { 0 };
	struct cuda_set *active;
	size_t n_earlier = 0;
	int r = take_active(view, decision, &active);

	if (r < 0)
		return r;
	if (active)
		sets.items[sets.count++] = active;
	for (size_t i = 0; before && i < before->count; i++) {
		struct cuda_set *set = before->items[i];

		if (active && strcmp(set->id, active->id) == 0)
			continue;
		if (n_earlier == SETS_EARLIER &&
			!(usage->is_used && usage->is_used(usage->context, set)))
			continue;
		n_earlier += n_earlier < SETS_EARLIER;
		if (sets.count == SETS_MAX) {
			sets.n_dropped++;
			continue;
		}
		atomic_fetch_add_explicit(&set->references, 1, memory_order_relaxed);
		sets.items[sets.count++] = set;
	}
	*ret_sets = sets;
	return 0;
}

static int add_members(struct view *view, const struct cuda_set *set)
{
	for (size_t i = 0; i < set->count; i++) {
		const struct set_entry *entry = &set->entries[i];
		_cleanup_(freep) char *path =
			string_format(SETS_DIRECTORY "/%s/lib/%s", set->id, entry->name);
		int r;

		if (!path)
			return -ENOMEM;
		r = entry->kind == VIEW_LINK
			    ? view_add_link(view, path, entry->target, entry->source, entry->layer)
			    : view_add_patched(
				      view, path, entry->source, entry->overlay, entry->layer);
		if (r < 0)
			return r;
	}
	return 0;
}

/* What lib/ has beside the active set, below `into`. A name that the set has is the set's. The
 * directory's entries do not move: what is added is elsewhere. */
static int add_rest(struct view *view, const struct decision *decision,
	const struct view_directory *from, const char *into, bool top)
{
	for (size_t i = 0; i < from->count; i++) {
		const struct view_entry *entry = &from->entries[i];
		_cleanup_(freep) char *path = string_format("%s/%s", into, entry->name);
		int r = 0;

		if (!path)
			return -ENOMEM;
		if (entry->kind == VIEW_DIRECTORY)
			r = add_rest(view, decision, entry->directory, path, false);
		else if (top && sets_has(decision, entry))
			continue;
		else if (entry->kind == VIEW_LINK)
			r = view_add_link(view, path, entry->target, entry->source, entry->layer);
		else if (entry->kind == VIEW_FILE)
			r = view_add_patched(
				view, path, entry->source, entry->overlay, entry->layer);
		if (r < 0 && r != -EEXIST)
			return r;
	}
	return 0;
}

static int add_set(struct view *view, const struct decision *decision, const struct cuda_set *set)
{
	_cleanup_(freep) char *into = string_format(SETS_DIRECTORY "/%s/lib", set->id);
	_cleanup_(freep) char *up = string_format(SETS_DIRECTORY "/%s/.gldriverfs", set->id);
	const struct view_directory *lib;
	int r;

	if (!into || !up)
		return -ENOMEM;
	r = view_add_link(view, up, "../..", NULL, NULL);
	if (r == 0)
		r = add_members(view, set);
	lib = find_lib(view);
	if (r == 0 && lib)
		r = add_rest(view, decision, lib, into, true);
	return r;
}

int sets_add(struct view *view, const struct decision *decision, const struct set_list *sets)
{
	size_t n_entries = view->n_entries;
	int r = 0;

	for (size_t i = 0; r == 0 && i < sets->count; i++)
		r = add_set(view, decision, sets->items[i]);
	view->n_entries = n_entries;
	return r;
}

void sets_clear(struct set_list *sets)
{
	for (size_t i = 0; i < sets->count; i++)
		set_unref(sets->items[i]);
	*sets = (struct set_list){ 0 };
}
