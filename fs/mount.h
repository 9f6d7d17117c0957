/* SPDX-License-Identifier: MIT */
/* mount: the mountpoint and the kernel's side of the mount: checked, mounted through its
 * descriptor, unmounted. Edge. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "diag.h"

struct mountpoint {
	int fd;       /* O_PATH of the directory: what lies under the mount; -1 */
	char *path;   /* canonical */
	dev_t device; /* of the mount; 0: not mounted */
	unsigned id;  /* of the mount: its path may change under it */
};

/* Opens the directory that will be covered. A last component that is a link is refused: what it
 * points to must not be covered. `make` makes the directory when only it is missing. A dead mount
 * of an earlier daemon on it is detached. Returns 0; -EBUSY: a live daemon serves it; -ENOTDIR,
 * -ENOENT … with an error in diags. */
int mountpoint_open(
	const char *path, bool make, struct mountpoint *ret_point, struct diag_list *diags);
void mountpoint_clear(struct mountpoint *point);

struct mount_request {
	const char *name; /* the instance: the source is "gldriverfs:NAME" */
	bool allow_other;
	/* Gets the /dev/fuse descriptor as early as it is known: by mount(2) before the mount, from
	 * fusermount3 behind it. Whoever keeps a copy keeps the connection. Returns 0 or -errno,
	 * which ends the start. NULL: nobody. */
	int (*opened)(void *context, int fd);
	void *context;
};

/* Mounts read-only, nosuid, nodev, default_permissions: by mount(2) with the right to do so, else
 * by fusermount3. Returns the /dev/fuse descriptor; -EBUSY: another daemon was faster; or -errno,
 * with an error in diags except for -ENOMEM and reading mountinfo. */
int mount_start(
	struct mountpoint *point, const struct mount_request *request, struct diag_list *diags);
/* Fills device and id of a mount of the instance that is already on the point (its daemon was
 * killed behind mount(2)). Returns 0, -ENOENT: there is none, or -errno. */
int mount_find(struct mountpoint *point, const char *name);
/* Unmounts, wherever the mount's path leads by now; lazily when programs still use it (*ret_lazy).
 * Nothing to do is no error. Returns 0, -EBUSY: something else is mounted on it, or -errno. */
int mount_stop(struct mountpoint *point, bool *ret_lazy);
