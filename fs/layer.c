/* SPDX-License-Identifier: MIT */
/* layer: the lists of a scanned layer, the references of sources, and which names are wanted. */
#include "layer.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "soname.h"

struct source *source_ref(struct source *source)
{
	atomic_fetch_add_explicit(&source->references, 1, memory_order_relaxed);
	return source;
}

struct source *source_unref(struct source *source)
{
	if (!source || atomic_fetch_sub_explicit(&source->references, 1, memory_order_acq_rel) != 1)
		return NULL;
	if (source->release)
		source->release(source);
	elf_facts_clear(&source->elf);
	free(source->note);
	free(source->text);
	free(source->path);
	free(source->real_path);
	free(source);
	return NULL;
}

void source_unrefp(struct source **source)
{
	*source = source_unref(*source);
}

int layer_add_set(
	struct layer *layer, const char *path, const char *file, unsigned line, bool present)
{
	struct layer_set set = { .line = line, .present = present };

	if (array_grow(&layer->sets, &layer->sets_capacity, layer->n_sets, sizeof(set)) < 0)
		return -ENOMEM;
	set.path = strdup(path);
	set.file = file ? strdup(file) : NULL;
	if (!set.path || (file && !set.file)) {
		free(set.path);
		free(set.file);
		return -ENOMEM;
	}
	layer->sets[layer->n_sets++] = set;
	return 0;
}

int layer_add_candidate(struct layer *layer, const char *path, struct source *source,
	const char *link, uint32_t set, bool curated)
{
	struct candidate candidate = { .set = set, .curated = curated };

	if (array_grow(&layer->candidates, &layer->candidates_capacity, layer->n_candidates,
		    sizeof(candidate)) < 0)
		return -ENOMEM;
	candidate.path = strdup(path);
	candidate.link = link ? strdup(link) : NULL;
	if (!candidate.path || (link && !candidate.link)) {
		free(candidate.path);
		free(candidate.link);
		return -ENOMEM;
	}
	candidate.source = source_ref(source);
	layer->candidates[layer->n_candidates++] = candidate;
	return 0;
}

int layer_add_rejection(struct layer *layer, const char *path, const char *format, ...)
{
	struct rejection rejection = { 0 };
	va_list arguments;

	if (array_grow(&layer->rejections, &layer->rejections_capacity, layer->n_rejections,
		    sizeof(rejection)) < 0)
		return -ENOMEM;
	va_start(arguments, format);
	if (vasprintf(&rejection.text, format, arguments) < 0)
		rejection.text = NULL;
	va_end(arguments);
	rejection.path = strdup(path);
	if (!rejection.path || !rejection.text) {
		free(rejection.path);
		free(rejection.text);
		return -ENOMEM;
	}
	layer->rejections[layer->n_rejections++] = rejection;
	return 0;
}

static int compare_candidates(const void *a, const void *b)
{
	const struct candidate *left = a, *right = b;

	if (left->set != right->set)
		return left->set < right->set ? -1 : 1;
	return strcmp(left->path, right->path);
}

void layer_set_fault(struct layer *layer, enum link_fault fault)
{
	if (layer->n_rejections > 0)
		layer->rejections[layer->n_rejections - 1].fault = fault;
}

static int compare_rejections(const void *a, const void *b)
{
	const struct rejection *left = a, *right = b;
	int order = strcmp(left->path, right->path);

	return order ? order : strcmp(left->text, right->text);
}

void layer_sort(struct layer *layer)
{
	if (layer->n_candidates)
		qsort(layer->candidates, layer->n_candidates, sizeof(*layer->candidates),
			compare_candidates);
	if (layer->n_rejections)
		qsort(layer->rejections, layer->n_rejections, sizeof(*layer->rejections),
			compare_rejections);
}

struct layer *layer_free(struct layer *layer)
{
	if (!layer)
		return NULL;
	for (size_t i = 0; i < layer->n_sets; i++) {
		free(layer->sets[i].path);
		free(layer->sets[i].file);
	}
	for (size_t i = 0; i < layer->n_candidates; i++) {
		free(layer->candidates[i].path);
		free(layer->candidates[i].link);
		source_unref(layer->candidates[i].source);
	}
	for (size_t i = 0; i < layer->n_rejections; i++) {
		free(layer->rejections[i].path);
		free(layer->rejections[i].text);
	}
	free(layer->sets);
	free(layer->candidates);
	free(layer->rejections);
	free(layer);
	return NULL;
}

static bool matches(const struct policy_list *patterns, const char *name)
{
	for (size_t i = 0; i < patterns->count; i++)
		if (fnmatch(patterns->items[i].text, name, 0) == 0)
			return true;
	return false;
}

/* Named in full: no wildcard brought it in. */
static bool names(const struct policy_list *patterns, const char *name)
{
	for (size_t i = 0; i < patterns->count; i++)
		if (strcmp(patterns->items[i].text, name) == 0 &&
			!strpbrk(patterns->items[i].text, "*?["))
			return true;
	return false;
}

static bool refuse(const char *why, const char **ret_why)
{
	*ret_why = why;
	return false;
}

static const char never[] = "it belongs to the C library, which is never served";
static const char excluded[] = "the policy excludes it";

bool layer_wants(const struct policy_layer *policy, const char *name, const char **ret_why)
{
	enum soname_class class = soname_classify(name);

	if (class == SONAME_NEVER)
		return refuse(never, ret_why);
	if (matches(&policy->excludes, name))
		return refuse(excluded, ret_why);
	if (class == SONAME_ASK && !names(&policy->includes, name))
		return refuse(
			"it is served only where an include names it without a wildcard", ret_why);
	if (class == SONAME_OTHER && !matches(&policy->includes, name))
		return refuse("it is not a driver library and no include names it", ret_why);
	return true;
}

bool layer_tree_wants(const struct policy_layer *policy, const char *name, const char **ret_why)
{
	if (soname_classify(name) == SONAME_NEVER)
		return refuse(never, ret_why);
	if (matches(&policy->excludes, name))
		return refuse(excluded, ret_why);
	return true;
}

bool source_matches(const struct source *source, const struct stat *st)
{
	const struct file_identity *identity = &source->identity;

	return identity->dev == st->st_dev && identity->ino == st->st_ino &&
	       identity->size == (uint64_t)st->st_size &&
	       identity->mtime_sec == st->st_mtim.tv_sec &&
	       identity->mtime_nsec == (uint32_t)st->st_mtim.tv_nsec;
}
