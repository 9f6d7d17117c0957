/* SPDX-License-Identifier: MIT */
#include "status.h"

#include <stdlib.h>
#include <string.h>

#include "findings.h"

/* Appends and takes item. Returns false, with the array gone, where item or memory is missing. */
static bool append(json_t **array, json_t *item)
{
	if (*array && json_array_append_new(*array, item) == 0)
		return true;
	json_decref(*array);
	*array = NULL;
	return false;
}

static json_t *place_json(const char *file, unsigned line)
{
	_cleanup_(freep) char *place = NULL;

	if (!file)
		return json_null();
	place = line ? string_format("%s:%u", file, line) : strdup(file);
	return place ? jsonhelp_text(place) : NULL;
}

static json_t *finding_json(const struct finding *finding)
{
	const struct finding_kind *kind = finding->kind;
	json_t *object = json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:o}", "level",
		diag_level_name(finding->level), "id", jsonhelp_text(kind ? kind->id : NULL),
		"file", jsonhelp_text(finding->file), "line",
		finding->line ? json_integer(finding->line) : json_null(), "text",
		jsonhelp_text(finding->text), "meaning", jsonhelp_text(kind ? kind->meaning : NULL),
		"remedy", jsonhelp_text(kind ? kind->remedy : NULL));

	if (!finding->needed || !object)
		return object;
	if (json_object_set_new(object, "needed", jsonhelp_text(finding->needed)) == 0 &&
		json_object_set_new(object, "by", jsonhelp_text(finding->by)) == 0)
		return object;
	json_decref(object);
	return NULL;
}

static bool append_findings(json_t **array, const struct findings *findings)
{
	for (size_t i = 0; i < findings->count; i++)
		if (!append(array, finding_json(&findings->items[i])))
			return false;
	return true;
}

static bool append_diags(json_t **array, const struct diag_list *diags)
{
	struct findings findings;
	bool done;

	if (findings_of_diags(diags, &findings) < 0)
		return false;
	done = append_findings(array, &findings);
	findings_clear(&findings);
	return done;
}

static json_t *diags_json(const struct diag_list *diags)
{
	_cleanup_(jsonhelp_decrefp) json_t *array = json_array();

	return append_diags(&array, diags) ? steal_pointer(array) : NULL;
}

json_t *status_facts_json(const struct facts *facts)
{
	json_t *array = json_array();

	for (size_t i = 0; i < FACT_COUNT; i++)
		if (!append(&array, json_pack("{s:s, s:o, s:o}", "name", fact_name(i), "value",
					    jsonhelp_text(facts->items[i].value), "source",
					    jsonhelp_text(facts->items[i].source))))
			return NULL;
	return array;
}

/* What an earlier process wrote of a generation that this one took over. */
static json_t *resumed_json(const struct generation *generation)
{
	return json_loads(generation->status, 0, NULL);
}

static json_t *resumed_part(const struct generation *generation, const char *key)
{
	_cleanup_(jsonhelp_decrefp) json_t *status = resumed_json(generation);

	return json_incref(json_object_get(status, key));
}

json_t *status_compat_json(const struct generation *generation)
{
	const struct decision *decision = &generation->decision;
	const struct policy *policy = generation->policy;
	const struct layer *layer = decision->layer;
	const char *directory =
		layer && decision->set < layer->n_sets ? layer->sets[decision->set].path : NULL;
	const struct policy_value *from;

	if (generation->resumed)
		return resumed_part(generation, "compat");
	from = &policy->compat_mode_from;
	return json_pack("{s:b, s:s, s:o, s:o, s:o, s:o, s:o, s:o}", "on", decision->on, "mode",
		compat_mode_name(policy->compat_mode), "mode_from",
		place_json(from->file, from->line), "layer",
		jsonhelp_text(layer ? layer->policy->name : NULL), "directory",
		jsonhelp_text(directory), "rule", jsonhelp_text(decision->rule), "reason",
		jsonhelp_text(decision->reason), "facts", status_facts_json(&decision->facts));
}

static size_t count_served(const struct generation *generation, const struct layer *layer)
{
	const struct resolution *resolution = generation->resolution;
	size_t count = 0;

	for (size_t i = 0; i < resolution->n_verdicts; i++)
		count += resolution->verdicts[i].layer == layer &&
			 resolution->verdicts[i].code == VERDICT_SERVED;
	return count;
}

static json_t *layer_json(const struct generation *generation, const struct layer *layer)
{
	json_t *directories = json_array();

	for (size_t i = 0; i < layer->n_sets; i++)
		if (!append(&directories,
			    json_pack("{s:o, s:b, s:o}", "path", jsonhelp_text(layer->sets[i].path),
				    "present", layer->sets[i].present, "from",
				    place_json(layer->sets[i].file, layer->sets[i].line))))
			return NULL;
	return json_pack("{s:o, s:s, s:i, s:o, s:I}", "name", jsonhelp_text(layer->policy->name),
		"role", layer_role_name(layer->policy->role), "order", layer->policy->order,
		"directories", directories, "served", (json_int_t)count_served(generation, layer));
}

static json_t *layers_json(const struct generation *generation)
{
	json_t *array = json_array();

	for (size_t i = 0; i < generation->n_layers; i++)
		if (!append(&array, layer_json(generation, generation->layers[i])))
			return NULL;
	return array;
}

static json_t *rejected_json(const struct generation *generation)
{
	json_t *array = json_array();

	for (size_t i = 0; i < generation->n_layers; i++) {
		const struct layer *layer = generation->layers[i];

		for (size_t j = 0; j < layer->n_rejections; j++)
			if (!append(&array,
				    json_pack("{s:o, s:o, s:o}", "path",
					    jsonhelp_text(layer->rejections[j].path), "reason",
					    jsonhelp_text(layer->rejections[j].text), "layer",
					    jsonhelp_text(layer->policy->name))))
				return NULL;
	}
	return array;
}

static json_t *problems_json(const struct generation *generation, const struct diag_list *failed)
{
	_cleanup_(jsonhelp_decrefp) json_t *array = json_array();
	_cleanup_(jsonhelp_decrefp) json_t *earlier =
		generation->resumed ? resumed_part(generation, "problems") : NULL;

	if (failed && !append_diags(&array, failed))
		return NULL;
	if (earlier && json_array_extend(array, earlier) < 0)
		return NULL;
	return append_findings(&array, generation->findings) ? steal_pointer(array) : NULL;
}

static json_t *files_json(const struct string_list *files)
{
	json_t *array = json_array();

	for (size_t i = 0; i < files->count; i++)
		if (!append(&array, jsonhelp_text(files->items[i])))
			return NULL;
	return array;
}

/* What only a running daemon has. Returns 0, or -1 without memory. */
static int add_runtime(json_t *status, const struct status_runtime *runtime)
{
	json_t *requests = json_object();

	for (size_t i = 0; i < runtime->n_requests; i++)
		if (json_object_set_new(requests, runtime->requests[i].name,
			    json_integer((json_int_t)runtime->requests[i].value)) < 0) {
			json_decref(requests);
			return -1;
		}
	if (json_object_set_new(status, "requests", requests) < 0 ||
		json_object_set_new(status, "pid", json_integer(runtime->pid)) < 0 ||
		json_object_set_new(status, "keeper_pid",
			runtime->keeper ? json_integer(runtime->keeper) : json_null()) < 0 ||
		json_object_set_new(status, "owner", json_integer(runtime->owner)) < 0 ||
		json_object_set_new(status, "config", jsonhelp_text(runtime->config)) < 0 ||
		json_object_set_new(status, "override", jsonhelp_text(runtime->override)) < 0 ||
		json_object_set_new(status, "watched", json_integer((json_int_t)runtime->watched)) <
			0 ||
		json_object_set_new(
			status, "unpinned", json_integer((json_int_t)runtime->unpinned)) < 0)
		return -1;
	return 0;
}

static json_t *made_json(const struct generation *generation)
{
	return json_pack("{s:s, s:o, s:o, s:s, s:I, s:s, s:o, s:o, s:o, s:o}", "version",
		GLDRIVERFS_VERSION, "name", jsonhelp_text(generation->name), "mountpoint",
		jsonhelp_text(generation->mountpoint), "generation", generation->view->id,
		"entries", (json_int_t)generation->view->n_entries, "present",
		policy_present_name(generation->policy->present), "files",
		files_json(&generation->files), "compat", status_compat_json(generation), "layers",
		layers_json(generation), "rejected", rejected_json(generation));
}

json_t *status_json(const struct generation *generation, const struct status_runtime *runtime)
{
	_cleanup_(jsonhelp_decrefp) json_t *status =
		generation->resumed ? resumed_json(generation) : made_json(generation);

	if (!status ||
		json_object_set_new(status, "problems",
			problems_json(generation, runtime ? runtime->failed : NULL)) < 0 ||
		(runtime && add_runtime(status, runtime) < 0))
		return NULL;
	return steal_pointer(status);
}

char *status_text(const struct generation *generation)
{
	_cleanup_(jsonhelp_decrefp) json_t *status = status_json(generation, NULL);
	_cleanup_(freep) char *text = NULL;

	if (!status)
		return NULL;
	text = json_dumps(status, JSON_INDENT(2));
	return text ? string_format("%s\n", text) : NULL;
}

json_t *status_change_json(const struct generation *generation, bool changed)
{
	return json_pack("{s:b, s:b, s:s, s:o, s:o}", "ok", 1, "changed", changed, "generation",
		generation->view->id, "compat", status_compat_json(generation), "problems",
		problems_json(generation, NULL));
}

json_t *status_error_json(const char *code, const char *text, const struct diag_list *diags)
{
	return json_pack("{s:o, s:s, s:o}", "error", jsonhelp_text(text), "code", code, "problems",
		diags ? diags_json(diags) : json_array());
}

json_t *status_facts_answer(const struct generation *generation)
{
	_cleanup_(jsonhelp_decrefp) json_t *compat =
		generation->resumed ? resumed_part(generation, "compat") : NULL;

	if (compat)
		return json_pack("{s:o, s:o, s:O}", "name", jsonhelp_text(generation->name),
			"mountpoint", jsonhelp_text(generation->mountpoint), "facts",
			json_object_get(compat, "facts"));
	return json_pack("{s:o, s:o, s:o}", "name", jsonhelp_text(generation->name), "mountpoint",
		jsonhelp_text(generation->mountpoint), "facts",
		status_facts_json(&generation->decision.facts));
}
