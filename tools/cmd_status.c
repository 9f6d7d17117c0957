/* SPDX-License-Identifier: MIT */
#include "client.h"
#include "report.h"
#include "table.h"

static void print_requests(const json_t *requests)
{
	const char *name, *separator = "requests: ";
	json_t *value;

	json_object_foreach((json_t *)requests, name, value)
	{
		if (json_integer_value(value) == 0)
			continue;
		printf("%s%s %" JSON_INTEGER_FORMAT, separator, name, json_integer_value(value));
		separator = ", ";
	}
	puts(*separator == ',' ? "" : "requests: none");
}

static void print_status(const struct tool *tool, const json_t *status)
{
	const char *mountpoint = jsonhelp_string(status, "mountpoint");
	const char *name = jsonhelp_string(status, "name");
	const char *present = jsonhelp_string(status, "present");
	json_int_t unpinned = json_integer_value(json_object_get(status, "unpinned"));

	table_put(mountpoint);
	printf(": gldriverfs %s, instance %s, pid %" JSON_INTEGER_FORMAT "\n",
		jsonhelp_string(status, "version"), name ? name : "?",
		json_integer_value(json_object_get(status, "pid")));
	printf("generation %.8s, %" JSON_INTEGER_FORMAT " entries, present %s\n",
		report_generation(status), json_integer_value(json_object_get(status, "entries")),
		present ? present : "?");
	report_decision(tool, json_object_get(status, "compat"));
	report_facts(json_object_get(json_object_get(status, "compat"), "facts"), 2, true);
	putchar('\n');
	report_layers(json_object_get(status, "layers"));
	putchar('\n');
	print_requests(json_object_get(status, "requests"));
	printf("watched directories: %" JSON_INTEGER_FORMAT "\n",
		json_integer_value(json_object_get(status, "watched")));
	if (unpinned)
		printf("files without a held descriptor: %" JSON_INTEGER_FORMAT "\n", unpinned);
	report_rejected(json_object_get(status, "rejected"));
	report_problems(tool, json_object_get(status, "problems"), false);
}

int cmd_status(const struct tool *tool, int argc, char **argv)
{
	_cleanup_(jsonhelp_decrefp) json_t *status = NULL;
	int code = client_ask(tool, json_pack("{s:s}", "verb", "status"), false, &status);

	(void)argc;
	(void)argv;
	if (code != TOOL_DONE)
		return code;
	code = report_exit(tool, json_object_get(status, "problems"));
	if (tool->json)
		return tool_print_json(status, code);
	print_status(tool, status);
	return code;
}
