/* SPDX-License-Identifier: MIT */
#include "holders.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "util.h"

#define NAMED_MAX 10

/* A line of maps: "from-to perms offset major:minor inode path". */
static bool line_is_of(const char *line, dev_t device)
{
	unsigned device_major, device_minor;

	return sscanf(line, "%*s %*s %*s %x:%x", &device_major, &device_minor) == 2 &&
	       makedev(device_major, device_minor) == device;
}

static bool has_mapped(const char *pid, dev_t device)
{
	char path[64], *line = NULL;
	size_t size = 0;
	bool found = false;
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%.20s/maps", pid);
	maps = fopen(path, "re");
	while (maps && !found && getline(&line, &size, maps) > 0)
		found = line_is_of(line, device);
	free(line);
	if (maps)
		fclose(maps);
	return found;
}

/* The process' short name; its control characters are not the log's. */
static void read_name(const char *pid, char *name, size_t size)
{
	char path[64];
	FILE *comm;

	snprintf(name, size, "?");
	snprintf(path, sizeof(path), "/proc/%.20s/comm", pid);
	comm = fopen(path, "re");
	if (!comm)
		return;
	if (fgets(name, (int)size, comm))
		name[strcspn(name, "\n")] = '\0';
	for (char *c = name; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			*c = '?';
	fclose(comm);
}

static int add(char **text, const char *item)
{
	char *longer = string_format("%s%s%s", *text, **text ? ", " : "", item);

	if (!longer)
		return -1;
	free(*text);
	*text = longer;
	return 0;
}

char *holders_text(dev_t device)
{
	_cleanup_(freep) char *text = strdup("");
	DIR *processes = opendir("/proc");
	struct dirent *entry;
	char name[32], item[64];
	size_t count = 0;
	int error = text ? 0 : -1;

	while (error == 0 && processes && (entry = readdir(processes))) {
		if (entry->d_name[0] < '0' || entry->d_name[0] > '9' ||
			!has_mapped(entry->d_name, device) || ++count > NAMED_MAX)
			continue;
		read_name(entry->d_name, name, sizeof(name));
		snprintf(item, sizeof(item), "%s (%.20s)", name, entry->d_name);
		error = add(&text, item);
	}
	if (processes)
		closedir(processes);
	if (error == 0 && count > NAMED_MAX) {
		snprintf(item, sizeof(item), "%zu more", count - NAMED_MAX);
		error = add(&text, item);
	}
	return error == 0 ? steal_pointer(text) : NULL;
}
