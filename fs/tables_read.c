/* SPDX-License-Identifier: MIT */
/* tables_read: the rows of one file. The three files have one form: a [table] section with the
 * version, then a section per row, whose name is the row's key and whose keys are its columns. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "soname.h"
#include "tables_internal.h"

#define VERSION_MAX 999999999

struct column {
	const char *key; /* NULL: a part of the section's name */
	size_t offset;   /* of a char *, or of a bool */
	bool flag;       /* yes or no; optional */
	bool optional;
	bool (*valid)(const char *value);
	const char *expected;
};

struct table_kind {
	const char *file;
	const char *row; /* what the section's name has to be, for messages */
	size_t size;     /* of a row */
	/* Of the name's parts, separated by a space: the first and, where has_second, the one that
	 * may follow. */
	struct column names[2];
	bool has_second;
	struct column columns[5];
};

static bool is_dotted(const char *value, size_t least, size_t most)
{
	size_t parts = version_parts(value);

	if (parts < least || parts > most)
		return false;
	for (const char *at = value;;) {
		size_t digits = strspn(at, "0123456789");

		if (digits == 0 || digits > 9)
			return false;
		at += digits;
		if (!*at)
			return true;
		if (*at++ != '.')
			return false;
	}
}

static bool is_pair(const char *value)
{
	return is_dotted(value, 2, 2);
}

static bool is_release(const char *value)
{
	return is_dotted(value, 1, 3);
}

static bool is_branch(const char *value)
{
	return strlen(value) == 3 && is_dotted(value, 1, 1);
}

static bool is_soc(const char *value)
{
	return string_has_prefix(value, "tegra") && strlen(value) == 8 &&
	       strspn(value + 5, "0123456789") == 3;
}

static bool is_stack(const char *value)
{
	return strcmp(value, "nvgpu") == 0 || strcmp(value, "openrm") == 0;
}

static bool is_flag(const char *value)
{
	return strcmp(value, "yes") == 0 || strcmp(value, "no") == 0;
}

static bool is_text(const char *value)
{
	return *value != '\0';
}

#define SOC_ROW(member)    offsetof(struct soc_row, member)
#define L4T_ROW(member)    offsetof(struct l4t_row, member)
#define DRIVER_ROW(member) offsetof(struct driver_row, member)
#define EXPECT_PAIR        .valid = is_pair, .expected = "MAJOR.MINOR"
#define EXPECT_RELEASE     .valid = is_release, .expected = "a release such as 36.4"

static const struct table_kind kinds[TABLE_COUNT] = {
	[TABLE_SOC] = {
		.file = "soc.ini",
		.row = "tegraNNN",
		.size = sizeof(struct soc_row),
		.names = { { .offset = SOC_ROW(soc), .valid = is_soc } },
		.columns = {
			{ "device", SOC_ROW(device), .valid = is_text, .expected = "a name" },
			{ "compute", SOC_ROW(compute), EXPECT_PAIR },
			{ "l4t-first", SOC_ROW(l4t_first), EXPECT_RELEASE },
			{ "l4t-last", SOC_ROW(l4t_last), .optional = true, EXPECT_RELEASE },
			{ "stack", SOC_ROW(stack), .valid = is_stack, .expected = "nvgpu or openrm" },
		},
	},
	[TABLE_L4T] = {
		.file = "l4t.ini",
		.row = "an L4T release such as 36.4, or a release and tegraNNN",
		.size = sizeof(struct l4t_row),
		.names = { { .offset = L4T_ROW(l4t), .valid = is_release },
			{ .offset = L4T_ROW(soc), .valid = is_soc } },
		.has_second = true,
		.columns = {
			{ "jetpack", L4T_ROW(jetpack), .valid = is_text, .expected = "a version" },
			{ "cuda", L4T_ROW(cuda), EXPECT_PAIR },
			{ "compat", L4T_ROW(compat), .optional = true, EXPECT_PAIR },
			{ "sbsa", L4T_ROW(sbsa), .flag = true, .optional = true, .valid = is_flag,
				.expected = "yes or no" },
		},
	},
	[TABLE_DRIVER] = {
		.file = "driver.ini",
		.row = "a driver branch such as 535",
		.size = sizeof(struct driver_row),
		.names = { { .offset = DRIVER_ROW(branch), .valid = is_branch } },
		.columns = { { "cuda", DRIVER_ROW(cuda), EXPECT_PAIR } },
	},
};

static char **text_at(const struct table_rows *rows, size_t row, const struct column *column)
{
	return (char **)(void *)(rows->items + row * rows->kind->size + column->offset);
}

void table_rows_clear(struct table_rows *rows)
{
	const struct table_kind *kind = rows->kind;

	for (size_t i = 0; i < rows->count; i++) {
		free(*text_at(rows, i, &kind->names[0]));
		if (kind->has_second)
			free(*text_at(rows, i, &kind->names[1]));
		for (size_t j = 0; j < ARRAY_SIZE(kind->columns) && kind->columns[j].key; j++)
			if (!kind->columns[j].flag)
				free(*text_at(rows, i, &kind->columns[j]));
	}
	free(rows->items);
	free(rows->lines);
}

/* The column of a key; the count of columns: there is none. */
static size_t find_column(const struct table_kind *kind, const char *key)
{
	size_t i = 0;

	while (i < ARRAY_SIZE(kind->columns) && kind->columns[i].key &&
		strcmp(kind->columns[i].key, key) != 0)
		i++;
	return i < ARRAY_SIZE(kind->columns) && kind->columns[i].key ? i
								     : ARRAY_SIZE(kind->columns);
}

/* Splits "39 tegra234" into the parts of the row's name. */
static int read_name(struct table_rows *rows, const struct ini_file *file,
	const struct ini_entry *entry, struct diag_list *diags)
{
	const struct table_kind *kind = rows->kind;
	_cleanup_(freep) char *first = strdup(entry->section);
	_cleanup_(freep) char *second = NULL;
	char *space = first && kind->has_second ? strchr(first, ' ') : NULL;

	if (space) {
		*space = '\0';
		second = strdup(space + 1 + strspn(space + 1, " \t"));
	}
	if (!first || (space && !second))
		return -ENOMEM;
	if (!kind->names[0].valid(first) || (second && !kind->names[1].valid(second))) {
		diag_add(diags, DIAG_ERROR, file->name, entry->line, "[%s]: expected %s",
			entry->section, kind->row);
		return -EINVAL;
	}
	for (size_t i = 0; i < rows->count; i++) {
		if (strcmp(*text_at(rows, i, &kind->names[0]), first) != 0)
			continue;
		if (kind->has_second && !string_equal(*text_at(rows, i, &kind->names[1]), second))
			continue;
		diag_add(diags, DIAG_ERROR, file->name, entry->line,
			"[%s] is there twice, see line %u", entry->section, rows->lines[i]);
		return -EINVAL;
	}
	if (array_grow(&rows->items, &rows->capacity, rows->count, kind->size) < 0 ||
		array_grow(&rows->lines, &rows->lines_capacity, rows->count, sizeof(unsigned)) < 0)
		return -ENOMEM;
	memset(rows->items + rows->count * kind->size, 0, kind->size);
	rows->lines[rows->count] = entry->line;
	*text_at(rows, rows->count, &kind->names[0]) = steal_pointer(first);
	if (kind->has_second)
		*text_at(rows, rows->count, &kind->names[1]) = steal_pointer(second);
	rows->count++;
	return 0;
}

/* One key of the last row. */
static int read_column(struct table_rows *rows, const struct ini_file *file,
	const struct ini_entry *entry, struct diag_list *diags)
{
	size_t index = find_column(rows->kind, entry->key);
	const struct column *column;
	char **text;

	if (index == ARRAY_SIZE(rows->kind->columns)) {
		diag_add(diags, DIAG_ERROR, file->name, entry->line, "unknown key '%s' in [%s]",
			entry->key, entry->section);
		return -EINVAL;
	}
	column = &rows->kind->columns[index];
	if (rows->seen & 1U << index) {
		diag_add(diags, DIAG_ERROR, file->name, entry->line, "'%s' is there twice in [%s]",
			entry->key, entry->section);
		return -EINVAL;
	}
	if (!column->valid(entry->value)) {
		diag_add(diags, DIAG_ERROR, file->name, entry->line, "%s: '%s' is not %s",
			entry->key, entry->value, column->expected);
		return -EINVAL;
	}
	rows->seen |= 1U << index;
	text = text_at(rows, rows->count - 1, column);
	if (column->flag) {
		*(bool *)(void *)text = strcmp(entry->value, "yes") == 0;
		return 0;
	}
	*text = strdup(entry->value);
	return *text ? 0 : -ENOMEM;
}

/* Every column that is not optional has a value in the last row. */
static int check_row(const struct table_rows *rows, const struct ini_file *file,
	const char *section, struct diag_list *diags)
{
	const struct table_kind *kind = rows->kind;

	for (size_t i = 0; i < ARRAY_SIZE(kind->columns) && kind->columns[i].key; i++) {
		if (kind->columns[i].optional || rows->seen & 1U << i)
			continue;
		diag_add(diags, DIAG_ERROR, file->name, rows->lines[rows->count - 1],
			"[%s] has no '%s'", section, kind->columns[i].key);
		return -EINVAL;
	}
	return 0;
}

int table_read_rows(struct table_rows *rows, const struct ini_file *file, struct diag_list *diags)
{
	const char *section = NULL; /* of the last row */

	for (size_t i = 0; i < file->count; i++) {
		const struct ini_entry *entry = &file->entries[i];
		int r;

		if (strcmp(entry->section, "table") == 0)
			continue;
		if (entry->key) {
			r = read_column(rows, file, entry, diags);
		} else {
			r = section ? check_row(rows, file, section, diags) : 0;
			section = entry->section;
			rows->seen = 0;
			if (r == 0)
				r = read_name(rows, file, entry, diags);
		}
		if (r < 0)
			return r;
	}
	if (!section) {
		diag_add(diags, DIAG_ERROR, file->name, 0, "there is no row");
		return -EINVAL;
	}
	return check_row(rows, file, section, diags);
}

int table_read_version(const struct ini_file *file, unsigned *ret_version, struct diag_list *diags)
{
	unsigned version = 0;

	for (size_t i = 0; i < file->count; i++) {
		const struct ini_entry *entry = &file->entries[i];
		unsigned long value;
		char *end;

		if (strcmp(entry->section, "table") != 0 || !entry->key)
			continue;
		if (strcmp(entry->key, "version") != 0) {
			diag_add(diags, DIAG_ERROR, file->name, entry->line,
				"unknown key '%s' in [table]", entry->key);
			return -EINVAL;
		}
		if (version) {
			diag_add(diags, DIAG_ERROR, file->name, entry->line,
				"'version' is there twice in [table]");
			return -EINVAL;
		}
		value = *entry->value >= '1' && *entry->value <= '9'
				? strtoul(entry->value, &end, 10)
				: 0;
		if (value == 0 || value > VERSION_MAX || *end) {
			diag_add(diags, DIAG_ERROR, file->name, entry->line,
				"version: '%s' is not a number from 1 to %d", entry->value,
				VERSION_MAX);
			return -EINVAL;
		}
		version = (unsigned)value;
	}
	if (!version) {
		diag_add(diags, DIAG_ERROR, file->name, 0, "there is no 'version' in [table]");
		return -EINVAL;
	}
	*ret_version = version;
	return 0;
}

const char *table_file(enum table_id id)
{
	return kinds[id].file;
}

const struct table_kind *table_kind(enum table_id id)
{
	return &kinds[id];
}
