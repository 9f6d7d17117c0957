/* SPDX-License-Identifier: MIT */
/* tables_internal: the texts that tools/embed.sh compiles in, and what the reader of the files
 * hands to the tables. Core. */
#pragma once

#include "inifile.h"
#include "tables.h"

struct table_text {
	const char *data;
	size_t size;
};

#define TABLE_TEXT(text) text, sizeof(text) - 1

extern const struct table_text tables_builtin[TABLE_COUNT];

/* The form of one table. */
struct table_kind;
const struct table_kind *table_kind(enum table_id id);

/* Rows of one table: those that are read, or those that make room for them. */
struct table_rows {
	const struct table_kind *kind;
	char *items; /* soc_row, l4t_row or driver_row */
	size_t count;
	size_t capacity;
	unsigned *lines; /* of their headers */
	size_t lines_capacity;
	unsigned seen; /* bits: the last row's columns */
};

/* What [table] says. Returns 0, or -EINVAL with an error in diags. */
int table_read_version(const struct ini_file *file, unsigned *ret_version, struct diag_list *diags);
/* Fills empty rows of a kind. Returns 0; -EINVAL with an error in diags, the first one: what
 * follows may be the same again; or -ENOMEM. To be cleared in any case. */
int table_read_rows(struct table_rows *rows, const struct ini_file *file, struct diag_list *diags);
void table_rows_clear(struct table_rows *rows);
