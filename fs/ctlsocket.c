/* SPDX-License-Identifier: MIT */
#include "ctlsocket.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "util.h"

#define BACKLOG 128
#define LOCK    ".lock"

/* Opens path's directory, made where `make` is set. Returns the descriptor or -errno. */
static int open_directory(const char *path, bool make)
{
	_cleanup_(freep) char *directory = strdup(path);
	char *slash = directory ? strrchr(directory, '/') : NULL;
	int fd;

	if (!directory)
		return -ENOMEM;
	if (!slash || slash == directory)
		return -EINVAL;
	*slash = '\0';
	if (make && mkdir(directory, 0755) == 0)
		chmod(directory, 0755);
	else if (make && errno != EEXIST)
		return -errno;
	fd = open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* The address of `name` in an open directory, or of the open file itself (name NULL). */
static int make_address(int fd, const char *name, struct sockaddr_un *ret_address)
{
	int length;

	*ret_address = (struct sockaddr_un){ .sun_family = AF_UNIX };
	length = snprintf(ret_address->sun_path, sizeof(ret_address->sun_path),
		name ? "/proc/self/fd/%d/%s" : "/proc/self/fd/%d%s", fd, name ? name : "");
	return length < (int)sizeof(ret_address->sun_path) ? 0 : -ENAMETOOLONG;
}

static int connect_in(int directory, const char *name)
{
	_cleanup_(closep) int file = -1;
	_cleanup_(closep) int fd = -1;
	const struct timeval patience = { .tv_sec = 5 };
	struct sockaddr_un address;
	struct stat status;
	int r;

	file = openat(directory, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (file < 0 || fstat(file, &status) < 0)
		return -errno;
	if (!S_ISSOCK(status.st_mode))
		return -ENOTSOCK;
	r = make_address(file, NULL, &address);
	if (r < 0)
		return r;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	/* A listener that is stuck has a full backlog: connect would wait for ever. */
	if (setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience)) < 0)
		return -errno;
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0)
		return -errno;
	return steal_fd(&fd);
}

int ctlsocket_connect(const char *path)
{
	_cleanup_(closep) int directory = open_directory(path, false);

	return directory < 0 ? directory : connect_in(directory, path_base(path));
}

/* Binds and listens under a temporary name of the directory, then moves it to its own: whoever
 * finds the socket can connect to it. */
static int listen_in(
	int directory, const char *name, int fd, struct ctlsocket_identity *ret_identity)
{
	struct sockaddr_un address;
	struct stat status;
	char temporary[32];
	int r;

	snprintf(temporary, sizeof(temporary), ".ctl.%d", (int)getpid());
	r = make_address(directory, temporary, &address);
	if (r < 0)
		return r;
	if (unlinkat(directory, temporary, 0) < 0 && errno != ENOENT)
		return -errno;
	if (bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0)
		return -errno;
	if (chmod(address.sun_path, 0666) < 0 || listen(fd, BACKLOG) < 0 ||
		fstatat(directory, temporary, &status, AT_SYMLINK_NOFOLLOW) < 0 ||
		renameat(directory, temporary, directory, name) < 0) {
		r = -errno;
		unlinkat(directory, temporary, 0);
		return r;
	}
	*ret_identity = (struct ctlsocket_identity){ status.st_dev, status.st_ino };
	return 0;
}

/* Of several that start at once one finds no socket, the others find its: locks the directory. The
 * lock's file is not for others: whoever can open it can hold it. Returns the descriptor or -errno.
 */
static int lock_directory(int directory)
{
	for (;;) {
		_cleanup_(closep) int fd =
			openat(directory, LOCK, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
		struct flock whole = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
		struct stat locked, named;
		int r = fd < 0 ? -1 : fcntl(fd, F_OFD_SETLKW, &whole);

		if (r < 0 && errno == EINTR)
			continue;
		if (r < 0 || fstat(fd, &locked) < 0)
			return -errno;
		/* Whoever had it before has taken it away with its name. */
		if (fstatat(directory, LOCK, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
			named.st_dev == locked.st_dev && named.st_ino == locked.st_ino)
			return steal_fd(&fd);
	}
}

/* With the directory locked. */
static int listen_first(int directory, const char *name, struct ctlsocket_identity *ret_identity)
{
	_cleanup_(closep) int fd = -1;
	int r = connect_in(directory, name);

	if (r >= 0)
		close(r);
	if (r >= 0 || r == -EAGAIN)
		return -EADDRINUSE;
	if (r != -ENOENT && r != -ECONNREFUSED)
		return r;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	r = listen_in(directory, name, fd, ret_identity);
	return r < 0 ? r : steal_fd(&fd);
}

int ctlsocket_listen(const char *path, struct ctlsocket_identity *ret_identity)
{
	_cleanup_(closep) int directory = open_directory(path, true);
	_cleanup_(closep) int lock = -1;
	int r;

	if (directory < 0)
		return directory;
	lock = lock_directory(directory);
	if (lock < 0)
		return lock;
	r = listen_first(directory, path_base(path), ret_identity);
	unlinkat(directory, LOCK, 0);
	return r;
}

bool ctlsocket_is(const char *path, const struct ctlsocket_identity *identity)
{
	struct stat status;

	return lstat(path, &status) == 0 && status.st_dev == identity->device &&
	       status.st_ino == identity->inode;
}

void ctlsocket_remove(const char *path, const struct ctlsocket_identity *identity)
{
	if (ctlsocket_is(path, identity))
		unlink(path);
}

int ctlsocket_peer(int fd, uid_t *ret_uid)
{
	struct ucred peer;
	socklen_t size = sizeof(peer);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0)
		return -errno;
	*ret_uid = peer.uid;
	return 0;
}
