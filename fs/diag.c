/* SPDX-License-Identifier: MIT */
#include "diag.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void clean_control_characters(char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < 0x20 || *text == 0x7f)
			*text = '?';
}

static void diag_take(struct diag_list *list, enum diag_level level, const char *id,
	const char *file, unsigned line, char *text)
{
	char *copy = file ? strdup(file) : NULL;

	if (!text || (file && !copy) ||
		array_grow(&list->items, &list->capacity, list->count, sizeof(*list->items)) < 0) {
		list->lost++;
		free(copy);
		free(text);
		return;
	}
	clean_control_characters(text);
	list->items[list->count++] =
		(struct diag){ .level = level, .id = id, .file = copy, .line = line, .text = text };
}

void diag_add(struct diag_list *list, enum diag_level level, const char *file, unsigned line,
	const char *format, ...)
{
	va_list arguments;
	char *text = NULL;

	va_start(arguments, format);
	if (vasprintf(&text, format, arguments) < 0)
		text = NULL;
	va_end(arguments);
	diag_take(list, level, NULL, file, line, text);
}

void diag_add_as(struct diag_list *list, enum diag_level level, const char *id, const char *file,
	unsigned line, const char *format, ...)
{
	va_list arguments;
	char *text = NULL;

	va_start(arguments, format);
	if (vasprintf(&text, format, arguments) < 0)
		text = NULL;
	va_end(arguments);
	diag_take(list, level, id, file, line, text);
}

void diag_append(struct diag_list *list, const struct diag_list *from)
{
	for (size_t i = 0; i < from->count; i++) {
		const struct diag *diag = &from->items[i];

		diag_take(list, diag->level, diag->id, diag->file, diag->line, strdup(diag->text));
	}
	list->lost += from->lost;
}

size_t diag_count(const struct diag_list *list, enum diag_level level)
{
	size_t count = 0;

	for (size_t i = 0; i < list->count; i++)
		count += list->items[i].level == level;
	return count;
}

static char *diag_place(const struct diag *diag)
{
	if (!diag->file)
		return strdup("");
	if (!diag->line)
		return string_format("%s: ", diag->file);
	return string_format("%s:%u: ", diag->file, diag->line);
}

char *diag_first_error(const struct diag_list *list)
{
	for (size_t i = 0; i < list->count; i++) {
		_cleanup_(freep) char *place = NULL;

		if (list->items[i].level != DIAG_ERROR)
			continue;
		place = diag_place(&list->items[i]);
		return place ? string_format("%s%s", place, list->items[i].text) : NULL;
	}
	return NULL;
}

char *diag_format(const struct diag *diag)
{
	_cleanup_(freep) char *place = diag_place(diag);

	if (!place)
		return NULL;
	return string_format("%s%s: %s", place, diag_level_name(diag->level), diag->text);
}

const char *diag_level_name(enum diag_level level)
{
	static const char *const names[] = { "error", "warning", "info" };

	return names[level];
}

void diag_clear(struct diag_list *list)
{
	for (size_t i = 0; i < list->count; i++) {
		free(list->items[i].file);
		free(list->items[i].text);
	}
	free(list->items);
	*list = (struct diag_list){ 0 };
}
