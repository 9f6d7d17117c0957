/* SPDX-License-Identifier: MIT */
#include "listing.h"
#include "offline.h"
#include "report.h"
#include "status.h"

static int print_success(const struct tool *tool, const struct generation *generation)
{
	_cleanup_(jsonhelp_decrefp) json_t *status = status_json(generation, NULL);
	_cleanup_(jsonhelp_decrefp) json_t *list = NULL;
	const json_t *problems = json_object_get(status, "problems");
	int code = report_exit(tool, problems);

	if (!status || listing_json(generation, "", true, &list) < 0 ||
		json_object_set(status, "view", json_object_get(list, "entries")) < 0)
		return tool_fail(TOOL_FAILED, "out of memory");
	if (tool->json)
		return tool_print_json(status, code);
	report_decision(tool, json_object_get(status, "compat"));
	report_facts(json_object_get(json_object_get(status, "compat"), "facts"), 2, false);
	putchar('\n');
	report_layers(json_object_get(status, "layers"));
	putchar('\n');
	report_rejected(json_object_get(status, "rejected"));
	report_problems(tool, problems, true);
	printf("generation %.8s, %zu entries\n", report_generation(status),
		generation->view->n_entries);
	return code;
}

int cmd_check(const struct tool *tool, int argc, char **argv)
{
	_cleanup_(generation_unrefp) struct generation *generation = NULL;
	_cleanup_(diag_clear) struct diag_list diags = { 0 };
	int code = offline_run(tool, argc > 1 ? argv[1] : NULL, &generation, &diags);

	if (code == TOOL_NO)
		return report_failure(tool, &diags);
	return code == TOOL_DONE ? print_success(tool, generation) : code;
}
