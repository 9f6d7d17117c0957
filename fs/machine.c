/* SPDX-License-Identifier: MIT */
#include "machine.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

/* A part of a text that has no NUL at its end. */
struct span {
	const char *text;
	size_t size;
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static struct span trim(struct span span)
{
	while (span.size && is_blank(*span.text)) {
		span.text++;
		span.size--;
	}
	while (span.size && is_blank(span.text[span.size - 1]))
		span.size--;
	return span;
}

/* Takes the next line, without its line break, off the rest. False: there is none. */
static bool next_line(struct span *rest, struct span *ret_line)
{
	const char *end;
	size_t size;

	if (rest->size == 0)
		return false;
	end = memchr(rest->text, '\n', rest->size);
	size = end ? (size_t)(end - rest->text) : rest->size;
	*ret_line = (struct span){ rest->text, size };
	size += end != NULL;
	rest->text += size;
	rest->size -= size;
	return true;
}

/* Takes `word` off the start, if it is there. */
static bool skip(struct span *span, const char *word)
{
	size_t size = strlen(word);

	if (span->size < size || memcmp(span->text, word, size) != 0)
		return false;
	span->text += size;
	span->size -= size;
	return true;
}

static bool equals(struct span span, const char *word)
{
	return skip(&span, word) && span.size == 0;
}

/* Length of the dotted number at the start ("36.4.7", "36"), and of how many parts. */
static size_t dotted(struct span span, size_t *ret_parts)
{
	size_t at = 0, parts = 0;

	while (at < span.size && is_digit(span.text[at])) {
		while (at < span.size && is_digit(span.text[at]))
			at++;
		parts++;
		if (at + 1 >= span.size || span.text[at] != '.' || !is_digit(span.text[at + 1]))
			break;
		at++;
	}
	*ret_parts = parts;
	return at;
}

static int copy(struct span span, char *buffer, size_t size)
{
	if (span.size == 0 || span.size >= size)
		return -ENOENT;
	memcpy(buffer, span.text, span.size);
	buffer[span.size] = '\0';
	return 0;
}

/* "# R36 (release), REVISION: 4.7, …" */
static int parse_release_line(struct span line, char l4t[MACHINE_WORD])
{
	struct span release, revision;
	size_t parts;

	line = trim(line);
	if (!skip(&line, "#"))
		return -ENOENT;
	line = trim(line);
	if (!skip(&line, "R"))
		return -ENOENT;
	release = (struct span){ line.text, dotted(line, &parts) };
	if (parts != 1)
		return -ENOENT;
	line.text += release.size;
	line.size -= release.size;
	line = trim(line);
	if (!skip(&line, "(release),"))
		return -ENOENT;
	line = trim(line);
	if (!skip(&line, "REVISION:"))
		return -ENOENT;
	line = trim(line);
	revision = (struct span){ line.text, dotted(line, &parts) };
	if (parts == 0 || release.size + 1 + revision.size >= MACHINE_WORD)
		return -ENOENT;
	if (revision.size < line.size && line.text[revision.size] != ',' &&
		!is_blank(line.text[revision.size]))
		return -ENOENT;
	memcpy(l4t, release.text, release.size);
	l4t[release.size] = '.';
	return copy(revision, l4t + release.size + 1, MACHINE_WORD - release.size - 1);
}

int machine_parse_release(const char *text, size_t size, char l4t[MACHINE_WORD])
{
	struct span rest = { text, size }, line;

	while (next_line(&rest, &line))
		if (parse_release_line(line, l4t) == 0)
			return 0;
	return -ENOENT;
}

/* No "..", nothing that a path of a package would not have. */
static bool is_plain_path(struct span path)
{
	for (size_t i = 0; i < path.size; i++) {
		if ((unsigned char)path.text[i] <= ' ')
			return false;
		if (path.text[i] == '.' && i + 1 < path.size && path.text[i + 1] == '.' &&
			(i == 0 || path.text[i - 1] == '/') &&
			(i + 2 == path.size || path.text[i + 2] == '/'))
			return false;
	}
	return true;
}

int machine_parse_library_directory(const char *text, size_t size, char path[256])
{
	struct span rest = { text, size }, line;

	while (next_line(&rest, &line)) {
		line = trim(line);
		if (!skip(&line, "TARGET_USERSPACE_LIB_DIR_PATH="))
			continue;
		while (skip(&line, "/"))
			;
		while (line.size && line.text[line.size - 1] == '/')
			line.size--;
		if (line.size == 0 || line.size > 254 || !is_plain_path(line))
			return -ENOENT;
		path[0] = '/';
		return copy(line, path + 1, 255);
	}
	return -ENOENT;
}

int machine_parse_compatible(const char *text, size_t size, char soc[MACHINE_WORD])
{
	struct span rest = { text, size };

	while (rest.size) {
		const char *end = memchr(rest.text, '\0', rest.size);
		struct span word = { rest.text, end ? (size_t)(end - rest.text) : rest.size };
		struct span number;

		rest.text += word.size + (end != NULL);
		rest.size -= word.size + (end != NULL);
		if (!skip(&word, "nvidia,"))
			continue;
		number = word;
		if (skip(&number, "tegra") && number.size == 3 && is_digit(number.text[0]) &&
			is_digit(number.text[1]) && is_digit(number.text[2]))
			return copy(word, soc, MACHINE_WORD);
	}
	return -ENOENT;
}

/* "Name: value" of a package's paragraph; names match in any case. */
static bool is_field(struct span line, const char *name, struct span *ret_value)
{
	size_t size = strlen(name);

	if (line.size <= size || strncasecmp(line.text, name, size) != 0 || line.text[size] != ':')
		return false;
	*ret_value = trim((struct span){ line.text + size + 1, line.size - size - 1 });
	return true;
}

/* "install ok installed": its files are there. The first word is only what is wanted. */
static bool is_installed(struct span status)
{
	size_t at = status.size;

	while (at && !is_blank(status.text[at - 1]))
		at--;
	status.text += at;
	status.size -= at;
	return equals(status, "installed") || equals(status, "triggers-pending") ||
	       equals(status, "triggers-awaited");
}

/* "36.4.7-20250918154033" → "36.4.7". */
static int upstream_version(struct span version, char l4t[MACHINE_WORD])
{
	struct span number;
	size_t parts;

	number = (struct span){ version.text, dotted(version, &parts) };
	if (parts < 2 || (number.size < version.size && version.text[number.size] != '-'))
		return -ENOENT;
	return copy(number, l4t, MACHINE_WORD);
}

int machine_parse_dpkg(const char *text, size_t size, char l4t[MACHINE_WORD])
{
	static const char package[] = "nvidia-l4t-core";
	struct span rest = { text, size }, line, value, version = { 0 };
	bool wanted = false, installed = false;

	/* Most machines have thousands of packages, and not this one. */
	if (!memmem(text, size, package, sizeof(package) - 1))
		return -ENOENT;
	for (;;) {
		bool more = next_line(&rest, &line);

		if (!more || trim(line).size == 0) {
			if (wanted && installed && upstream_version(version, l4t) == 0)
				return 0;
			if (!more)
				return -ENOENT;
			wanted = installed = false;
			version = (struct span){ 0 };
		} else if (is_field(line, "Package", &value)) {
			wanted = equals(value, package);
		} else if (is_field(line, "Status", &value)) {
			installed = is_installed(value);
		} else if (is_field(line, "Version", &value)) {
			version = value;
		}
	}
}

/* The first word of the line that is a version of two parts or more. With `alone` the line must
 * hold nothing else. */
static int find_version(struct span line, bool alone, char version[MACHINE_WORD])
{
	for (line = trim(line); line.size; line = trim(line)) {
		struct span word = { line.text, 0 };
		size_t parts;

		while (word.size < line.size && !is_blank(line.text[word.size]))
			word.size++;
		if (dotted(word, &parts) == word.size && parts >= 2 && word.size < MACHINE_WORD &&
			(!alone || word.size == line.size))
			return copy(word, version, MACHINE_WORD);
		if (alone)
			return -ENOENT;
		line.text += word.size;
		line.size -= word.size;
	}
	return -ENOENT;
}

int machine_parse_kernel_driver(const char *text, size_t size, char version[MACHINE_WORD])
{
	struct span rest = { text, size }, line;

	for (bool first = true; next_line(&rest, &line); first = false) {
		if (skip(&line, "NVRM version:"))
			return find_version(line, false, version);
		/* /sys/module/nvidia/version is the number alone. */
		if (first && find_version(line, true, version) == 0)
			return 0;
	}
	return -ENOENT;
}

int machine_parse_gpu(const char *text, size_t size, char model[64])
{
	struct span rest = { text, size }, line, value;

	while (next_line(&rest, &line)) {
		if (!is_field(line, "Model", &value))
			continue;
		if (value.size > 63)
			value.size = 63;
		if (copy(value, model, 64) < 0)
			return -ENOENT;
		for (char *c = model; *c || c < model + value.size; c++)
			if (*c < ' ' || *c == 0x7f)
				*c = '?';
		return 0;
	}
	return -ENOENT;
}

/* The MAJOR.MINOR at the start of a component's rest: a dot, '-' or the end follows. */
static int cuda_version(struct span span, char cuda[MACHINE_WORD])
{
	size_t at = 0;

	for (int part = 0; part < 2; part++) {
		size_t begin = at;

		while (at < span.size && is_digit(span.text[at]))
			at++;
		if (at == begin || at - begin > 3)
			return -ENOENT;
		if (part == 0 && (at == span.size || span.text[at++] != '.'))
			return -ENOENT;
	}
	if (at < span.size && span.text[at] != '.' && span.text[at] != '-')
		return -ENOENT;
	return copy((struct span){ span.text, at }, cuda, MACHINE_WORD);
}

/* One component of the path; cuda_compat's own version goes before that of the package set. */
static int cuda_of_component(struct span component, char cuda[MACHINE_WORD])
{
	static const char *const words[] = { "cuda_compat-", "cuda-compat-", "cuda-", "cuda" };

	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		for (size_t at = 0; at < component.size; at++) {
			struct span rest = { component.text + at, component.size - at };

			if ((at == 0 || component.text[at - 1] == '-') && skip(&rest, words[i]) &&
				cuda_version(rest, cuda) == 0)
				return 0;
		}
	}
	return -ENOENT;
}

int machine_cuda_of_path(const char *path, char cuda[MACHINE_WORD])
{
	size_t end = strlen(path);

	/* The innermost component that tells. */
	while (end) {
		size_t begin = end;

		while (begin && path[begin - 1] != '/')
			begin--;
		if (cuda_of_component((struct span){ path + begin, end - begin }, cuda) == 0)
			return 0;
		end = begin ? begin - 1 : 0;
	}
	return -ENOENT;
}
