/* SPDX-License-Identifier: MIT */
/* table: aligned columns for people, with nothing in them that a terminal would obey. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "util.h"

struct table {
	size_t columns;           /* at most 8 */
	struct string_list cells; /* row by row */
};

/* Adds one cell; NULL is "-". */
void table_add(struct table *table, const char *text);
/* Prints the rows, each column as wide as its widest cell, two spaces between, `indent` before. */
void table_print(const struct table *table, unsigned indent);
void table_clear(struct table *table);

/* Prints text with '?' for control characters; NULL prints nothing. */
void table_put_to(FILE *out, const char *text);
/* To stdout. */
void table_put(const char *text);

enum table_colour { COLOUR_RED = 31, COLOUR_GREEN = 32, COLOUR_YELLOW = 33 };
/* As table_put, coloured where wanted. */
void table_put_coloured(bool wanted, enum table_colour colour, const char *text);
