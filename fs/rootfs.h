/* SPDX-License-Identifier: MIT */
/* rootfs: paths of the host through a root descriptor: component by component, links taken inside
 * the root, so that tests and `check --root` hand in a fake machine. Edge. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/types.h>

/* A root. Shared by reference: sources keep theirs for opening files again. */
struct rootfs {
	atomic_uint references;
	int fd;       /* O_PATH directory */
	char *prefix; /* what stands before an inside path to make it the user's: "" for "/" */
	/* Where absolute links and too many ".." lead: NULL for itself. Only for a directory that
	 * is not a root of its own (what lies under the mount). A reference. */
	struct rootfs *outer;
	char *untrusted; /* of the way to a root inside another one, as in rootfs_node */
};

/* Opens the directory `path` of the process' own root as a root. Returns 0 or -errno. */
int rootfs_open(const char *path, struct rootfs **ret_root);
struct rootfs_node;
/* The walked directory becomes a root of its own. Returns 0, -ENOTDIR or -errno. */
int rootfs_open_node(const struct rootfs_node *node, struct rootfs **ret_root);
/* A directory that only a descriptor reaches (under the mount); takes fd; `prefix` is its path
 * inside `outer`. Returns 0, or -ENOMEM (fd is closed). */
int rootfs_from_fd(int fd, const char *prefix, struct rootfs *outer, struct rootfs **ret_root);
/* After the process went to another mount namespace: the root is the same directory there. Keeps
 * the old one, which leads through the other namespace, where that has no such path. */
void rootfs_reenter(struct rootfs *root);
struct rootfs *rootfs_ref(struct rootfs *root);
struct rootfs *rootfs_unref(struct rootfs *root);
void rootfs_unrefp(struct rootfs **root);

/* Another FUSE mount. What a user's server says of owners and modes is worth nothing. */
struct rootfs_fuse {
	dev_t device;
	uid_t owner;
};

struct touched;

/* What a walk goes by. What must not be touched: the mounts of ours (st_dev), and the directory
 * that one of them covers or will cover, which no path leads to then. And what is not trusted. */
struct rootfs_avoid {
	struct touched *touched; /* told of each directory before a name is looked up; or NULL */
	dev_t *devices;
	size_t count;
	bool has_covered;
	dev_t covered_dev;
	ino_t covered_ino;
	struct rootfs_fuse *fuse;
	size_t n_fuse;
};

/* Fills the lists from /proc/self/mountinfo: every mount whose source is "gldriverfs:…", and every
 * other FUSE mount; dev_t as stat(2) gives it. Returns 0 or -errno. */
int rootfs_avoid_ours(struct rootfs_avoid *ret_avoid);
/* Adds a mount of ours that mountinfo does not show (0: none). Returns 0 or -ENOMEM. */
int rootfs_avoid_device(struct rootfs_avoid *avoid, dev_t device);
/* Adds the directory under a mount to the list; a walk may still begin in it. */
void rootfs_avoid_covered(struct rootfs_avoid *avoid, const struct rootfs *under);
void rootfs_avoid_clear(struct rootfs_avoid *avoid);

/* A path that was walked to its end. */
struct rootfs_node {
	int fd;              /* O_PATH of the final file or directory; -1 */
	struct rootfs *root; /* where `path` lies: the root, or its outer one; a reference */
	char *path;          /* canonical inside root, "/" at first */
	/* Of the final file. Taken without asking a network or FUSE server again: there it may be
	 * as old as the kernel's cache. */
	struct stat stat;
	/* NULL: every directory on the way (links included) and the file are root's and not
	 * writable by group or others; a sticky directory passes where the next component is
	 * root's and no hard link of a file. Else the real path of the first that is not. A final
	 * directory that is writable but sticky is judged with the names that are walked in it.
	 * With `avoid` given, nothing on a user's FUSE mount passes. */
	char *untrusted;
};

/* The user's path of an inside path (owned by the caller); NULL without memory. */
char *rootfs_real_path(const struct rootfs *root, const char *path);

/* Walks path (absolute inside root). Returns 0; -ENOENT, -ELOOP (over 40 links), -ENOTDIR, -EACCES
 * … as open(2); -EREMOTE: it leads into a device of `avoid` (may be NULL). */
int rootfs_walk(struct rootfs *root, const char *path, const struct rootfs_avoid *avoid,
	struct rootfs_node *ret_node);
/* The same from an already walked directory, for one name of it. */
int rootfs_walk_at(const struct rootfs_node *directory, const char *name,
	const struct rootfs_avoid *avoid, struct rootfs_node *ret_node);
void rootfs_node_clear(struct rootfs_node *node);
/* Walks only to tell `touched` (NULL: does nothing), before the path is read by other means. */
void rootfs_touch(struct rootfs *root, const char *path, struct touched *touched);

/* Opens the walked file for reading (through /proc/self/fd), O_CLOEXEC|O_NOCTTY|O_NONBLOCK. Returns
 * the descriptor or -errno. */
int rootfs_reopen(int path_fd, int flags);
/* Opens a canonical path (no component is a link) for reading. Returns the descriptor or -errno
 * (-ELOOP: a component has become a link). */
int rootfs_open_canonical(struct rootfs *root, const char *path);
/* Reads a whole regular file (or one of /proc, /sys) of at most max bytes; *ret_data has a NUL
 * behind its *ret_size bytes. Returns 0, -EFBIG, -EISDIR, -ENOTSUP (not regular), or -errno. */
int rootfs_read(
	struct rootfs *root, const char *path, size_t max, char **ret_data, size_t *ret_size);
