/* SPDX-License-Identifier: MIT */
#include "load_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "touched.h"

int load_fail(struct diag_list *diags, const char *name, int r, const char *what)
{
	if (r != -ENOMEM)
		diag_add(diags, DIAG_ERROR, name, 0, "%s: %s", what, strerror(-r));
	return r;
}

static int refuse(struct diag_list *diags, const char *name, const char *why)
{
	diag_add(diags, DIAG_ERROR, name, 0, "%s", why);
	return -EINVAL;
}

/* Reads the open policy file to its end. */
static int read_open(
	const char *name, int fd, char **ret_data, size_t *ret_size, struct diag_list *diags)
{
	_cleanup_(freep) char *data = NULL;
	struct stat st;
	size_t size = 0;

	if (fstat(fd, &st) < 0)
		return load_fail(diags, name, -errno, "cannot be read");
	if (!S_ISREG(st.st_mode))
		return refuse(diags, name, "is not a regular file");
	if (st.st_size > LOAD_FILE_SIZE_MAX)
		return refuse(diags, name, "is larger than 1 MiB");
	data = malloc(LOAD_FILE_SIZE_MAX + 1);
	if (!data)
		return -ENOMEM;
	while (size <= LOAD_FILE_SIZE_MAX) {
		ssize_t n = read(fd, data + size, LOAD_FILE_SIZE_MAX + 1 - size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return load_fail(diags, name, -errno, "cannot be read");
		if (n == 0)
			break;
		size += (size_t)n;
	}
	if (size > LOAD_FILE_SIZE_MAX)
		return refuse(diags, name, "is larger than 1 MiB");
	*ret_data = steal_pointer(data);
	*ret_size = size;
	return 0;
}

static int parse_open(const char *name, int fd, bool may_be_empty, struct ini_file **ret_file,
	struct diag_list *diags)
{
	_cleanup_(freep) char *data = NULL;
	size_t size = 0;
	int r = read_open(name, fd, &data, &size, diags);

	if (r < 0)
		return r;
	if (size == 0 && may_be_empty) {
		*ret_file = NULL;
		return 0;
	}
	return inifile_parse(name, data, size, ret_file, diags);
}

/* Returns the descriptor, -ENOENT without an error in diags, or -errno. */
static int open_path(const char *path, struct diag_list *diags)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

	if (fd >= 0)
		return fd;
	return errno == ENOENT ? -ENOENT : load_fail(diags, path, -errno, "cannot be opened");
}

int load_file_text(const char *path, char **ret_text, size_t *ret_size, struct diag_list *diags)
{
	_cleanup_(closep) int fd = open_path(path, diags);

	return fd < 0 ? fd : read_open(path, fd, ret_text, ret_size, diags);
}

int load_file_path(
	const char *path, bool may_be_empty, struct ini_file **ret_file, struct diag_list *diags)
{
	_cleanup_(closep) int fd = open_path(path, diags);

	return fd < 0 ? fd : parse_open(path, fd, may_be_empty, ret_file, diags);
}

static bool is_dev_null(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && S_ISCHR(st.st_mode) && st.st_rdev == makedev(1, 3);
}

/* A machine in a directory may have no /dev: the link says enough. */
static bool is_link_to_null(int directory, const char *entry)
{
	char text[sizeof("/dev/null") + 1];
	ssize_t length = readlinkat(directory, entry, text, sizeof(text));

	return length == (ssize_t)strlen("/dev/null") &&
	       memcmp(text, "/dev/null", (size_t)length) == 0;
}

int load_file_entry(const struct rootfs_node *directory, const char *entry, const char *name,
	bool may_be_empty, struct touched *touched, struct ini_file **ret_file,
	struct diag_list *diags)
{
	const struct rootfs_avoid avoid = { .touched = touched };
	_cleanup_(rootfs_node_clear) struct rootfs_node node = { .fd = -1 };
	_cleanup_(closep) int fd = -1;
	struct stat st;
	int r;

	touched_name(touched, directory, entry);
	if (fstatat(directory->fd, entry, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 1 : load_fail(diags, name, -errno, "cannot be read");
	if (may_be_empty && S_ISLNK(st.st_mode) && is_link_to_null(directory->fd, entry)) {
		*ret_file = NULL;
		return 0;
	}
	r = rootfs_walk_at(directory, entry, &avoid, &node);
	if (r == -ENOENT && S_ISLNK(st.st_mode))
		return load_fail(diags, name, r, "is a link that leads nowhere");
	if (r == -ENOENT)
		return 1;
	if (r < 0)
		return load_fail(diags, name, r, "cannot be reached");
	if (may_be_empty && is_dev_null(node.fd)) {
		*ret_file = NULL;
		return 0;
	}
	if (fstat(node.fd, &st) == 0 && !S_ISREG(st.st_mode))
		return refuse(diags, name, "is not a regular file");
	fd = rootfs_reopen(node.fd, O_RDONLY);
	if (fd < 0)
		return load_fail(diags, name, fd, "cannot be opened");
	return parse_open(name, fd, may_be_empty, ret_file, diags);
}
