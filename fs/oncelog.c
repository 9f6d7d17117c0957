/* SPDX-License-Identifier: MIT */
#include "oncelog.h"

#include <stdlib.h>
#include <string.h>
#include <syslog.h>

#include "findings.h"
#include "log.h"

static int compare_lines(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Takes the line; one that finds no memory is not logged. */
static void add_line(struct string_list *lines, char *line)
{
	if (line)
		(void)string_list_add(lines, line);
	free(line);
}

static void collect(const struct generation *generation, struct string_list *lines)
{
	for (size_t i = 0; i < generation->findings->count; i++) {
		const struct finding *finding = &generation->findings->items[i];
		const struct diag diag = { .level = finding->level,
			.file = finding->file,
			.line = finding->line,
			.text = finding->text };

		/* links are among the rejected files */
		if (finding->level != DIAG_INFO && !finding_is_link(finding))
			add_line(lines, diag_format(&diag));
	}
	for (size_t i = 0; i < generation->n_layers; i++)
		for (size_t k = 0; k < generation->layers[i]->n_rejections; k++) {
			const struct rejection *rejection = &generation->layers[i]->rejections[k];

			add_line(lines, string_format("%s is not served: %s", rejection->path,
						rejection->text));
		}
	if (lines->count > 1)
		qsort(lines->items, lines->count, sizeof(*lines->items), compare_lines);
}

void oncelog_update(struct oncelog *oncelog, const struct generation *generation)
{
	struct string_list lines = { 0 };
	const struct string_list *known = &oncelog->lines;

	collect(generation, &lines);
	for (size_t i = 0; i < lines.count; i++) {
		bool again = i > 0 && strcmp(lines.items[i - 1], lines.items[i]) == 0;

		if (!again &&
			(known->count == 0 || !bsearch(&lines.items[i], known->items, known->count,
						      sizeof(*known->items), compare_lines)))
			log_message(LOG_WARNING, "%s", lines.items[i]);
	}
	string_list_clear(&oncelog->lines);
	oncelog->lines = lines;
}

void oncelog_clear(struct oncelog *oncelog)
{
	string_list_clear(&oncelog->lines);
}
