/* SPDX-License-Identifier: MIT */
/* inifile: one policy file's bytes to a list of entries with line numbers, through inih. The
 * grammar is DESIGN 4: `key = value` lines, `[section]`, comments by ';' or '#' on their own line
 * or after white space; no continuation lines, no ':' separator. Core: no I/O. (Not "ini": inih's
 * own header and first function are named so.) */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "diag.h"

struct ini_entry {
	unsigned line; /* from 1 */
	char *section;
	char *key;   /* NULL: the entry is the section's header line */
	char *value; /* NULL with a NULL key */
};

struct ini_file {
	char *name;  /* as messages show it */
	bool system; /* of /etc or /usr (set by who loads it): policy_input.user */
	struct ini_entry *entries;
	size_t count;
	size_t capacity;
};

/* The longest line that is read whole, in bytes, without its comment. */
#define INIFILE_LINE_MAX 4096

/* Parses size bytes. Returns 0 and the file (ini_file_free), -EINVAL with an error per bad line in
 * diags (NUL, UTF-16, a line over 4 KiB, no section, no '=' …; 0 bytes too; at most 20), or
 * -ENOMEM. White space around section names, keys and values is gone; none of the three is empty.
 */
int inifile_parse(const char *name, const char *data, size_t size, struct ini_file **ret_file,
	struct diag_list *diags);
/* Accepts NULL, returns NULL. */
struct ini_file *ini_file_free(struct ini_file *file);
void ini_file_freep(struct ini_file **file);
