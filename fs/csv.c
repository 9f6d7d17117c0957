/* SPDX-License-Identifier: MIT */
#include "csv.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

static const char *const types[] = {
	[CSV_DEV] = "dev", [CSV_DIR] = "dir", [CSV_LIB] = "lib", [CSV_SYM] = "sym"
};

struct span {
	const char *text;
	size_t size;
};

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

static struct span trim(struct span span)
{
	while (span.size && is_blank(*span.text)) {
		span.text++;
		span.size--;
	}
	while (span.size && is_blank(span.text[span.size - 1]))
		span.size--;
	return span;
}

static bool find_type(struct span word, enum csv_type *ret_type)
{
	for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
		if (strlen(types[i]) == word.size && memcmp(types[i], word.text, word.size) == 0) {
			*ret_type = (enum csv_type)i;
			return true;
		}
	}
	return false;
}

/* What is wrong with a line that is not empty (a constant), or NULL with the entry's parts set. */
static const char *split(struct span line, enum csv_type *ret_type, struct span *ret_path)
{
	const char *comma = memchr(line.text, ',', line.size);
	struct span type, path;

	if (memchr(line.text, '\0', line.size))
		return "the line has a NUL byte";
	if (!comma)
		return "the line has no comma: it is not 'type, path'";
	type = trim((struct span){ line.text, (size_t)(comma - line.text) });
	path = trim((struct span){ comma + 1, line.size - (size_t)(comma + 1 - line.text) });
	if (!find_type(type, ret_type))
		return "the type is not dev, dir, lib or sym";
	if (path.size == 0)
		return "the path is missing";
	if (*path.text != '/')
		return "the path is not absolute";
	if (path.size >= PATH_MAX)
		return "the path is too long";
	*ret_path = path;
	return NULL;
}

static int add(struct csv *csv, enum csv_type type, struct span path, unsigned line)
{
	char *copy;

	if (array_grow(&csv->items, &csv->capacity, csv->count, sizeof(*csv->items)) < 0)
		return -ENOMEM;
	copy = strndup(path.text, path.size);
	if (!copy)
		return -ENOMEM;
	csv->items[csv->count++] = (struct csv_entry){ type, copy, line };
	return 0;
}

static void warn(
	struct diag_list *diags, const char *file, unsigned line, const char *problem, size_t bad)
{
	if (bad <= CSV_WARNINGS_MAX)
		diag_add_as(diags, DIAG_WARNING, "layer-unread", file, line,
			"%s; the line is left out", problem);
}

int csv_parse(const char *file, const char *text, size_t size, struct csv *ret_csv,
	struct diag_list *diags)
{
	const char *end = text + size;
	size_t bad = 0;

	for (unsigned number = 1; text < end; number++) {
		const char *stop = memchr(text, '\n', (size_t)(end - text));
		struct span line, path = { 0 };
		enum csv_type type = CSV_DEV;
		const char *problem;

		stop = stop ? stop : end;
		line = trim((struct span){ text, (size_t)(stop - text) });
		text = stop + 1;
		if (line.size == 0)
			continue;
		problem = split(line, &type, &path);
		if (problem)
			warn(diags, file, number, problem, ++bad);
		else if (add(ret_csv, type, path, number) < 0)
			return -ENOMEM;
	}
	if (bad > CSV_WARNINGS_MAX)
		diag_add_as(diags, DIAG_WARNING, "layer-unread", file, 0,
			"%zu more lines are left out", bad - CSV_WARNINGS_MAX);
	return 0;
}

void csv_clear(struct csv *csv)
{
	for (size_t i = 0; i < csv->count; i++)
		free(csv->items[i].path);
	free(csv->items);
	*csv = (struct csv){ 0 };
}

bool csv_is_list(const char *name)
{
	return *name != '.' && string_has_suffix(name, ".csv");
}
