/* SPDX-License-Identifier: MIT */
#include "report.h"

#include <string.h>

#include "table.h"

static const char *text_of(const json_t *object, const char *key)
{
	const char *text = jsonhelp_string(object, key);

	return text ? text : "";
}

static void report_facts(const json_t *facts)
{
	struct table table = { .columns = 3 };
	size_t i;
	const json_t *fact;

	json_array_foreach(facts, i, fact)
	{
		const char *value = jsonhelp_string(fact, "value");

		table_add(&table, text_of(fact, "name"));
		table_add(&table, value ? value : "unknown");
		table_add(&table, text_of(fact, "source"));
	}
	table_print(&table, 2);
	table_clear(&table);
}

void report_compat(const struct tool *tool, const json_t *compat)
{
	bool on = json_is_true(json_object_get(compat, "on"));
	const char *from = jsonhelp_string(compat, "mode_from");
	const char *directory = jsonhelp_string(compat, "directory");

	fputs("compat ", stdout);
	table_put_coloured(tool->colour, on ? COLOUR_GREEN : COLOUR_YELLOW, on ? "on" : "off");
	printf(" (mode %s", text_of(compat, "mode"));
	if (from)
		fputs(", from ", stdout);
	table_put(from);
	printf("; rule %s): ", text_of(compat, "rule"));
	table_put(text_of(compat, "reason"));
	putchar('\n');
	if (directory) {
		printf("  %s ", on ? "used:" : "not used:");
		table_put(directory);
		fputs(" (layer ", stdout);
		table_put(text_of(compat, "layer"));
		puts(")");
	}
	report_facts(json_object_get(compat, "facts"));
}

/* Up to this many missing directories of a layer are named. */
#define MISSING_NAMED 3

static size_t count_missing(const json_t *directories)
{
	const json_t *directory;
	size_t i, count = 0;

	json_array_foreach(directories, i, directory)
	{
		count += !json_is_true(json_object_get(directory, "present"));
	}
	return count;
}

static void add_layer_row(struct table *table, const json_t *layer, bool first, const char *order,
	const char *served, const char *place)
{
	table_add(table, first ? text_of(layer, "name") : "");
	table_add(table, first ? text_of(layer, "role") : "");
	table_add(table, first ? order : "");
	table_add(table, first ? served : "");
	table_add(table, place);
}

void report_layers(const json_t *layers)
{
	struct table table = { .columns = 5 };
	size_t i, j;
	json_int_t total = 0;
	const json_t *layer, *directory;

	table_add(&table, "LAYER");
	table_add(&table, "ROLE");
	table_add(&table, "ORDER");
	table_add(&table, "SERVED");
	table_add(&table, "DIRECTORY");
	json_array_foreach(layers, i, layer)
	{
		const json_t *directories = json_object_get(layer, "directories");
		_cleanup_(freep) char *order = string_format("%" JSON_INTEGER_FORMAT,
			json_integer_value(json_object_get(layer, "order")));
		_cleanup_(freep) char *served = string_format("%" JSON_INTEGER_FORMAT,
			json_integer_value(json_object_get(layer, "served")));
		const size_t missing = count_missing(directories);
		bool first = true;

		total += json_integer_value(json_object_get(layer, "served"));
		json_array_foreach(directories, j, directory)
		{
			bool present = json_is_true(json_object_get(directory, "present"));
			_cleanup_(freep) char *place = string_format(
				"%s%s", text_of(directory, "path"), present ? "" : " (missing)");

			if (!present && missing > MISSING_NAMED)
				continue;
			add_layer_row(&table, layer, first, order, served, place);
			first = false;
		}
		if (missing > MISSING_NAMED) {
			_cleanup_(freep) char *rest =
				string_format("(%zu are missing; --json names them)", missing);

			add_layer_row(&table, layer, first, order, served, rest);
			first = false;
		}
		if (first)
			add_layer_row(&table, layer, true, order, served, NULL);
	}
	table_print(&table, 0);
	table_clear(&table);
	if (total == 0)
		puts("No layer has a driver library: the driver directory is empty.");
}

void report_rejected(const json_t *rejected)
{
	size_t i;
	const json_t *item;

	if (json_array_size(rejected) > 0)
		puts("Rejected files:");
	json_array_foreach(rejected, i, item)
	{
		fputs("  ", stdout);
		table_put(text_of(item, "path"));
		fputs(" (layer ", stdout);
		table_put(text_of(item, "layer"));
		fputs("): ", stdout);
		table_put(text_of(item, "reason"));
		putchar('\n');
	}
}

static void report_problem(FILE *out, bool colour, const json_t *problem)
{
	const char *level = text_of(problem, "level");
	const char *file = jsonhelp_string(problem, "file");
	json_int_t line = json_integer_value(json_object_get(problem, "line"));

	table_put_to(out, file);
	if (file && line)
		fprintf(out, ":%" JSON_INTEGER_FORMAT, line);
	if (file)
		fputs(": ", out);
	if (colour && strcmp(level, "error") == 0)
		fprintf(out, "\033[%dm%s\033[0m", COLOUR_RED, level);
	else if (colour && strcmp(level, "warning") == 0)
		fprintf(out, "\033[%dm%s\033[0m", COLOUR_YELLOW, level);
	else
		fputs(level, out);
	fputs(": ", out);
	table_put_to(out, text_of(problem, "text"));
	fputc('\n', out);
}

void report_problems_to(FILE *out, bool colour, const json_t *problems)
{
	static const char *const levels[] = { "error", "warning", "info" };
	const json_t *problem;
	size_t i;

	for (size_t level = 0; level < ARRAY_SIZE(levels); level++) {
		json_array_foreach(problems, i, problem)
		{
			if (strcmp(text_of(problem, "level"), levels[level]) == 0)
				report_problem(out, colour, problem);
		}
	}
}

void report_problems(const struct tool *tool, const json_t *problems)
{
	report_problems_to(stdout, tool->colour, problems);
}

enum tool_exit report_exit(const struct tool *tool, const json_t *problems)
{
	const json_t *problem;
	size_t i;

	json_array_foreach(problems, i, problem)
	{
		const char *level = text_of(problem, "level");

		if (strcmp(level, "error") == 0 || (tool->strict && strcmp(level, "warning") == 0))
			return TOOL_NO;
	}
	return TOOL_DONE;
}

const char *report_generation(const json_t *object)
{
	return text_of(object, "generation");
}
