/* SPDX-License-Identifier: MIT */
#include "mount.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "deadmount.h"
#include "fusermount.h"
#include "mountinfo.h"

/* Why the last component cannot be covered, in words. Returns -errno. */
static int refuse(const char *path, int error, struct diag_list *diags)
{
	struct stat st;

	if (error == ENOTDIR && lstat(path, &st) == 0 && S_ISLNK(st.st_mode))
		diag_add(diags, DIAG_ERROR, NULL, 0,
			"the mountpoint %s is a link: what it points to would be covered; name the "
			"directory itself, or replace the link by a directory",
			path);
	else if (error == ENOTDIR)
		diag_add(diags, DIAG_ERROR, NULL, 0, "the mountpoint %s is not a directory", path);
	else if (error == ENOENT)
		diag_add(diags, DIAG_ERROR, NULL, 0,
			"the mountpoint %s does not exist; make the directory first", path);
	else
		diag_add(
			diags, DIAG_ERROR, NULL, 0, "the mountpoint %s: %s", path, strerror(error));
	return -error;
}

/* The path behind a descriptor. Returns 0 or -errno. */
static int canonical_path(int fd, char **ret_path)
{
	char link[64], path[PATH_MAX];
	ssize_t length;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	length = readlink(link, path, sizeof(path) - 1);
	if (length < 0)
		return -errno;
	path[length] = '\0';
	*ret_path = strdup(path);
	return *ret_path ? 0 : -ENOMEM;
}

static int unmount(const char *path, bool lazy)
{
	if (umount2(path, UMOUNT_NOFOLLOW | (lazy ? MNT_DETACH : 0)) == 0)
		return 0;
	if (errno != EPERM)
		return -errno;
	return fusermount_unmount(path, lazy);
}

static int say_served(const char *path, const char *instance, struct diag_list *diags)
{
	diag_add(diags, DIAG_ERROR, NULL, 0, "%s is already served by the gldriverfs instance %s",
		path, instance);
	return -EBUSY;
}

/* A mount of ours on the path: live is refused, dead (its daemon was killed) is detached, so that
 * the directory under it shows again. Returns 0, 1: one was detached, -EBUSY, or -errno. */
static int clear_dead_mount(const char *path, struct diag_list *diags)
{
	_cleanup_(mountinfo_clear) struct mountinfo info = { 0 };
	const struct mountinfo_entry *entry;
	int error = mountinfo_read(&info);

	if (error < 0)
		return error;
	entry = mountinfo_at(&info, path);
	if (!entry || !mountinfo_instance(entry))
		return 0;
	error = deadmount_ask(path);
	if (error == DEADMOUNT_ALIVE)
		return say_served(path, mountinfo_instance(entry), diags);
	if (error != DEADMOUNT_DEAD) {
		diag_add(diags, DIAG_ERROR, NULL, 0,
			"%s is a mount of uid %u (%s) that does not answer: unmount it first", path,
			entry->owner, entry->source);
		return error < 0 ? error : -EBUSY;
	}
	error = unmount(path, true);
	if (error < 0) {
		diag_add(diags, DIAG_ERROR, NULL, 0,
			"%s is a dead mount that cannot be detached: %s", path, strerror(-error));
		return error;
	}
	diag_add(diags, DIAG_WARNING, NULL, 0, "%s was a dead mount of an earlier daemon: detached",
		path);
	return 1;
}

/* Lets go of the descriptor and the path. */
static void mountpoint_release(struct mountpoint *point)
{
	closep(&point->fd);
	free(point->path);
	point->fd = -1;
	point->path = NULL;
}

int mountpoint_open(
	const char *path, bool make, struct mountpoint *ret_point, struct diag_list *diags)
{
	_cleanup_(mountpoint_clear) struct mountpoint point = { .fd = -1 };
	int cleared;

	if (make)
		(void)mkdir(path, 0755);
	do {
		mountpoint_release(&point);
		point.fd = open(path, O_PATH | O_NOFOLLOW | O_DIRECTORY | O_CLOEXEC);
		if (point.fd < 0)
			return refuse(path, errno, diags);
		cleared = canonical_path(point.fd, &point.path);
		if (cleared < 0)
			return refuse(path, -cleared, diags);
		cleared = clear_dead_mount(point.path, diags);
		if (cleared < 0)
			return cleared;
	} while (cleared == 1);
	*ret_point = point;
	point = (struct mountpoint){ .fd = -1 };
	return 0;
}

void mountpoint_clear(struct mountpoint *point)
{
	mountpoint_release(point);
	*point = (struct mountpoint){ .fd = -1 };
}

/* mount(2) through the descriptor: nobody can put something else at the path in between. Returns
 * the /dev/fuse descriptor or -errno. */
static int mount_directly(
	const struct mountpoint *point, const char *source, const struct mount_request *request)
{
	_cleanup_(closep) int fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	char target[64], options[160];
	int error;

	if (fd < 0)
		return -errno;
	error = request->opened ? request->opened(request->context, fd) : 0;
	if (error < 0)
		return error;
	snprintf(target, sizeof(target), "/proc/self/fd/%d", point->fd);
	snprintf(options, sizeof(options),
		"fd=%d,rootmode=40000,user_id=%u,group_id=%u,default_permissions%s", fd, geteuid(),
		getegid(), request->allow_other ? ",allow_other" : "");
	if (mount(source, target, "fuse.gldriverfs", MS_RDONLY | MS_NOSUID | MS_NODEV, options) < 0)
		return -errno;
	return steal_fd(&fd);
}

/* Our mount, whatever its path is by now; NULL: it is gone. */
static const struct mountinfo_entry *find_ours(
	const struct mountinfo *info, const struct mountpoint *point)
{
	for (size_t i = 0; i < info->count; i++)
		if (info->entries[i].id == point->id && info->entries[i].device == point->device &&
			mountinfo_instance(&info->entries[i]))
			return &info->entries[i];
	return NULL;
}

static int mount_by_helper(const struct mountpoint *point, const char *source, bool allow_other,
	struct diag_list *diags)
{
	_cleanup_(freep) char *escaped = fusermount_escape(source);
	_cleanup_(freep) char *options = NULL;

	if (escaped)
		options = string_format("ro,nosuid,nodev,default_permissions,fsname=%s,"
					"subtype=gldriverfs%s",
			escaped, allow_other ? ",allow_other" : "");
	return options ? fusermount_mount(point->path, options, diags) : -ENOMEM;
}

/* By the setuid helper, for the owner alone where nobody else is permitted. */
static int mount_helped(const struct mountpoint *point, const char *source,
	const struct mount_request *request, struct diag_list *diags)
{
	_cleanup_(diag_clear) struct diag_list refused = { 0 };
	int fd = mount_by_helper(point, source, request->allow_other, &refused);

	if (fd < 0 && fd != -ENOMEM && request->allow_other) {
		/* fusermount3 permits it only where /etc/fuse.conf has user_allow_other. */
		diag_clear(&refused);
		fd = mount_by_helper(point, source, false, &refused);
		if (fd >= 0)
			diag_add(diags, DIAG_WARNING, NULL, 0,
				"%s is mounted for its owner only: allow-other = yes needs "
				"user_allow_other in /etc/fuse.conf",
				point->path);
	}
	diag_append(diags, &refused);
	if (fd >= 0 && request->opened) {
		int error = request->opened(request->context, fd);

		if (error < 0) {
			close(fd);
			return error;
		}
	}
	return fd;
}

static int mount_somehow(const struct mountpoint *point, const char *source,
	const struct mount_request *request, struct diag_list *diags)
{
	int fd = mount_directly(point, source, request);

	if (fd >= 0)
		return fd;
	if (fd == -EPERM || (fd == -EACCES && geteuid() != 0))
		return mount_helped(point, source, request, diags);
	diag_add(diags, DIAG_ERROR, NULL, 0, "cannot mount on %s: %s%s", point->path, strerror(-fd),
		fd == -ENOENT || fd == -ENODEV ? " (is the kernel module fuse loaded?)" : "");
	return fd;
}

/* Mounts of killed daemons below another mount on the point: no path leads to them. */
struct covered {
	unsigned *ids;
	size_t count;
	size_t capacity;
};

static void covered_clear(struct covered *covered)
{
	free(covered->ids);
}

static bool is_covered(const struct covered *covered, unsigned id)
{
	for (size_t i = 0; i < covered->count; i++)
		if (covered->ids[i] == id)
			return true;
	return false;
}

/* Whether the mount has a daemon. This instance has its socket already: an earlier one of the name
 * is gone. */
static bool is_live(const struct mountinfo_entry *entry, const char *source)
{
	if (entry->owner == geteuid() && strcmp(entry->source, source) == 0)
		return false;
	return deadmount_has_listener(entry);
}

/* Notes those that are there before ours. Returns 0, -EBUSY: a live daemon's is there, or -errno.
 */
static int note_covered(const struct mountpoint *point, const char *source, struct covered *covered,
	struct diag_list *diags)
{
	_cleanup_(mountinfo_clear) struct mountinfo info = { 0 };
	int error = mountinfo_read(&info);

	for (size_t i = 0; error == 0 && i < info.count; i++) {
		const struct mountinfo_entry *entry = &info.entries[i];
		const char *instance = mountinfo_instance(entry);

		if (!instance || strcmp(entry->mountpoint, point->path) != 0)
			continue;
		if (mountinfo_at(&info, point->path) == entry || is_live(entry, source))
			return say_served(point->path, instance, diags);
		error = array_grow(
			&covered->ids, &covered->capacity, covered->count, sizeof(*covered->ids));
		if (error < 0)
			return error;
		covered->ids[covered->count++] = entry->id;
		diag_add(diags, DIAG_WARNING, NULL, 0,
			"below another mount on %s is a dead one of an earlier daemon: it stays "
			"there",
			point->path);
	}
	return error;
}

/* Of daemons that start at once the one whose mount is the lowest has the mountpoint. Notes which
 * mount is ours. Returns 0, -EBUSY: another's is there, or -errno. */
static int claim(struct mountpoint *point, const char *source, const struct covered *covered,
	struct diag_list *diags)
{
	_cleanup_(mountinfo_clear) struct mountinfo info = { 0 };
	int error = mountinfo_read(&info);

	if (error < 0)
		return error;
	for (size_t i = 0; i < info.count; i++) {
		const struct mountinfo_entry *entry = &info.entries[i];
		const char *instance = mountinfo_instance(entry);

		if (!instance || strcmp(entry->mountpoint, point->path) != 0 ||
			is_covered(covered, entry->id))
			continue;
		if (strcmp(entry->source, source) != 0)
			return say_served(point->path, instance, diags);
		point->device = entry->device;
		point->id = entry->id;
		return 0;
	}
	return 0;
}

int mount_start(
	struct mountpoint *point, const struct mount_request *request, struct diag_list *diags)
{
	_cleanup_(freep) char *source = string_format("gldriverfs:%s", request->name);
	_cleanup_(covered_clear) struct covered covered = { 0 };
	_cleanup_(closep) int fd = -1;
	int error;

	if (!source)
		return -ENOMEM;
	error = note_covered(point, source, &covered, diags);
	if (error < 0)
		return error;
	fd = mount_somehow(point, source, request, diags);
	if (fd < 0)
		return fd;
	error = claim(point, source, &covered, diags);
	if (error == 0 && point->device == 0)
		error = -ENOENT; /* the directory was moved meanwhile */
	if (error < 0) {
		unmount(point->path, true);
		return error;
	}
	return steal_fd(&fd);
}

int mount_find(struct mountpoint *point, const char *name)
{
	_cleanup_(mountinfo_clear) struct mountinfo info = { 0 };
	const struct mountinfo_entry *entry;
	int error = mountinfo_read(&info);

	if (error < 0)
		return error;
	entry = mountinfo_at(&info, point->path);
	if (!entry || !string_equal(mountinfo_instance(entry), name))
		return -ENOENT;
	point->device = entry->device;
	point->id = entry->id;
	return 0;
}

int mount_stop(struct mountpoint *point, bool *ret_lazy)
{
	_cleanup_(mountinfo_clear) struct mountinfo info = { 0 };
	const struct mountinfo_entry *ours;
	int error;

	*ret_lazy = false;
	if (point->device == 0)
		return 0;
	error = mountinfo_read(&info);
	if (error < 0)
		return error;
	ours = find_ours(&info, point);
	if (!ours)
		return 0; /* unmounted from outside */
	if (mountinfo_at(&info, ours->mountpoint) != ours)
		return -EBUSY;
	error = unmount(ours->mountpoint, false);
	if (error == -EBUSY) {
		*ret_lazy = true;
		error = unmount(ours->mountpoint, true);
	}
	if (error == 0)
		point->device = 0;
	return error;
}
