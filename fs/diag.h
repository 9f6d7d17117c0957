/* SPDX-License-Identifier: MIT */
/* diag: a list of findings {level, file, line, text}, filled by the core and printed by whoever
 * asked (the core never logs). */
#pragma once

#include <stddef.h>

#include "util.h"

enum diag_level { DIAG_ERROR, DIAG_WARNING, DIAG_INFO };

struct diag {
	enum diag_level level;
	const char *id; /* constant: the kind of finding (findings.h); NULL: of none */
	char *file;     /* policy or host file, NULL where there is none */
	unsigned line;  /* from 1; 0 where there is none */
	char *text;     /* one sentence, no line break */
};

/* Zero-initialised is empty. */
struct diag_list {
	struct diag *items;
	size_t count;
	size_t capacity;
	size_t lost; /* findings that could not be kept for want of memory */
};

/* Appends a finding; file may be NULL. Control characters in the text become '?'.
 * Without memory the finding is counted in `lost`: adding never fails. */
void diag_add(struct diag_list *list, enum diag_level level, const char *file, unsigned line,
	const char *format, ...) _printf_(5, 6);
/* The same for a kind of finding that findings.h explains; id is a constant. */
void diag_add_as(struct diag_list *list, enum diag_level level, const char *id, const char *file,
	unsigned line, const char *format, ...) _printf_(6, 7);
/* Appends copies of all findings of `from`. */
void diag_append(struct diag_list *list, const struct diag_list *from);
/* How many findings of this level the list holds. */
size_t diag_count(const struct diag_list *list, enum diag_level level);
/* The first error's "file:line: text" (owned by the caller), or NULL: none, or no memory. */
char *diag_first_error(const struct diag_list *list);
/* One finding as "file:line: level: text" (owned by the caller); NULL without memory. */
char *diag_format(const struct diag *diag);
/* "error", "warning", "info". */
const char *diag_level_name(enum diag_level level);
/* Frees the items; the list is empty afterwards. Fits _cleanup_. */
void diag_clear(struct diag_list *list);
