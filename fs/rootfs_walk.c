/* SPDX-License-Identifier: MIT */
/* rootfs: the walk. One component at a time with O_PATH|O_NOFOLLOW, links read and taken by us: no
 * openat2(2), which qemu-user and older seccomp filters do not let through. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "rootfs.h"
#include "touched.h"
#include "util.h"

#ifndef FUSE_SUPER_MAGIC /* linux/magic.h before 5.13 */
#define FUSE_SUPER_MAGIC 0x65735546
#endif

#define LOOKS_MAX 4  /* at a name that changes while it is looked at */
#define LINKS_MAX 40 /* as the kernel's MAXSYMLINKS */

struct walk {
	const struct rootfs_avoid *avoid;
	struct rootfs_node at;
	bool fd_borrowed;
	char *rest; /* what is still to be walked; NULL or "": nothing */
	char *text; /* the memory that rest points into */
	unsigned links;
};

static void walk_clear(struct walk *walk)
{
	if (walk->fd_borrowed)
		walk->at.fd = -1;
	rootfs_node_clear(&walk->at);
	free(walk->text);
}

void rootfs_node_clear(struct rootfs_node *node)
{
	closep(&node->fd);
	rootfs_unref(node->root);
	free(node->path);
	free(node->untrusted);
	*node = (struct rootfs_node){ .fd = -1 };
}

/* Device, type and mode without asking a server: a mount of ours must not be asked anything. */
static int stat_quietly(int fd, struct stat *ret_stat)
{
	struct statx from;

	if (statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_BASIC_STATS, &from) < 0)
		return fstat(fd, ret_stat) < 0 ? -errno : 0;
	*ret_stat = (struct stat){
		.st_dev = makedev(from.stx_dev_major, from.stx_dev_minor),
		.st_ino = from.stx_ino,
		.st_mode = from.stx_mode,
		.st_nlink = from.stx_nlink,
		.st_uid = from.stx_uid,
		.st_gid = from.stx_gid,
		.st_size = (off_t)from.stx_size,
		.st_blocks = (blkcnt_t)from.stx_blocks,
		.st_mtim = { from.stx_mtime.tv_sec, from.stx_mtime.tv_nsec },
		.st_ctim = { from.stx_ctime.tv_sec, from.stx_ctime.tv_nsec },
	};
	return 0;
}

static int stat_checked(const struct walk *walk, int fd, struct stat *ret_stat)
{
	int result = stat_quietly(fd, ret_stat);

	if (result < 0 || !walk->avoid)
		return result;
	for (size_t i = 0; i < walk->avoid->count; i++)
		if (walk->avoid->devices[i] == ret_stat->st_dev)
			return -EREMOTE;
	return 0;
}

static bool writable_by_others(const struct stat *stat)
{
	return stat->st_mode & (S_IWGRP | S_IWOTH);
}

static bool is_sticky_directory(const struct stat *stat)
{
	return S_ISDIR(stat->st_mode) && stat->st_mode & S_ISVTX;
}

/* Notes `path` as replaceable by others unless something before it is. */
static int distrust(struct walk *walk, const char *path)
{
	if (walk->at.untrusted)
		return 0;
	walk->at.untrusted = rootfs_real_path(walk->at.root, path);
	if (walk->at.untrusted && !*walk->at.untrusted) {
		free(walk->at.untrusted);
		walk->at.untrusted = strdup("/");
	}
	return walk->at.untrusted ? 0 : -ENOMEM;
}

/* Whether a user's server answers for the file. One that the list does not have was mounted since:
 * asked for where the walk has come to another device. */
static bool is_users_fuse(const struct walk *walk, bool crossed)
{
	const struct rootfs_avoid *avoid = walk->avoid;
	struct statfs fs;

	if (!avoid)
		return false;
	for (size_t i = 0; i < avoid->n_fuse; i++)
		if (avoid->fuse[i].device == walk->at.stat.st_dev)
			return avoid->fuse[i].owner != 0;
	return crossed && fstatfs(walk->at.fd, &fs) == 0 && fs.f_type == FUSE_SUPER_MAGIC;
}

/* Stands on a file or directory that was entered: path and stat are its own. */
static int judge(struct walk *walk, bool crossed)
{
	const struct stat *stat = &walk->at.stat;

	if (!is_users_fuse(walk, crossed) && stat->st_uid == 0 &&
		(!writable_by_others(stat) || is_sticky_directory(stat)))
		return 0;
	return distrust(walk, walk->at.path);
}

/* In a sticky directory only its owner can replace a name: a link's owner counts too. Anybody can
 * have made a hard link to root's file there. */
static int judge_name(struct walk *walk, const struct stat *name)
{
	bool linked = !S_ISDIR(name->st_mode) && name->st_nlink > 1;

	if (!writable_by_others(&walk->at.stat) || (name->st_uid == 0 && !linked))
		return 0;
	return distrust(walk, walk->at.path);
}

static void take_fd(struct walk *walk, int fd)
{
	if (!walk->fd_borrowed)
		closep(&walk->at.fd);
	walk->fd_borrowed = false;
	walk->at.fd = fd;
}

/* Stands at the top of `root` (a reference is taken). */
static int restart_at(struct walk *walk, struct rootfs *root)
{
	char *path = strdup("/");
	int result;

	if (!path)
		return -ENOMEM;
	rootfs_ref(root);
	rootfs_unref(walk->at.root);
	walk->at.root = root;
	free(walk->at.path);
	walk->at.path = path;
	take_fd(walk, root->fd);
	walk->fd_borrowed = true;
	if (root->untrusted && !walk->at.untrusted) {
		walk->at.untrusted = strdup(root->untrusted);
		if (!walk->at.untrusted)
			return -ENOMEM;
	}
	result = stat_checked(walk, root->fd, &walk->at.stat);
	return result < 0 ? result : judge(walk, false);
}

/* Puts `before` in front of what is still to be walked. */
static int push(struct walk *walk, const char *before)
{
	char *text = string_format("%s/%s", before, walk->rest ? walk->rest : "");

	if (!text)
		return -ENOMEM;
	/* A link as the last component must not gain a '/', which asks for a directory. */
	if (!walk->rest || !*walk->rest)
		text[strlen(text) - 1] = '\0';
	free(walk->text);
	walk->text = walk->rest = text;
	return 0;
}

static int go_up(struct walk *walk)
{
	struct rootfs *root = walk->at.root;
	char *slash;
	int fd;

	if (strcmp(walk->at.path, "/") == 0) {
		const char *inside;
		_cleanup_(freep) char *up = NULL;
		int result;

		if (!root->outer)
			return 0;
		inside = root->prefix + strlen(root->outer->prefix);
		up = string_format("%s/..", inside);
		if (!up)
			return -ENOMEM;
		result = push(walk, up);
		return result < 0 ? result : restart_at(walk, root->outer);
	}
	fd = openat(walk->at.fd, "..", O_PATH | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	take_fd(walk, fd);
	slash = strrchr(walk->at.path, '/');
	slash[slash == walk->at.path] = '\0';
	return stat_checked(walk, fd, &walk->at.stat);
}

static int follow(struct walk *walk, int link_fd)
{
	char text[PATH_MAX];
	ssize_t length = readlinkat(link_fd, "", text, sizeof(text));
	int result;

	if (length < 0)
		return -errno;
	if (length == 0)
		return -ENOENT;
	if ((size_t)length >= sizeof(text))
		return -ENAMETOOLONG;
	text[length] = '\0';
	if (++walk->links > LINKS_MAX)
		return -ELOOP;
	result = push(walk, text);
	if (result < 0 || text[0] != '/')
		return result;
	return restart_at(walk, walk->at.root->outer ? walk->at.root->outer : walk->at.root);
}

/* Returns the descriptor or -errno. */
static int look(struct walk *walk, const char *name, struct stat *ret_stat)
{
	_cleanup_(closep) int fd = openat(walk->at.fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	int result = fd < 0 ? -errno : stat_checked(walk, fd, ret_stat);

	return result < 0 ? result : steal_fd(&fd);
}

static char *path_below(const struct walk *walk, const char *name)
{
	return string_format("%s/%s", walk->at.path[1] ? walk->at.path : "", name);
}

/* Looks again where what was seen is watched only since. */
static int look_watched(
	struct walk *walk, const char *name, struct touched *touched, struct stat *ret_stat)
{
	for (unsigned tries = 0;; tries++) {
		_cleanup_(freep) char *path = path_below(walk, name);
		_cleanup_(closep) int fd = look(walk, name, ret_stat);
		struct rootfs_node below = { fd, walk->at.root, path, *ret_stat, NULL };
		int error = fd;
		bool again;

		if (!path)
			return -ENOMEM;
		if (fd >= 0 && S_ISDIR(ret_stat->st_mode))
			again = touched_directory(touched, &below);
		else
			again = error != -EREMOTE && touched_name(touched, &walk->at, name);
		if (!again || tries == LOOKS_MAX)
			return fd < 0 ? error : steal_fd(&fd);
	}
}

static int enter(struct walk *walk, const char *name)
{
	struct touched *touched = walk->avoid ? walk->avoid->touched : NULL;
	_cleanup_(closep) int fd = -1;
	struct stat stat = { 0 };
	bool crossed;
	char *path;
	int result;

	fd = touched ? look_watched(walk, name, touched, &stat) : look(walk, name, &stat);
	if (fd < 0)
		return fd;
	result = judge_name(walk, &stat);
	if (result < 0)
		return result;
	if (S_ISLNK(stat.st_mode))
		return follow(walk, fd);
	if (walk->avoid && walk->avoid->has_covered && stat.st_dev == walk->avoid->covered_dev &&
		stat.st_ino == walk->avoid->covered_ino)
		return -EREMOTE;
	if (S_ISREG(stat.st_mode))
		touched_content(touched, &walk->at);
	path = path_below(walk, name);
	if (!path)
		return -ENOMEM;
	free(walk->at.path);
	walk->at.path = path;
	crossed = walk->at.stat.st_dev != stat.st_dev;
	walk->at.stat = stat;
	take_fd(walk, steal_fd(&fd));
	return judge(walk, crossed);
}

static int step(struct walk *walk)
{
	char name[NAME_MAX + 1];
	size_t length;

	walk->rest += strspn(walk->rest, "/");
	length = strcspn(walk->rest, "/");
	if (length > NAME_MAX)
		return -ENAMETOOLONG;
	/* What stands behind a '/' is asked of a directory, be it nothing. */
	if (!S_ISDIR(walk->at.stat.st_mode))
		return -ENOTDIR;
	memcpy(name, walk->rest, length);
	name[length] = '\0';
	walk->rest += length;
	if (length == 0 || strcmp(name, ".") == 0)
		return 0;
	return strcmp(name, "..") == 0 ? go_up(walk) : enter(walk, name);
}

static int walk_rest(struct walk *walk, struct rootfs_node *ret_node)
{
	while (walk->rest && *walk->rest) {
		int result = step(walk);

		if (result < 0)
			return result;
	}
	if (walk->fd_borrowed) {
		int fd = fcntl(walk->at.fd, F_DUPFD_CLOEXEC, 3);

		if (fd < 0)
			return -errno;
		walk->at.fd = fd;
		walk->fd_borrowed = false;
	}
	*ret_node = walk->at;
	walk->at = (struct rootfs_node){ .fd = -1 };
	return 0;
}

int rootfs_walk(struct rootfs *root, const char *path, const struct rootfs_avoid *avoid,
	struct rootfs_node *ret_node)
{
	_cleanup_(walk_clear) struct walk walk = { .avoid = avoid, .at.fd = -1 };
	int result;

	if (path[0] != '/')
		return path[0] ? -EINVAL : -ENOENT;
	result = restart_at(&walk, root);
	if (result == 0)
		result = push(&walk, path);
	return result < 0 ? result : walk_rest(&walk, ret_node);
}

int rootfs_walk_at(const struct rootfs_node *directory, const char *name,
	const struct rootfs_avoid *avoid, struct rootfs_node *ret_node)
{
	_cleanup_(walk_clear) struct walk walk = { .avoid = avoid, .at.fd = -1 };

	if (!*name || strchr(name, '/'))
		return -EINVAL;
	walk.at.fd = directory->fd;
	walk.fd_borrowed = true;
	walk.at.stat = directory->stat;
	walk.at.root = rootfs_ref(directory->root);
	walk.at.path = strdup(directory->path);
	walk.at.untrusted = directory->untrusted ? strdup(directory->untrusted) : NULL;
	if (!walk.at.path || (directory->untrusted && !walk.at.untrusted))
		return -ENOMEM;
	return push(&walk, name) < 0 ? -ENOMEM : walk_rest(&walk, ret_node);
}

void rootfs_touch(struct rootfs *root, const char *path, struct touched *touched)
{
	const struct rootfs_avoid avoid = { .touched = touched };
	struct rootfs_node node = { .fd = -1 };

	if (touched && rootfs_walk(root, path, &avoid, &node) == 0)
		rootfs_node_clear(&node);
}
