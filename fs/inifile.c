/* SPDX-License-Identifier: MIT */
/* Two passes. The first knows the grammar: it cuts comments and white space, checks each line and
 * keeps its parts. The second hands inih a short token for each part and puts the parts back in the
 * handler: inih reads 199 bytes at a time, silently makes two lines of a longer one, cuts section
 * names at 49 bytes and takes an indented line for a continuation. */
#include "inifile.h"

#include <errno.h>
#include <ini.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ERRORS_MAX 20

struct part {
	unsigned line;
	char *name;  /* the section's, or the key */
	char *value; /* NULL: a section's header */
};

struct parser {
	const char *name;
	struct diag_list *diags;
	size_t errors;
	bool in_section;
	struct part *parts;
	size_t count;
	size_t capacity;
	/* The second pass. */
	size_t next;
	bool header_fed; /* the header itself, but not yet the pair that makes its entry */
	struct ini_file *file;
	int result;
};

static void parser_clear(struct parser *parser)
{
	for (size_t i = 0; i < parser->count; i++) {
		free(parser->parts[i].name);
		free(parser->parts[i].value);
	}
	free(parser->parts);
	ini_file_free(parser->file);
}

static int line_error(struct parser *parser, unsigned line, const char *text)
{
	if (parser->errors < ERRORS_MAX)
		diag_add(parser->diags, DIAG_ERROR, parser->name, line, "%s", text);
	else if (parser->errors == ERRORS_MAX)
		diag_add(parser->diags, DIAG_ERROR, parser->name, line,
			"there are more errors from here on");
	parser->errors++;
	return 0;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* Narrows *text and *size to what stands between the white space. */
static void trim(const char **text, size_t *size)
{
	while (*size && is_blank(**text)) {
		(*text)++;
		(*size)--;
	}
	while (*size && is_blank((*text)[*size - 1]))
		(*size)--;
}

/* The size of the line without its comment. */
static size_t comment_start(const char *text, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if ((text[i] == ';' || text[i] == '#') && (i == 0 || is_blank(text[i - 1])))
			return i;
	return size;
}

static int add_part(struct parser *parser, unsigned line, const char *name, size_t name_size,
	const char *value, size_t value_size)
{
	struct part part = { .line = line };

	if (array_grow(&parser->parts, &parser->capacity, parser->count, sizeof(part)) < 0)
		return -ENOMEM;
	part.name = strndup(name, name_size);
	part.value = value ? strndup(value, value_size) : NULL;
	if (!part.name || (value && !part.value)) {
		free(part.name);
		free(part.value);
		return -ENOMEM;
	}
	parser->parts[parser->count++] = part;
	return 0;
}

static int read_header(struct parser *parser, unsigned line, const char *text, size_t size)
{
	const char *end = memchr(text, ']', size);

	parser->in_section = true;
	if (!end)
		return line_error(parser, line, "the section's ']' is missing");
	if (end != text + size - 1)
		return line_error(parser, line, "there is text behind the section's ']'");
	text++;
	size -= 2;
	trim(&text, &size);
	if (size == 0)
		return line_error(parser, line, "the section has no name");
	return add_part(parser, line, text, size, NULL, 0);
}

static int read_pair(struct parser *parser, unsigned line, const char *text, size_t size)
{
	const char *equals = memchr(text, '=', size);
	const char *value;
	size_t key_size, value_size;

	if (!equals && memchr(text, ':', size))
		return line_error(
			parser, line, "expected key = value: the separator is '=', not ':'");
	if (!equals)
		return line_error(parser, line, "expected [section], key = value or a comment");
	key_size = (size_t)(equals - text);
	value = equals + 1;
	value_size = size - key_size - 1;
	trim(&text, &key_size);
	trim(&value, &value_size);
	if (key_size == 0)
		return line_error(parser, line, "there is no key before '='");
	if (value_size == 0)
		return line_error(parser, line, "the value is empty");
	if (!parser->in_section)
		return line_error(parser, line, "the key stands before the first [section]");
	return add_part(parser, line, text, key_size, value, value_size);
}

static int read_line(struct parser *parser, unsigned line, const char *text, size_t size)
{
	if (memchr(text, '\0', size))
		return line_error(parser, line, "there is a NUL byte (is the file UTF-16?)");
	if (size && text[size - 1] == '\r')
		size--;
	if (memchr(text, '\r', size))
		return line_error(
			parser, line, "there is a carriage return inside of the line (CR only?)");
	size = comment_start(text, size);
	trim(&text, &size);
	if (size == 0)
		return 0;
	if (size > INIFILE_LINE_MAX)
		return line_error(parser, line, "the line is longer than 4096 bytes");
	if (*text == '[')
		return read_header(parser, line, text, size);
	return read_pair(parser, line, text, size);
}

static int read_lines(struct parser *parser, const char *data, size_t size)
{
	unsigned line = 1;

	if (size == 0)
		return line_error(parser, 0, "the file is empty (0 bytes)");
	if (size >= 2 && (memcmp(data, "\xff\xfe", 2) == 0 || memcmp(data, "\xfe\xff", 2) == 0))
		return line_error(parser, 1, "the file is UTF-16; it has to be UTF-8");
	if (size >= 3 && memcmp(data, "\xef\xbb\xbf", 3) == 0) {
		data += 3;
		size -= 3;
	}
	for (; size; line++) {
		const char *end = memchr(data, '\n', size);
		size_t length = end ? (size_t)(end - data) : size;
		int r = read_line(parser, line, data, length);

		if (r < 0)
			return r;
		data += end ? length + 1 : length;
		size -= end ? length + 1 : length;
	}
	return 0;
}

/* inih's fgets(): "[7]" and "7 = 7" for a header, "8 = 8" for a pair; the numbers are indices. */
static char *feed_inih(char *buffer, int size, void *stream)
{
	struct parser *parser = stream;
	const struct part *part;
	int length;

	if (parser->next == parser->count)
		return NULL;
	part = &parser->parts[parser->next];
	if (!part->value && !parser->header_fed) {
		length = snprintf(buffer, (size_t)size, "[%zu]\n", parser->next);
		parser->header_fed = true;
	} else {
		length = snprintf(buffer, (size_t)size, "%zu = %zu\n", parser->next, parser->next);
		parser->header_fed = false;
		parser->next++;
	}
	return length < size ? buffer : NULL;
}

/* The token's part, or NULL. */
static struct part *part_of(struct parser *parser, const char *token)
{
	char *end;
	unsigned long index = strtoul(token, &end, 10);

	return end == token || *end || index >= parser->count ? NULL : &parser->parts[index];
}

static int take_pair(void *user, const char *section, const char *key, const char *value)
{
	struct parser *parser = user;
	struct ini_file *file = parser->file;
	struct ini_entry entry = { 0 };
	struct part *header, *part;

	if (parser->result < 0)
		return 0;
	if (!key || !value) /* an inih built to call the handler for sections */
		return 1;
	header = part_of(parser, section);
	part = part_of(parser, key);
	parser->result = -ENOMEM;
	if (!header || !part ||
		array_grow(&file->entries, &file->capacity, file->count, sizeof(entry)) < 0)
		return 0;
	entry.line = part->line;
	entry.section = strdup(header->name);
	if (!entry.section)
		return 0;
	if (part->value) {
		entry.key = steal_pointer(part->name);
		entry.value = steal_pointer(part->value);
	}
	file->entries[file->count++] = entry;
	parser->result = 0;
	return 1;
}

int inifile_parse(const char *name, const char *data, size_t size, struct ini_file **ret_file,
	struct diag_list *diags)
{
	_cleanup_(parser_clear) struct parser parser = { .name = name, .diags = diags };
	int r = read_lines(&parser, data, size);

	if (r < 0)
		return r;
	if (parser.errors)
		return -EINVAL;
	parser.file = calloc(1, sizeof(*parser.file));
	if (!parser.file)
		return -ENOMEM;
	parser.file->name = strdup(name);
	if (!parser.file->name)
		return -ENOMEM;
	r = ini_parse_stream(feed_inih, &parser, take_pair, &parser);
	if (parser.result < 0)
		return parser.result;
	if (r != 0 || parser.next != parser.count) {
		diag_add(diags, DIAG_ERROR, name, 0, "inih cannot read the file (result %d)", r);
		return r == -2 ? -ENOMEM : -EINVAL;
	}
	*ret_file = steal_pointer(parser.file);
	return 0;
}

struct ini_file *ini_file_free(struct ini_file *file)
{
	if (!file)
		return NULL;
	for (size_t i = 0; i < file->count; i++) {
		free(file->entries[i].section);
		free(file->entries[i].key);
		free(file->entries[i].value);
	}
	free(file->entries);
	free(file->name);
	free(file);
	return NULL;
}

void ini_file_freep(struct ini_file **file)
{
	*file = ini_file_free(*file);
}
