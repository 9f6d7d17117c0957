/* SPDX-License-Identifier: MIT */
#include "explain.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "explain_internal.h"
#include "listing.h"
#include "soname.h"
#include "status.h"

/* ---- what is asked for ---- */

struct query {
	const struct generation *generation;
	const char *name;           /* as given */
	const char *path;           /* name as a path in the view; "": the root */
	bool plain;                 /* without '/' : a file name or a SONAME */
	struct string_list sonames; /* of what the name leads to: all their candidates are told */
};

static bool matches_path(const struct query *query, const char *path)
{
	return strcmp(path, query->path) == 0 ||
	       (query->plain && strcmp(path_base(path), query->name) == 0);
}

static bool matches_source(const struct query *query, const struct source *source)
{
	const char *soname = source->elf.soname;

	if (strcmp(source->path, query->name) == 0 || strcmp(source->real_path, query->name) == 0)
		return true;
	if (query->plain && strcmp(path_base(source->path), query->name) == 0)
		return true;
	return soname && ((query->plain && strcmp(soname, query->name) == 0) ||
				 string_list_has(&query->sonames, soname));
}

static int add_soname(struct query *query, const struct source *source)
{
	const char *soname = source ? source->elf.soname : NULL;

	if (!soname || string_list_has(&query->sonames, soname))
		return 0;
	return string_list_add(&query->sonames, soname);
}

static int collect_from_view(struct query *query, const struct view_directory *directory)
{
	for (size_t i = 0; i < directory->count; i++) {
		const struct view_entry *entry = &directory->entries[i];
		_cleanup_(freep) char *path = NULL;

		if (entry->kind == VIEW_DIRECTORY) {
			int r = collect_from_view(query, entry->directory);

			if (r < 0)
				return r;
			continue;
		}
		path = string_format(
			"%s%s%s", directory->path, *directory->path ? "/" : "", entry->name);
		if (!path)
			return -ENOMEM;
		if (matches_path(query, path) && add_soname(query, entry->source) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* The SONAMEs that the name leads to, from the view and from the candidates. */
static int collect(struct query *query)
{
	const struct resolution *resolution = query->generation->resolution;
	int r = collect_from_view(query, &query->generation->view->root);

	for (size_t i = 0; r == 0 && i < resolution->n_verdicts; i++) {
		const struct candidate *candidate = resolution->verdicts[i].candidate;

		if (matches_path(query, candidate->path) ||
			matches_source(query, candidate->source))
			r = add_soname(query, candidate->source);
	}
	return r;
}

/* ---- what is served ---- */

static json_t *candidate_json(const struct verdict *verdict)
{
	return json_pack("{s:o, s:o, s:o, s:s, s:o, s:o}", "path",
		jsonhelp_text(verdict->candidate->path), "layer",
		jsonhelp_text(verdict->layer->policy->name), "source",
		jsonhelp_text(verdict->candidate->source->real_path), "verdict",
		verdict_name(verdict->code), "served", jsonhelp_text(verdict->served), "why",
		jsonhelp_text(verdict->text));
}

/* One host file under several names loses once. */
static bool is_told(const json_t *lost, const struct verdict *verdict)
{
	const json_t *item;
	size_t i;

	json_array_foreach(lost, i, item)
	{
		if (string_equal(jsonhelp_string(item, "source"),
			    verdict->candidate->source->real_path) &&
			string_equal(jsonhelp_string(item, "layer"), verdict->layer->policy->name))
			return true;
	}
	return false;
}

/* Sorts the verdicts that match into the answer's lists. Returns 0 or -ENOMEM. */
static int add_verdicts(const struct query *query, json_t *served, json_t *aliases, json_t *lost)
{
	const struct resolution *resolution = query->generation->resolution;

	for (size_t i = 0; i < resolution->n_verdicts; i++) {
		const struct verdict *verdict = &resolution->verdicts[i];
		json_t *array = lost, *item;

		if (!matches_path(query, verdict->candidate->path) &&
			!matches_source(query, verdict->candidate->source))
			continue;
		if (verdict->code == VERDICT_SERVED) {
			array = served;
			item = explain_served_json(query->generation, verdict);
		} else {
			if (verdict->code == VERDICT_ALIAS)
				array = aliases;
			else if (is_told(lost, verdict))
				continue;
			item = candidate_json(verdict);
		}
		if (json_array_append_new(array, item) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int add_rejections(const struct query *query, json_t *rejected)
{
	for (size_t i = 0; i < query->generation->n_layers; i++) {
		const struct layer *layer = query->generation->layers[i];

		for (size_t j = 0; j < layer->n_rejections; j++) {
			const struct rejection *rejection = &layer->rejections[j];

			/* Its SONAME is not known: libcuda.so.1 may be libcuda.so.535.1's. */
			if (strcmp(rejection->path, query->name) != 0 &&
				strcmp(path_base(rejection->path), path_base(query->name)) != 0 &&
				!soname_same_stem(
					path_base(rejection->path), path_base(query->name)))
				continue;
			if (json_array_append_new(
				    rejected, json_pack("{s:o, s:o, s:o}", "path",
						      jsonhelp_text(rejection->path), "reason",
						      jsonhelp_text(rejection->text), "layer",
						      jsonhelp_text(layer->policy->name))) < 0)
				return -ENOMEM;
		}
	}
	return 0;
}

/* ---- in one sentence ---- */

static const char *layer_that_excludes(const struct generation *generation, const char *name)
{
	const char *why;

	for (size_t i = 0; i < generation->policy->n_layers; i++) {
		const struct policy_layer *layer = &generation->policy->layers[i];

		if (soname_classify(name) == SONAME_DRIVER && !layer_wants(layer, name, &why))
			return layer->name;
	}
	return NULL;
}

/* What is to be said where no layer has the name. */
static char *absent_summary(const struct generation *generation, const char *name)
{
	const char *base = path_base(name);
	const char *layer;

	switch (soname_classify(base)) {
	case SONAME_NEVER:
		return string_format("%s is of the C library: it is never served, even if asked, "
				     "because every program must have its own",
			base);
	case SONAME_ASK:
		return string_format("%s is served only when asked: write 'include = %s' in the "
				     "layer that has it",
			base, base);
	case SONAME_OTHER:
		return string_format("nothing known of %s: it is no driver library that gldriverfs "
				     "knows; if a layer has it, write 'include = %s' there",
			base, base);
	case SONAME_DRIVER:
		break;
	}
	layer = layer_that_excludes(generation, base);
	if (layer)
		return string_format("%s is not served: an 'exclude' of layer %s hides it from "
				     "there, and no other layer has it",
			base, layer);
	return string_format(
		"nothing known of %s: no layer has a file of this name or SONAME", base);
}

/* Whether the item of an answer's list is of the very name that was asked for, not only of its
 * SONAME. */
static bool is_of_name(const struct query *query, const json_t *item)
{
	const char *source = jsonhelp_string(item, "source");
	const json_t *name;
	size_t i;

	json_array_foreach(json_object_get(item, "names"), i,
		name) if (query->plain &&
			  string_equal(json_string_value(name), query->name)) return true;
	return string_equal(source, query->name) ||
	       matches_path(query, jsonhelp_string(item, "path")) ||
	       (query->plain && (string_equal(jsonhelp_string(item, "soname"), query->name) ||
					string_equal(path_base(source), query->name)));
}

static const json_t *find_of_name(const struct query *query, const json_t *array)
{
	const json_t *item;
	size_t i;

	json_array_foreach(array, i, item) if (is_of_name(query, item)) return item;
	return NULL;
}

static bool is_found(const struct query *query, const json_t *served)
{
	return find_of_name(query, served) ||
	       (json_array_size(served) > 0 && view_find(query->generation->view, query->path));
}

static char *make_summary(
	const struct query *query, const json_t *served, const json_t *lost, const json_t *rejected)
{
	const json_t *first = json_array_get(served, 0);
	const struct view_entry *entry = view_find(query->generation->view, query->path);

	if (!*query->path)
		return string_format("%s is the driver directory itself", query->name);
	if (first && is_found(query, served))
		return string_format("%s comes from layer %s: %s", query->name,
			jsonhelp_string(first, "layer"), jsonhelp_string(first, "source"));
	if (entry && entry->kind == VIEW_DIRECTORY)
		return string_format("%s is a directory of the view", query->path);
	if (entry)
		return string_format("%s is made by gldriverfs itself", query->path);
	first = find_of_name(query, lost);
	if (!first)
		first = json_array_get(lost, 0);
	if (first)
		return string_format("%s is not served: %s", query->name,
			jsonhelp_string(first, "why") ? jsonhelp_string(first, "why") : "");
	first = json_array_get(rejected, 0);
	if (first)
		return string_format("%s is not served: %s", query->name,
			jsonhelp_string(first, "reason") ? jsonhelp_string(first, "reason") : "");
	return absent_summary(query->generation, query->name);
}

/* Why compat is on or off, where that decides who gives the name; JSON null elsewhere. */
static json_t *compat_json(const struct query *query)
{
	const char *base = path_base(query->name);
	bool decides = soname_is_cuda_set(base);

	for (size_t i = 0; i < query->sonames.count && !decides; i++)
		decides = soname_is_cuda_set(query->sonames.items[i]);
	return decides ? status_compat_json(query->generation) : json_null();
}

json_t *explain_name(const struct generation *generation, const char *name)
{
	_cleanup_(freep) char *path = listing_path(generation, name);
	struct query query = { .generation = generation,
		.name = name,
		.path = path,
		.plain = strchr(name, '/') == NULL };
	_cleanup_(jsonhelp_decrefp) json_t *served = json_array();
	_cleanup_(jsonhelp_decrefp) json_t *aliases = json_array();
	_cleanup_(jsonhelp_decrefp) json_t *lost = json_array();
	_cleanup_(jsonhelp_decrefp) json_t *rejected = json_array();
	_cleanup_(jsonhelp_decrefp) json_t *compat = NULL;
	_cleanup_(freep) char *summary = NULL;
	int r = path ? collect(&query) : -ENOMEM;

	if (r == 0)
		r = add_verdicts(&query, served, aliases, lost);
	if (r == 0)
		r = add_rejections(&query, rejected);
	compat = r == 0 ? compat_json(&query) : NULL;
	string_list_clear(&query.sonames);
	if (!compat)
		return NULL;
	summary = make_summary(&query, served, lost, rejected);
	if (!summary)
		return NULL;
	return json_pack("{s:o, s:b, s:o, s:O, s:O, s:O, s:O, s:O}", "name", jsonhelp_text(name),
		"found", is_found(&query, served), "summary", jsonhelp_text(summary), "served",
		served, "aliases", aliases, "lost", lost, "rejected", rejected, "compat", compat);
}
