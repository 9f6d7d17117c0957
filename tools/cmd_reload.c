/* SPDX-License-Identifier: MIT */
#include "client.h"
#include "report.h"

int cmd_reload(const struct tool *tool, int argc, char **argv)
{
	_cleanup_(jsonhelp_decrefp) json_t *reply = NULL;
	int code = client_ask(tool, json_pack("{s:s}", "verb", "reload"), true, &reply);
	const json_t *problems;
	bool changed;

	(void)argc;
	(void)argv;
	if (code != TOOL_DONE)
		return code;
	problems = json_object_get(reply, "problems");
	if (tool->strict)
		code = report_exit(tool, problems);
	if (tool->json)
		return tool_print_json(reply, code);
	changed = json_is_true(json_object_get(reply, "changed"));
	printf("generation %.8s, %s\n", report_generation(reply), changed ? "new" : "unchanged");
	report_problems(tool, problems);
	return code;
}
