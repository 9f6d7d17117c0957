/* SPDX-License-Identifier: MIT */
#include "notify.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "util.h"

#define FIRST_FD      3
#define NAME_MAX_SIZE 256
/* sd_notify(3) waits for ever; a manager that is stuck must not take this process with it. */
#define PATIENCE_S 3

static const char *const watchdog_names[] = { "WATCHDOG_USEC", "WATCHDOG_PID" };

/* Written once, by notify_open. */
static struct {
	bool is_open;
	char *socket; /* NULL: nobody listens */
	char *watchdog[ARRAY_SIZE(watchdog_names)];
	bool has_store;
	struct {
		char name[NAME_MAX_SIZE];
		int fd;
	} * taken;
	size_t n_taken;
} manager;

/* A copy of a variable that is taken out of the environment; NULL: it is not set. */
static char *take_variable(const char *name)
{
	const char *value = getenv(name);
	char *copy = value ? strdup(value) : NULL;

	unsetenv(name);
	return copy;
}

static void take_descriptors(void)
{
	_cleanup_(freep) char *pid = take_variable("LISTEN_PID");
	_cleanup_(freep) char *count = take_variable("LISTEN_FDS");
	_cleanup_(freep) char *names = take_variable("LISTEN_FDNAMES");
	char *rest = names;
	long n = count ? strtol(count, NULL, 10) : 0;

	if (!pid || strtol(pid, NULL, 10) != getpid() || n <= 0 || n > 1024)
		return;
	manager.taken = calloc((size_t)n, sizeof(*manager.taken));
	for (int i = 0; i < n; i++) {
		const char *name = rest ? strsep(&rest, ":") : "";

		if (fcntl(FIRST_FD + i, F_SETFD, FD_CLOEXEC) < 0 || !manager.taken)
			continue;
		snprintf(manager.taken[manager.n_taken].name, NAME_MAX_SIZE, "%s", name);
		manager.taken[manager.n_taken++].fd = FIRST_FD + i;
	}
}

void notify_open(void)
{
	_cleanup_(freep) char *store = NULL;

	if (manager.is_open)
		return;
	manager.is_open = true;
	store = take_variable("FDSTORE");
	manager.socket = take_variable("NOTIFY_SOCKET");
	for (size_t i = 0; i < ARRAY_SIZE(watchdog_names); i++)
		manager.watchdog[i] = take_variable(watchdog_names[i]);
	manager.has_store = store && strtol(store, NULL, 10) > 0;
	take_descriptors();
}

void notify_leave(void)
{
	if (manager.socket)
		setenv("NOTIFY_SOCKET", manager.socket, 1);
	for (size_t i = 0; i < ARRAY_SIZE(watchdog_names); i++)
		if (manager.watchdog[i])
			setenv(watchdog_names[i], manager.watchdog[i], 1);
}

bool notify_listens(void)
{
	return manager.socket;
}

bool notify_has_store(void)
{
	return manager.socket && manager.has_store;
}

/* The address of a socket: a path, or "@name" for an abstract one. Returns its size, or -errno. */
static int make_address(const char *path, struct sockaddr_un *ret_address)
{
	size_t length = strlen(path);

	*ret_address = (struct sockaddr_un){ .sun_family = AF_UNIX };
	if ((path[0] != '/' && path[0] != '@') || length >= sizeof(ret_address->sun_path))
		return -EINVAL;
	memcpy(ret_address->sun_path, path, length);
	if (path[0] == '@')
		ret_address->sun_path[0] = '\0';
	return (int)(offsetof(struct sockaddr_un, sun_path) + length + (path[0] == '/'));
}

/* Sends with a descriptor, or none (-1). */
static int send_with(const char *text, int fd)
{
	_cleanup_(closep) int socket_fd = -1;
	const struct timeval patience = { .tv_sec = PATIENCE_S };
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = { 0 };
	struct sockaddr_un address;
	struct iovec part = { (void *)(uintptr_t)text, strlen(text) };
	struct msghdr message = { .msg_name = &address, .msg_iov = &part, .msg_iovlen = 1 };
	int size;

	if (!manager.socket)
		return 0;
	size = make_address(manager.socket, &address);
	if (size < 0)
		return size;
	message.msg_namelen = (socklen_t)size;
	if (fd >= 0) {
		struct cmsghdr *header;

		message.msg_control = &control;
		message.msg_controllen = sizeof(control);
		header = CMSG_FIRSTHDR(&message);
		header->cmsg_level = SOL_SOCKET;
		header->cmsg_type = SCM_RIGHTS;
		header->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(header), &fd, sizeof(int));
	}
	socket_fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (socket_fd < 0)
		return -errno;
	(void)setsockopt(socket_fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	return sendmsg(socket_fd, &message, MSG_NOSIGNAL) < 0 ? -errno : 0;
}

int notify_send(const char *text)
{
	return send_with(text, -1);
}

int notify_store(const char *name, int fd)
{
	_cleanup_(freep) char *text = string_format("FDSTORE=1\nFDNAME=%s", name);

	return text ? send_with(text, fd) : -ENOMEM;
}

int notify_unstore(const char *name)
{
	_cleanup_(freep) char *text = string_format("FDSTOREREMOVE=1\nFDNAME=%s", name);

	return text ? send_with(text, -1) : -ENOMEM;
}

int notify_take(const char *name)
{
	for (size_t i = 0; i < manager.n_taken; i++)
		if (manager.taken[i].fd >= 0 && strcmp(manager.taken[i].name, name) == 0)
			return steal_fd(&manager.taken[i].fd);
	return -1;
}

void notify_close_rest(void)
{
	for (size_t i = 0; i < manager.n_taken; i++)
		if (manager.taken[i].fd >= 0)
			close(steal_fd(&manager.taken[i].fd));
}

unsigned notify_watchdog_ms(void)
{
	const char *usec = manager.watchdog[0], *pid = manager.watchdog[1];
	unsigned long long value = usec ? strtoull(usec, NULL, 10) : 0;

	if (value == 0 || value > 2000ULL * UINT32_MAX ||
		(pid && strtol(pid, NULL, 10) != getpid()))
		return 0;
	return (unsigned)(value / 2000);
}
