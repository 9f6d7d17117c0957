/* SPDX-License-Identifier: MIT */
#include "override.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define OVERRIDE_MAX (256 * 1024)

struct override_undo {
	char *path;
	char *before; /* NULL: there was no file */
};

/* ---- text ---- */

struct line {
	const char *start;
	size_t size;   /* with its line break */
	bool is_ended; /* by a line break */
	const char *text;
	size_t length; /* of text: without white space around it */
};

static bool next_line(const char **rest, struct line *ret_line)
{
	const char *end;

	if (!**rest)
		return false;
	ret_line->start = ret_line->text = *rest;
	end = strchr(*rest, '\n');
	ret_line->size = end ? (size_t)(end + 1 - *rest) : strlen(*rest);
	ret_line->is_ended = end != NULL;
	*rest += ret_line->size;
	ret_line->length = ret_line->size;
	while (ret_line->length > 0 && isspace((unsigned char)ret_line->text[0])) {
		ret_line->text++;
		ret_line->length--;
	}
	while (ret_line->length > 0 && isspace((unsigned char)ret_line->text[ret_line->length - 1]))
		ret_line->length--;
	return true;
}

static bool is_header(const struct line *line)
{
	return line->length > 0 && line->text[0] == '[';
}

static bool is_header_of(const struct line *line, const char *section)
{
	size_t length = strlen(section);

	return is_header(line) && line->length >= length + 2 &&
	       memcmp(line->text + 1, section, length) == 0 && line->text[length + 1] == ']';
}

static bool is_entry(const struct line *line)
{
	return line->length > 0 && !strchr("[;#", line->text[0]);
}

static bool is_entry_of(const struct line *line, const char *key)
{
	size_t length = strlen(key);

	if (!is_entry(line) || line->length < length || memcmp(line->text, key, length) != 0)
		return false;
	while (length < line->length && isspace((unsigned char)line->text[length]))
		length++;
	return length < line->length && line->text[length] == '=';
}

/* Writes the edited text and says whether an entry is left in it. */
static bool write_edited(
	FILE *out, const char *text, const char *section, const char *key, const char *value)
{
	bool inside = false, set = false, entries = false;
	struct line line;

	while (next_line(&text, &line)) {
		if (is_header(&line))
			inside = is_header_of(&line, section);
		else if (inside && is_entry_of(&line, key))
			continue;
		fwrite(line.start, 1, line.size, out);
		if (!line.is_ended)
			fputc('\n', out);
		entries |= is_entry(&line);
		if (value && !set && inside && is_header(&line)) {
			fprintf(out, "%s = %s\n", key, value);
			set = true;
		}
	}
	if (value && !set)
		fprintf(out, "[%s]\n%s = %s\n", section, key, value);
	return entries || value;
}

int override_edit(
	const char *text, const char *section, const char *key, const char *value, char **ret_text)
{
	char *edited = NULL;
	size_t size;
	FILE *out = open_memstream(&edited, &size);
	bool entries;

	if (!out)
		return -ENOMEM;
	entries = write_edited(out, text, section, key, value);
	if (fclose(out) != 0) {
		free(edited);
		return -ENOMEM;
	}
	if (!entries) {
		free(edited);
		edited = NULL;
	}
	*ret_text = edited;
	return 0;
}

/* ---- file ---- */

/* Reads the file; *ret_text is NULL where there is none. */
static int read_file(const char *path, char **ret_text)
{
	_cleanup_(closep) int fd =
		open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | O_NOFOLLOW);
	_cleanup_(freep) char *text = NULL;
	struct stat status;
	ssize_t size;

	*ret_text = NULL;
	if (fd < 0)
		return errno == ENOENT ? 0 : -errno;
	if (fstat(fd, &status) < 0)
		return -errno;
	if (!S_ISREG(status.st_mode))
		return -EINVAL;
	if (status.st_size > OVERRIDE_MAX)
		return -EFBIG;
	text = calloc(1, (size_t)status.st_size + 1);
	if (!text)
		return -ENOMEM;
	size = pread(fd, text, (size_t)status.st_size, 0);
	if (size < 0)
		return -errno;
	*ret_text = steal_pointer(text);
	return 0;
}

/* Makes the directories above the file where they are missing. */
static int make_directories(const char *path)
{
	_cleanup_(freep) char *whole = strdup(path);

	if (!whole)
		return -ENOMEM;
	if (whole[0] != '/')
		return -EINVAL;
	for (char *slash = strchr(whole + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		int error;

		*slash = '\0';
		error = mkdir(whole, 0755) < 0 ? errno : 0;
		if (error && error != EEXIST && access(whole, F_OK) < 0)
			return -error;
		*slash = '/';
	}
	return 0;
}

static int write_all(int fd, const char *text)
{
	size_t left = strlen(text);

	while (left > 0) {
		ssize_t size = write(fd, text, left);

		if (size < 0 && errno == EINTR)
			continue;
		if (size < 0)
			return -errno;
		text += size;
		left -= (size_t)size;
	}
	return fsync(fd) < 0 ? -errno : 0;
}

static int replace_by(const char *path, const char *temporary, const char *text)
{
	_cleanup_(closep) int fd =
		open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644);
	int r;

	if (fd < 0)
		return -errno;
	r = write_all(fd, text);
	if (r == 0 && (fchmod(fd, 0644) < 0 || rename(temporary, path) < 0))
		r = -errno;
	if (r < 0)
		unlink(temporary);
	return r;
}

/* Makes path hold text; NULL: no file. */
static int replace_file(const char *path, const char *text)
{
	_cleanup_(freep) char *temporary = NULL;
	int r;

	if (!text)
		return unlink(path) < 0 && errno != ENOENT ? -errno : 0;
	temporary = string_format("%s.new", path);
	if (!temporary)
		return -ENOMEM;
	r = make_directories(path);
	if (r < 0)
		return r;
	unlink(temporary);
	return replace_by(path, temporary, text);
}

int override_write(const char *path, const char *mode, struct override_undo **ret_undo)
{
	static const char fresh[] = "; Written by gldriverfs for gldriverctl.\n";
	_cleanup_(override_undo_freep) struct override_undo *undo = calloc(1, sizeof(*undo));
	_cleanup_(freep) char *after = NULL;
	int r;

	if (!undo)
		return -ENOMEM;
	undo->path = strdup(path);
	if (!undo->path)
		return -ENOMEM;
	r = read_file(path, &undo->before);
	if (r < 0)
		return r;
	r = override_edit(undo->before ? undo->before : fresh, "compat", "mode", mode, &after);
	if (r < 0)
		return r;
	r = replace_file(path, after);
	if (r < 0)
		return r;
	*ret_undo = steal_pointer(undo);
	return 0;
}

int override_restore(const struct override_undo *undo)
{
	return replace_file(undo->path, undo->before);
}

struct override_undo *override_undo_free(struct override_undo *undo)
{
	if (undo) {
		free(undo->path);
		free(undo->before);
		free(undo);
	}
	return NULL;
}

void override_undo_freep(struct override_undo **undo)
{
	override_undo_free(*undo);
}
