/* SPDX-License-Identifier: MIT */
/* rootfs: the roots themselves, the devices to avoid, and opening what was walked; the walk is in
 * rootfs_walk.c. */
#include "rootfs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mountinfo.h"
#include "util.h"

/* Takes fd and prefix, also when it fails. */
static int root_new(int fd, char *prefix, struct rootfs *outer, struct rootfs **ret_root)
{
	struct rootfs *root = calloc(1, sizeof(*root));

	if (!root || !prefix) {
		free(root);
		free(prefix);
		close(fd);
		return -ENOMEM;
	}
	atomic_init(&root->references, 1);
	root->fd = fd;
	root->prefix = prefix;
	root->outer = outer ? rootfs_ref(outer) : NULL;
	*ret_root = root;
	return 0;
}

int rootfs_open(const char *path, struct rootfs **ret_root)
{
	_cleanup_(closep) int fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	_cleanup_(freep) char *prefix = NULL;

	if (fd < 0)
		return -errno;
	prefix = realpath(path, NULL);
	if (!prefix)
		return -errno;
	if (strcmp(prefix, "/") == 0)
		*prefix = '\0';
	return root_new(steal_fd(&fd), steal_pointer(prefix), NULL, ret_root);
}

int rootfs_open_node(const struct rootfs_node *node, struct rootfs **ret_root)
{
	_cleanup_(rootfs_unrefp) struct rootfs *root = NULL;
	int fd, result;

	if (!S_ISDIR(node->stat.st_mode))
		return -ENOTDIR;
	fd = fcntl(node->fd, F_DUPFD_CLOEXEC, 3);
	if (fd < 0)
		return -errno;
	result = root_new(fd, rootfs_real_path(node->root, node->path), NULL, &root);
	if (result < 0)
		return result;
	if (node->untrusted) {
		root->untrusted = strdup(node->untrusted);
		if (!root->untrusted)
			return -ENOMEM;
	}
	*ret_root = steal_pointer(root);
	return 0;
}

int rootfs_from_fd(int fd, const char *prefix, struct rootfs *outer, struct rootfs **ret_root)
{
	return root_new(fd, rootfs_real_path(outer, prefix), outer, ret_root);
}

void rootfs_reenter(struct rootfs *root)
{
	_cleanup_(closep) int fd =
		open(*root->prefix ? root->prefix : "/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct stat before, now;

	if (fd >= 0 && fstat(root->fd, &before) == 0 && fstat(fd, &now) == 0 &&
		before.st_dev == now.st_dev && before.st_ino == now.st_ino)
		(void)dup3(fd, root->fd, O_CLOEXEC);
}

struct rootfs *rootfs_ref(struct rootfs *root)
{
	atomic_fetch_add_explicit(&root->references, 1, memory_order_relaxed);
	return root;
}

struct rootfs *rootfs_unref(struct rootfs *root)
{
	if (!root || atomic_fetch_sub_explicit(&root->references, 1, memory_order_acq_rel) != 1)
		return NULL;
	close(root->fd);
	rootfs_unref(root->outer);
	free(root->prefix);
	free(root->untrusted);
	free(root);
	return NULL;
}

void rootfs_unrefp(struct rootfs **root)
{
	*root = rootfs_unref(*root);
}

char *rootfs_real_path(const struct rootfs *root, const char *path)
{
	if (strcmp(path, "/") == 0)
		path = "";
	return string_format("%s%s", root ? root->prefix : "", path);
}

int rootfs_avoid_ours(struct rootfs_avoid *ret_avoid)
{
	_cleanup_(mountinfo_clear) struct mountinfo mounts = { 0 };
	struct rootfs_avoid avoid = { 0 };
	int result = mountinfo_read(&mounts);

	if (result < 0)
		return result;
	avoid.devices = calloc(mounts.count + 1, sizeof(*avoid.devices));
	avoid.fuse = calloc(mounts.count + 1, sizeof(*avoid.fuse));
	if (!avoid.devices || !avoid.fuse) {
		rootfs_avoid_clear(&avoid);
		return -ENOMEM;
	}
	for (size_t i = 0; i < mounts.count; i++) {
		const struct mountinfo_entry *entry = &mounts.entries[i];

		if (mountinfo_instance(entry))
			avoid.devices[avoid.count++] = entry->device;
		else if (entry->is_fuse)
			avoid.fuse[avoid.n_fuse++] =
				(struct rootfs_fuse){ entry->device, entry->owner };
	}
	*ret_avoid = avoid;
	return 0;
}

int rootfs_avoid_device(struct rootfs_avoid *avoid, dev_t device)
{
	dev_t *grown;

	if (device == 0)
		return 0;
	grown = realloc(avoid->devices, (avoid->count + 1) * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	grown[avoid->count++] = device;
	avoid->devices = grown;
	return 0;
}

void rootfs_avoid_covered(struct rootfs_avoid *avoid, const struct rootfs *under)
{
	struct stat stat;

	if (fstat(under->fd, &stat) < 0)
		return;
	avoid->has_covered = true;
	avoid->covered_dev = stat.st_dev;
	avoid->covered_ino = stat.st_ino;
}

void rootfs_avoid_clear(struct rootfs_avoid *avoid)
{
	free(avoid->devices);
	free(avoid->fuse);
	*avoid = (struct rootfs_avoid){ 0 };
}

int rootfs_reopen(int path_fd, int flags)
{
	char path[sizeof("/proc/self/fd/") + 3 * sizeof(int)];
	int fd;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", path_fd);
	fd = open(path, flags | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	return fd < 0 ? -errno : fd;
}

/* One component of a canonical path: a link there is -ELOOP. */
static int open_component(int parent, const char *name, bool last)
{
	int flags = O_CLOEXEC | O_NOFOLLOW, fd, error;
	char byte;

	flags |= last ? O_RDONLY | O_NOCTTY | O_NONBLOCK : O_PATH | O_DIRECTORY;
	fd = openat(parent, name, flags);
	if (fd >= 0)
		return fd;
	error = errno;
	/* O_DIRECTORY says ENOTDIR for a link. */
	if (error == ENOTDIR && readlinkat(parent, name, &byte, 1) >= 0)
		error = ELOOP;
	return -error;
}

int rootfs_open_canonical(struct rootfs *root, const char *path)
{
	_cleanup_(freep) char *copy = strdup(path);
	_cleanup_(closep) int fd = -1;
	char *rest = NULL, *name, *next;

	if (!copy)
		return -ENOMEM;
	name = strtok_r(copy, "/", &rest);
	if (!name)
		return -EISDIR;
	for (; name; name = next) {
		int opened;

		if (strcmp(name, "..") == 0)
			return -EINVAL;
		next = strtok_r(NULL, "/", &rest);
		opened = open_component(fd < 0 ? root->fd : fd, name, !next);
		if (opened < 0)
			return opened;
		closep(&fd);
		fd = opened;
	}
	return steal_fd(&fd);
}

static int read_all(int fd, size_t max, char **ret_data, size_t *ret_size)
{
	_cleanup_(freep) char *data = NULL;
	size_t size = 0, capacity = 0;

	for (;;) {
		ssize_t got;

		if (capacity - size < 2) {
			char *grown = realloc(data, capacity ? capacity * 2 : 4096);

			if (!grown)
				return -ENOMEM;
			data = grown;
			capacity = capacity ? capacity * 2 : 4096;
		}
		got = read(fd, data + size, capacity - size - 1);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (got == 0)
			break;
		size += (size_t)got;
		if (size > max)
			return -EFBIG;
	}
	data[size] = '\0';
	*ret_data = steal_pointer(data);
	*ret_size = size;
	return 0;
}

int rootfs_read(
	struct rootfs *root, const char *path, size_t max, char **ret_data, size_t *ret_size)
{
	_cleanup_(rootfs_node_clear) struct rootfs_node node = { .fd = -1 };
	_cleanup_(closep) int fd = -1;
	int result = rootfs_walk(root, path, NULL, &node);

	if (result < 0)
		return result;
	if (S_ISDIR(node.stat.st_mode))
		return -EISDIR;
	if (!S_ISREG(node.stat.st_mode))
		return -ENOTSUP;
	fd = rootfs_reopen(node.fd, O_RDONLY);
	return fd < 0 ? fd : read_all(fd, max, ret_data, ret_size);
}
