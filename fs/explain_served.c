/* SPDX-License-Identifier: MIT */
/* explain: one served file: its names, what is done to it, what it needs and where that is. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "explain_internal.h"
#include "soname.h"

/* Where a library's NEEDED is found: in its set's directory, where its RUNPATH leads there, else in
 * lib/. */
static char *needed_path(const struct generation *generation, const struct source *source,
	const char *needed, const struct view_entry **ret_entry)
{
	const struct plan *plan = plan_find(&generation->plans, source);
	const char *set = plan && plan->patch.runpath
				  ? strstr(plan->patch.runpath, "/" SETS_DIRECTORY "/")
				  : NULL;
	char *path = set ? string_format("%.*s/lib/%s",
				   (int)(strlen(SETS_DIRECTORY) + SETS_ID_SIZE), set + 1, needed)
			 : string_format("lib/%s", needed);

	*ret_entry = path ? view_find(generation->view, path) : NULL;
	return path;
}

static json_t *needed_json(
	const struct generation *generation, const struct source *source, const char *needed)
{
	const struct view_entry *entry;
	_cleanup_(freep) char *path = needed_path(generation, source, needed, &entry);
	const char *note = "found by the library's own RUNPATH";

	if (!path)
		return NULL;
	if (entry)
		return json_pack("{s:o, s:o, s:o, s:n}", "name", jsonhelp_text(needed), "path",
			jsonhelp_text(path), "layer", jsonhelp_text(entry->layer), "note");
	if (soname_classify(needed) == SONAME_NEVER)
		note = "of the C library: the program's own";
	for (size_t i = 0; i < generation->resolution->n_unresolved; i++)
		if (strcmp(generation->resolution->unresolved[i].needed, needed) == 0)
			note = "no layer provides it";
	return json_pack("{s:o, s:n, s:n, s:s}", "name", jsonhelp_text(needed), "path", "layer",
		"note", note);
}

static json_t *needed_list_json(const struct generation *generation, const struct source *source)
{
	const struct string_list *needed = &source->elf.needed;
	_cleanup_(jsonhelp_decrefp) json_t *array = json_array();

	for (size_t i = 0; i < needed->count; i++)
		if (json_array_append_new(
			    array, needed_json(generation, source, needed->items[i])) < 0)
			return NULL;
	return steal_pointer(array);
}

/* Every name in the directory that leads to the source. */
static json_t *names_json(const struct generation *generation, const struct verdict *verdict)
{
	_cleanup_(jsonhelp_decrefp) json_t *array = json_array();
	const struct view_directory *directory;
	_cleanup_(freep) char *parent = strdup(verdict->served);
	char *slash = parent ? strrchr(parent, '/') : NULL;

	if (!parent)
		return NULL;
	*(slash ? slash : parent) = '\0';
	directory = view_find_directory(generation->view, parent);
	for (size_t i = 0; directory && i < directory->count; i++)
		if (directory->entries[i].source == verdict->candidate->source &&
			json_array_append_new(array, jsonhelp_text(directory->entries[i].name)) < 0)
			return NULL;
	return steal_pointer(array);
}

/* {plan, reason, runpath}: what is done to the library; null: it is none in lib/. */
static json_t *plan_json(const struct generation *generation, const struct source *source)
{
	const struct plan *plan = plan_find(&generation->plans, source);

	if (!plan)
		return json_null();
	return json_pack("{s:s, s:o, s:o}", "kind", plan_kind_name(plan), "reason",
		jsonhelp_text(plan_reason(plan)), "runpath",
		jsonhelp_text(plan->patch.runpath ? plan->patch.runpath : source->elf.runpath));
}

json_t *explain_served_json(const struct generation *generation, const struct verdict *verdict)
{
	const struct source *source = verdict->candidate->source;

	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "path",
		jsonhelp_text(verdict->served), "layer",
		jsonhelp_text(verdict->layer->policy->name), "source",
		jsonhelp_text(source->real_path), "soname", jsonhelp_text(source->elf.soname),
		"why", jsonhelp_text(verdict->text), "names", names_json(generation, verdict),
		"needed", needed_list_json(generation, source), "plan",
		plan_json(generation, source));
}
