/* SPDX-License-Identifier: MIT */
/* csv: the lists of host files that NVIDIA's container runtime reads (FACTS.md 5). Core. */
#pragma once

#include <stddef.h>

#include "diag.h"

enum csv_type { CSV_DEV, CSV_DIR, CSV_LIB, CSV_SYM };

struct csv_entry {
	enum csv_type type;
	char *path; /* absolute; may have wildcards and double slashes */
	unsigned line;
};

/* Zero-initialised is empty. */
struct csv {
	struct csv_entry *items;
	size_t count;
	size_t capacity;
};

/* Warnings of one file, before the rest of its bad lines is only counted. */
#define CSV_WARNINGS_MAX 100

/* Reads lines of "type, path", split at the first comma, both trimmed; there are no comments.
 * Appends to ret_csv. A line that is not one is a warning with its number (`file` is what it is
 * called there); an empty one is nothing. Returns 0 or -ENOMEM. */
int csv_parse(const char *file, const char *text, size_t size, struct csv *ret_csv,
	struct diag_list *diags);
/* Frees the items; the list is empty afterwards. Fits _cleanup_. */
void csv_clear(struct csv *csv);
/* Whether a file of that name in a directory is such a list: "*.csv", not hidden. */
bool csv_is_list(const char *name);
