/* SPDX-License-Identifier: MIT */
#include "deadmount.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ctlsocket.h"
#include "names.h"

#define PATIENCE_MS 2000

int deadmount_ask(const char *path)
{
	struct pollfd ended = { .events = POLLIN };
	struct statfs fs;
	pid_t child = fork();
	int ready, status;

	if (child < 0)
		return -errno;
	if (child == 0)
		/* Of all requests this one is never answered from a cache. */
		_exit(statfs(path, &fs) == 0 || errno != ENOTCONN ? DEADMOUNT_ALIVE
								  : DEADMOUNT_DEAD);
	ended.fd = (int)syscall(SYS_pidfd_open, child, 0);
	do
		ready = poll(&ended, 1, PATIENCE_MS);
	while (ready < 0 && errno == EINTR);
	close(ended.fd);
	if (ready <= 0) {
		/* Perhaps it never ends: whoever reaps this process' children has it then. */
		kill(child, SIGKILL);
		return DEADMOUNT_SILENT;
	}
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	return WIFEXITED(status) ? WEXITSTATUS(status) : DEADMOUNT_SILENT;
}

bool deadmount_has_listener(const struct mountinfo_entry *entry)
{
	_cleanup_(freep) char *directory = NULL, *path = NULL;
	const char *name = mountinfo_instance(entry), *runtime = getenv("XDG_RUNTIME_DIR");
	int fd;

	if (!name || strchr(name, '/'))
		return false;
	if (entry->owner == 0)
		directory = strdup("/run/gldriverfs");
	else if (entry->owner == geteuid() && runtime)
		directory = string_format("%s/gldriverfs", runtime);
	else
		directory = string_format("/run/user/%u/gldriverfs", entry->owner);
	path = directory ? names_socket(directory, name) : NULL;
	fd = path ? ctlsocket_connect(path) : -ENOMEM;
	if (fd >= 0)
		close(fd);
	return fd >= 0 || (fd != -ENOENT && fd != -ECONNREFUSED && fd != -ENOTSOCK);
}
