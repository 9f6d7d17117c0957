/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "client.h"
#include "report.h"
#include "table.h"

static void put_field(const json_t *object, const char *key, const char *before, const char *after)
{
	fputs(before, stdout);
	table_put(jsonhelp_string(object, key));
	fputs(after, stdout);
}

static void print_plan(const json_t *plan)
{
	if (!json_is_object(plan))
		return;
	put_field(plan, "kind", "  plan: ", "");
	if (jsonhelp_string(plan, "reason"))
		put_field(plan, "reason", " (", ")");
	if (jsonhelp_string(plan, "runpath"))
		put_field(plan, "runpath", ", RUNPATH ", "");
	putchar('\n');
}

static void print_served(const json_t *served)
{
	const json_t *item, *needed, *name;
	size_t i, j;

	json_array_foreach(served, i, item)
	{
		put_field(item, "path", "", "");
		put_field(item, "source", " is ", "");
		put_field(item, "layer", " (layer ", ")\n");
		put_field(item, "why", "  why: ", "\n");
		fputs("  names:", stdout);
		json_array_foreach(json_object_get(item, "names"), j, name)
		{
			putchar(' ');
			table_put(json_string_value(name));
		}
		putchar('\n');
		print_plan(json_object_get(item, "plan"));
		json_array_foreach(json_object_get(item, "needed"), j, needed)
		{
			const char *path = jsonhelp_string(needed, "path");

			put_field(needed, "name", "  needs ", ": ");
			table_put(path ? path : jsonhelp_string(needed, "note"));
			put_field(needed, "layer", path ? " (layer " : "", path ? ")\n" : "\n");
		}
	}
}

static void print_lost(const json_t *lost)
{
	const json_t *item;
	size_t i;

	if (json_array_size(lost) > 0)
		puts("Not served:");
	json_array_foreach(lost, i, item)
	{
		put_field(item, "source", "  ", "");
		put_field(item, "layer", " (layer ", "): ");
		put_field(item, "why", "", "\n");
	}
}

int cmd_explain(const struct tool *tool, int argc, char **argv)
{
	_cleanup_(jsonhelp_decrefp) json_t *reply = NULL;
	char *name = argv[1];
	int code;

	(void)argc;
	if (!*name)
		return tool_fail(TOOL_USAGE, "explain needs a name");
	/* A directory as the shell completes it. */
	for (size_t length = strlen(name); length > 1 && name[length - 1] == '/';)
		name[--length] = '\0';
	code = client_ask(tool,
		json_pack("{s:s, s:o}", "verb", "explain", "name", jsonhelp_text(name)), false,
		&reply);
	if (code != TOOL_DONE)
		return code;
	code = json_is_true(json_object_get(reply, "found")) ? TOOL_DONE : TOOL_NO;
	if (tool->json)
		return tool_print_json(reply, code);
	put_field(reply, "summary", "", "\n");
	print_served(json_object_get(reply, "served"));
	print_lost(json_object_get(reply, "lost"));
	report_rejected(json_object_get(reply, "rejected"));
	if (json_is_object(json_object_get(reply, "compat")))
		report_decision(tool, json_object_get(reply, "compat"));
	return code;
}
