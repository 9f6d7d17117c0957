/* SPDX-License-Identifier: MIT */
#include "find.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mountinfo.h"
#include "names.h"

void find_target_clear(struct find_target *target)
{
	free(target->name);
	free(target->mountpoint);
	free(target->socket);
	*target = (struct find_target){ 0 };
}

/* The directory of a daemon's socket, or NULL: not reachable or no memory. */
static char *socket_directory(uid_t owner)
{
	const char *runtime_dir = getenv("XDG_RUNTIME_DIR");

	if (owner == 0)
		return strdup(NAMES_SYSTEM_DIRECTORY);
	if (owner == getuid())
		return runtime_dir && runtime_dir[0] == '/'
			       ? string_format("%s/gldriverfs", runtime_dir)
			       : NULL;
	return getuid() == 0 ? string_format("/run/user/%u/gldriverfs", owner) : NULL;
}

static int make_target(
	const char *name, const char *mountpoint, uid_t owner, struct find_target *ret_target)
{
	_cleanup_(freep) char *directory = socket_directory(owner);
	struct find_target target = { .owner = owner };

	if (!directory)
		return tool_fail(TOOL_NO_DAEMON,
			"the socket of %s (owner uid %u) is out of reach for uid %u%s",
			mountpoint ? mountpoint : name, owner, getuid(),
			owner == getuid() ? ": XDG_RUNTIME_DIR is not set" : "");
	target.name = strdup(name);
	target.mountpoint = mountpoint ? strdup(mountpoint) : NULL;
	target.socket = names_socket(directory, name);
	if (!target.name || !target.socket || (mountpoint && !target.mountpoint)) {
		find_target_clear(&target);
		return tool_fail(TOOL_FAILED, "out of memory");
	}
	*ret_target = target;
	return TOOL_DONE;
}

/* Absolute, without "//", "/./" and a '/' at the end; links are not followed: the mount itself may
 * be dead. */
static char *absolute_path(const char *path)
{
	_cleanup_(freep) char *here = path[0] == '/' ? strdup("") : getcwd(NULL, 0);
	_cleanup_(freep) char *whole = here ? string_format("%s/%s", here, path) : NULL;
	char *result = whole ? calloc(1, strlen(whole) + 2) : NULL;
	char *rest = whole, *end = result, *component;

	if (!result)
		return NULL;
	while ((component = strsep(&rest, "/"))) {
		if (!*component || strcmp(component, ".") == 0)
			continue;
		*end++ = '/';
		end = stpcpy(end, component);
	}
	return result;
}

static int target_of(const struct mountinfo_entry *entry, struct find_target *ret_target)
{
	return make_target(mountinfo_instance(entry), entry->mountpoint, entry->owner, ret_target);
}

static int find_by_mount(
	const struct mountinfo *mounts, const char *path, struct find_target *ret_target)
{
	_cleanup_(freep) char *wanted = absolute_path(path);
	const struct mountinfo_entry *entry;

	if (!wanted)
		return tool_fail(TOOL_FAILED, "out of memory");
	entry = mountinfo_at(mounts, wanted);
	if (!entry || !mountinfo_instance(entry))
		return tool_fail(TOOL_NO_DAEMON, "no gldriverfs is mounted at %s", wanted);
	return target_of(entry, ret_target);
}

/* The first mount of each instance with this owner (name NULL: of all names). Binds of one instance
 * count once. */
static size_t select_mounts(const struct mountinfo *mounts, uid_t owner, const char *name,
	const struct mountinfo_entry **ret_selected)
{
	size_t count = 0;

	for (size_t i = 0; i < mounts->count; i++) {
		const struct mountinfo_entry *entry = &mounts->entries[i];
		const char *instance = mountinfo_instance(entry);
		bool known = false;

		if (!instance || entry->owner != owner || (name && strcmp(instance, name) != 0))
			continue;
		for (size_t j = 0; j < count; j++)
			known |= strcmp(ret_selected[j]->source, entry->source) == 0;
		if (!known)
			ret_selected[count++] = entry;
	}
	return count;
}

static int say_several(const struct mountinfo_entry **selected, size_t count)
{
	tool_fail(TOOL_USAGE, "several daemons run; name one with --mount or --name:");
	for (size_t i = 0; i < count; i++)
		fprintf(stderr, "  --name %s  (%s)\n", mountinfo_instance(selected[i]),
			selected[i]->mountpoint);
	return TOOL_USAGE;
}

/* Without a mount in this name space: by the socket alone. */
static int find_by_socket(const char *name, struct find_target *ret_target)
{
	const uid_t owners[] = { getuid(), 0 };

	for (size_t i = 0; i < ARRAY_SIZE(owners); i++) {
		_cleanup_(freep) char *directory = socket_directory(owners[i]);
		_cleanup_(freep) char *socket = directory ? names_socket(directory, name) : NULL;

		if (socket && access(socket, F_OK) == 0)
			return make_target(name, NULL, owners[i], ret_target);
	}
	return tool_fail(TOOL_NO_DAEMON, "no gldriverfs daemon is running%s%s",
		strcmp(name, NAMES_DEFAULT) == 0 ? "" : " as ",
		strcmp(name, NAMES_DEFAULT) == 0 ? "" : name);
}

static int find_by_owner(
	const struct mountinfo *mounts, const char *name, struct find_target *ret_target)
{
	const uid_t owners[] = { getuid(), 0 };
	_cleanup_(freep) const struct mountinfo_entry **selected =
		calloc(mounts->count + 1, sizeof(*selected));

	if (!selected)
		return tool_fail(TOOL_FAILED, "out of memory");
	for (size_t i = 0; i < ARRAY_SIZE(owners); i++) {
		size_t count = select_mounts(mounts, owners[i], name, selected);

		if (count > 1)
			return say_several(selected, count);
		if (count == 1)
			return target_of(selected[0], ret_target);
	}
	return find_by_socket(name ? name : NAMES_DEFAULT, ret_target);
}

int find_daemon(const struct tool *tool, struct find_target *ret_target)
{
	struct mountinfo mounts = { 0 };
	int code;

	if (tool->name && !names_valid(tool->name))
		return tool_fail(TOOL_USAGE, "'%s' is no instance name", tool->name);
	if (mountinfo_read(&mounts) < 0)
		return tool_fail(TOOL_FAILED, "cannot read /proc/self/mountinfo");
	if (tool->mount)
		code = find_by_mount(&mounts, tool->mount, ret_target);
	else
		code = find_by_owner(&mounts, tool->name, ret_target);
	mountinfo_clear(&mounts);
	return code;
}
