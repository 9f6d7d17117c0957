/* SPDX-License-Identifier: MIT */
#include "table.h"

#include <string.h>

#define MAX_COLUMNS 8

void table_add(struct table *table, const char *text)
{
	string_list_add(&table->cells, text ? text : "-");
}

/* Columns on the terminal: UTF-8's continuation bytes take none. */
static size_t width_of(const char *text)
{
	size_t width = 0;

	for (; *text; text++)
		width += (*text & 0xc0) != 0x80;
	return width;
}

void table_put_to(FILE *out, const char *text)
{
	for (; text && *text; text++)
		fputc((unsigned char)*text < 0x20 || *text == 0x7f ? '?' : *text, out);
}

void table_put(const char *text)
{
	table_put_to(stdout, text);
}

void table_put_coloured(bool wanted, enum table_colour colour, const char *text)
{
	if (wanted)
		printf("\033[%dm", colour);
	table_put(text);
	if (wanted)
		fputs("\033[0m", stdout);
}

static void print_row(const struct table *table, size_t row, const size_t *widths, unsigned indent)
{
	printf("%*s", (int)indent, "");
	for (size_t column = 0; column < table->columns; column++) {
		const char *cell = table->cells.items[row + column];

		table_put(cell);
		if (column + 1 < table->columns)
			printf("%*s", (int)(widths[column] - width_of(cell) + 2), "");
	}
	putchar('\n');
}

void table_print(const struct table *table, unsigned indent)
{
	size_t widths[MAX_COLUMNS] = { 0 };
	size_t rows = table->cells.count / table->columns;

	for (size_t i = 0; i < rows * table->columns; i++) {
		size_t width = width_of(table->cells.items[i]);

		if (width > widths[i % table->columns])
			widths[i % table->columns] = width;
	}
	for (size_t row = 0; row < rows; row++)
		print_row(table, row * table->columns, widths, indent);
}

void table_clear(struct table *table)
{
	string_list_clear(&table->cells);
}
