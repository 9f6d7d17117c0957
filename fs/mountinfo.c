/* SPDX-License-Identifier: MIT */
#include "mountinfo.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/* Undoes the kernel's \040 for a space and the like, in place. */
static void unescape(char *text)
{
	char *out = text;

	for (const char *in = text; *in; out++) {
		if (in[0] == '\\' && in[1] >= '0' && in[1] <= '3' && in[2] >= '0' && in[2] <= '7' &&
			in[3] >= '0' && in[3] <= '7') {
			*out = (char)((in[1] - '0') * 64 + (in[2] - '0') * 8 + (in[3] - '0'));
			in += 4;
		} else {
			*out = *in++;
		}
	}
	*out = '\0';
}

static uid_t owner_of(const char *super_options)
{
	const char *found = super_options ? strstr(super_options, "user_id=") : NULL;

	return found ? (uid_t)strtoul(found + strlen("user_id="), NULL, 10) : 0;
}

/* The tags from `tags` to `end`: "shared:1 master:2", in any order. */
static bool is_shared(const char *tags, const char *end)
{
	const char *found = strstr(tags, "shared:");

	return found && found < end;
}

/* One line: "36 35 98:0 /root /mountpoint options [tags] - type source super-options". Returns 0,
 * -EINVAL, or -ENOMEM. */
static int parse_line(char *line, struct mountinfo *info)
{
	char *fields[6];
	char *rest = line, *type, *source, *tail;
	struct mountinfo_entry entry = { 0 };
	unsigned major_number, minor_number;

	entry.id = (unsigned)strtoul(line, NULL, 10);
	for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
		fields[i] = strsep(&rest, " ");
		if (!rest)
			return -EINVAL;
	}
	tail = strncmp(rest, "- ", 2) == 0 ? rest : strstr(rest, " - ");
	if (!tail || sscanf(fields[2], "%u:%u", &major_number, &minor_number) != 2)
		return -EINVAL;
	entry.shared = is_shared(rest, tail);
	tail += tail[0] == '-' ? 2 : 3;
	type = strsep(&tail, " ");
	source = strsep(&tail, " ");
	if (!source)
		return -EINVAL;
	unescape(fields[4]);
	unescape(source);
	entry.device = makedev(major_number, minor_number);
	entry.is_fuse = string_has_prefix(type, "fuse");
	entry.owner = owner_of(tail);
	entry.mountpoint = strdup(fields[4]);
	entry.source = strdup(source);
	if (!entry.mountpoint || !entry.source ||
		array_grow(&info->entries, &info->capacity, info->count, sizeof(entry)) < 0) {
		free(entry.mountpoint);
		free(entry.source);
		return -ENOMEM;
	}
	info->entries[info->count++] = entry;
	return 0;
}

int mountinfo_parse(const char *text, struct mountinfo *ret_info)
{
	_cleanup_(mountinfo_clear) struct mountinfo info = { 0 };
	_cleanup_(freep) char *copy = strdup(text);
	char *rest = copy, *line;

	if (!copy)
		return -ENOMEM;
	while ((line = strsep(&rest, "\n")))
		if (parse_line(line, &info) == -ENOMEM)
			return -ENOMEM;
	*ret_info = info;
	info = (struct mountinfo){ 0 };
	return 0;
}

int mountinfo_read(struct mountinfo *ret_info)
{
	_cleanup_(closep) int fd = open("/proc/thread-self/mountinfo", O_RDONLY | O_CLOEXEC);
	_cleanup_(freep) char *text = NULL;
	size_t size = 0, capacity = 16384;

	if (fd < 0)
		return -errno;
	for (;;) {
		char *grown = realloc(text, capacity);
		ssize_t got;

		if (!grown)
			return -ENOMEM;
		text = grown;
		got = read(fd, text + size, capacity - size - 1);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (got == 0)
			break;
		size += (size_t)got;
		if (size + 1 == capacity)
			capacity *= 2;
	}
	text[size] = '\0';
	return mountinfo_parse(text, ret_info);
}

void mountinfo_clear(struct mountinfo *info)
{
	for (size_t i = 0; i < info->count; i++) {
		free(info->entries[i].mountpoint);
		free(info->entries[i].source);
	}
	free(info->entries);
	*info = (struct mountinfo){ 0 };
}

const struct mountinfo_entry *mountinfo_at(const struct mountinfo *info, const char *path)
{
	for (size_t i = info->count; i > 0; i--)
		if (strcmp(info->entries[i - 1].mountpoint, path) == 0)
			return &info->entries[i - 1];
	return NULL;
}

const char *mountinfo_instance(const struct mountinfo_entry *entry)
{
	static const char prefix[] = "gldriverfs:";

	return string_has_prefix(entry->source, prefix) ? entry->source + strlen(prefix) : NULL;
}
