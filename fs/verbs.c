/* SPDX-License-Identifier: MIT */
#include "verbs.h"

#include <errno.h>
#include <string.h>

#include "explain.h"
#include "listing.h"

struct verb {
	const char *name;
	/* Returns the reply or NULL as verbs_run. */
	json_t *(*answer)(const struct verbs_call *call, const json_t *request, bool *ret_pending);
	bool changes;
};

static json_t *answer_status(
	const struct verbs_call *call, const json_t *request, bool *ret_pending)
{
	_cleanup_(generation_unrefp) struct generation *generation =
		call->callbacks->current(call->context);
	struct status_runtime runtime = { 0 };
	int r = call->callbacks->runtime(call->context, &runtime);

	(void)request;
	(void)ret_pending;
	if (r < 0)
		return status_error_json("failed", strerror(-r), NULL);
	return status_json(generation, &runtime);
}

static json_t *answer_list(const struct verbs_call *call, const json_t *request, bool *ret_pending)
{
	_cleanup_(generation_unrefp) struct generation *generation =
		call->callbacks->current(call->context);
	const char *path = jsonhelp_string(request, "path");
	bool recursive = json_is_true(json_object_get(request, "recursive"));
	json_t *list;
	int r = listing_json(generation, path ? path : "", recursive, &list);

	(void)ret_pending;
	if (r == -ENOENT)
		return status_error_json("missing", "the view has no such path", NULL);
	return r < 0 ? NULL : list;
}

static json_t *answer_facts(const struct verbs_call *call, const json_t *request, bool *ret_pending)
{
	_cleanup_(generation_unrefp) struct generation *generation =
		call->callbacks->current(call->context);

	(void)request;
	(void)ret_pending;
	return status_facts_answer(generation);
}

static json_t *answer_explain(
	const struct verbs_call *call, const json_t *request, bool *ret_pending)
{
	_cleanup_(generation_unrefp) struct generation *generation =
		call->callbacks->current(call->context);
	const char *name = jsonhelp_string(request, "name");

	(void)ret_pending;
	if (!name || !*name)
		return status_error_json("request", "explain needs a \"name\"", NULL);
	if (generation->resumed)
		return status_error_json("busy",
			"the view was taken over from an earlier process, which did not say why "
			"it is as it is; a reload that succeeds does",
			NULL);
	return explain_name(generation, name);
}

static json_t *started(int r, bool *ret_pending)
{
	if (r < 0)
		return status_error_json("busy", strerror(-r), NULL);
	*ret_pending = true;
	return NULL;
}

static json_t *answer_reload(
	const struct verbs_call *call, const json_t *request, bool *ret_pending)
{
	(void)request;
	return started(call->callbacks->reload(call->context, call->client), ret_pending);
}

static json_t *answer_compat(
	const struct verbs_call *call, const json_t *request, bool *ret_pending)
{
	const char *mode = jsonhelp_string(request, "mode");
	enum compat_mode parsed;

	if (mode && strcmp(mode, "reset") == 0)
		mode = NULL;
	else if (!mode || compat_mode_parse(mode, &parsed) < 0)
		return status_error_json(
			"request", "compat needs a \"mode\": auto, on, off or reset", NULL);
	return started(call->callbacks->compat(call->context, mode, call->client), ret_pending);
}

static const struct verb verbs[] = {
	{ "compat", answer_compat, true },
	{ "explain", answer_explain, false },
	{ "facts", answer_facts, false },
	{ "list", answer_list, false },
	{ "reload", answer_reload, true },
	{ "status", answer_status, false },
};

static const struct verb *find_verb(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(verbs); i++)
		if (strcmp(verbs[i].name, name) == 0)
			return &verbs[i];
	return NULL;
}

json_t *verbs_run(
	const struct verbs_call *call, const char *request, size_t size, bool *ret_pending)
{
	_cleanup_(jsonhelp_decrefp) json_t *object =
		json_loadb(request, size, JSON_REJECT_DUPLICATES, NULL);
	const char *name = jsonhelp_string(object, "verb");
	const struct verb *verb;

	if (!json_is_object(object))
		return status_error_json("request", "the request is not a JSON object", NULL);
	if (json_integer_value(json_object_get(object, "v")) != 1)
		return status_error_json(
			"request", "this daemon speaks version 1 of the protocol (\"v\":1)", NULL);
	verb = name ? find_verb(name) : NULL;
	if (!verb)
		return status_error_json("request", "unknown verb", NULL);
	if (verb->changes && !call->may_change)
		return status_error_json(
			"denied", "only root and the owner of the mount may change it", NULL);
	return verb->answer(call, object, ret_pending);
}
