/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "client.h"
#include "report.h"
#include "table.h"

static void print_list(const json_t *entries)
{
	struct table table = { .columns = 4 };
	const json_t *entry;
	size_t i;

	json_array_foreach(entries, i, entry)
	{
		const char *target = jsonhelp_string(entry, "target");

		table_add(&table, jsonhelp_string(entry, "type"));
		table_add(&table, jsonhelp_string(entry, "layer"));
		table_add(&table, jsonhelp_string(entry, "path"));
		table_add(&table, target ? target : jsonhelp_string(entry, "source"));
	}
	table_print(&table, 0);
	table_clear(&table);
}

int cmd_list(const struct tool *tool, int argc, char **argv)
{
	_cleanup_(jsonhelp_decrefp) json_t *list = NULL;
	json_t *request = json_pack("{s:s, s:o, s:b}", "verb", "list", "path",
		jsonhelp_text(argc > 1 ? argv[1] : ""), "recursive", 1);
	int code = client_ask(tool, request, false, &list);

	if (code != TOOL_DONE)
		return code;
	if (tool->json)
		return tool_print_json(list, TOOL_DONE);
	print_list(json_object_get(list, "entries"));
	return TOOL_DONE;
}
