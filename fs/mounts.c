/* SPDX-License-Identifier: MIT */
#include "mounts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Undoes the kernel's octal escapes ("\040") in place. */
static void unescape(char *text)
{
	char *out = text;

	while (*text) {
		if (text[0] == '\\' && text[1] >= '0' && text[1] <= '3' && text[2] >= '0' &&
			text[2] <= '7' && text[3] >= '0' && text[3] <= '7') {
			*out++ = (char)((text[1] - '0') * 64 + (text[2] - '0') * 8 +
					(text[3] - '0'));
			text += 4;
		} else {
			*out++ = *text++;
		}
	}
	*out = '\0';
}

/* The field-th word (from 0) of a line of words; NULL: fewer. Modifies the line's copy. */
static char *word(char *line, unsigned field)
{
	char *rest = line, *found = NULL;

	for (unsigned i = 0; i <= field; i++) {
		found = strsep(&rest, " ");
		if (!found)
			return NULL;
	}
	return found;
}

static uid_t parse_owner(const char *options)
{
	const char *found = strstr(options, "user_id=");

	return found ? (uid_t)strtoul(found + strlen("user_id="), NULL, 10) : 0;
}

/* The fields behind " - ": type, source, super options. */
static int parse_line(char *line, struct mounts *mounts)
{
	char *tail = strstr(line, " - ");
	char *mountpoint, *source, *options;
	struct mounts_entry entry = { 0 };

	if (!tail)
		return 0;
	*tail = '\0';
	tail += 3;
	mountpoint = word(line, 4);
	strsep(&tail, " ");
	source = strsep(&tail, " ");
	options = tail ? tail : (char[]){ "" };
	if (!mountpoint || !source || !string_has_prefix(source, "gldriverfs:"))
		return 0;
	source += strlen("gldriverfs:");
	unescape(source);
	unescape(mountpoint);
	if (array_grow(&mounts->items, &mounts->capacity, mounts->count, sizeof(*mounts->items)) <
		0)
		return -ENOMEM;
	entry.name = strdup(source);
	entry.mountpoint = strdup(mountpoint);
	entry.owner = parse_owner(options);
	mounts->items[mounts->count++] = entry;
	return entry.name && entry.mountpoint ? 0 : -ENOMEM;
}

int mounts_parse(const char *text, struct mounts *ret_mounts)
{
	_cleanup_(freep) char *copy = strdup(text);
	struct mounts mounts = { 0 };
	char *rest = copy, *line;

	if (!copy)
		return -ENOMEM;
	while ((line = strsep(&rest, "\n"))) {
		if (parse_line(line, &mounts) < 0) {
			mounts_clear(&mounts);
			return -ENOMEM;
		}
	}
	*ret_mounts = mounts;
	return 0;
}

int mounts_read(struct mounts *ret_mounts)
{
	_cleanup_(freep) char *text = NULL;
	FILE *file = fopen("/proc/self/mountinfo", "re");
	size_t size = 0;
	ssize_t length;
	int r;

	if (!file)
		return -errno;
	length = getdelim(&text, &size, '\0', file);
	r = ferror(file) ? -EIO : 0;
	fclose(file);
	if (r < 0)
		return r;
	return mounts_parse(length > 0 ? text : "", ret_mounts);
}

void mounts_clear(struct mounts *mounts)
{
	for (size_t i = 0; i < mounts->count; i++) {
		free(mounts->items[i].name);
		free(mounts->items[i].mountpoint);
	}
	free(mounts->items);
	*mounts = (struct mounts){ 0 };
}
