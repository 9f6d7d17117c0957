/* SPDX-License-Identifier: MIT */
#include "client.h"
#include "offline.h"
#include "report.h"
#include "status.h"

static int ask_offline(const struct tool *tool, json_t **ret_answer)
{
	_cleanup_(generation_unrefp) struct generation *generation = NULL;
	_cleanup_(diag_clear) struct diag_list diags = { 0 };
	int code = offline_run(tool, NULL, &generation, &diags);

	if (code == TOOL_NO)
		return report_failure(tool, &diags);
	if (code != TOOL_DONE)
		return code;
	*ret_answer = status_facts_answer(generation);
	return *ret_answer ? TOOL_DONE : tool_fail(TOOL_FAILED, "out of memory");
}

int cmd_facts(const struct tool *tool, int argc, char **argv)
{
	_cleanup_(jsonhelp_decrefp) json_t *answer = NULL;
	int code;

	(void)argc;
	(void)argv;
	if (tool->root && tool->mount)
		return tool_fail(TOOL_USAGE, "--root and --mount exclude each other");
	code = tool->root ? ask_offline(tool, &answer)
			  : client_ask(tool, json_pack("{s:s}", "verb", "facts"), false, &answer);
	if (code != TOOL_DONE)
		return code;
	if (tool->json)
		return tool_print_json(answer, TOOL_DONE);
	report_facts(json_object_get(answer, "facts"), 0, false);
	return TOOL_DONE;
}
