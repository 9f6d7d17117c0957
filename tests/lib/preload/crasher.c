/* SPDX-License-Identifier: MIT */
/* crasher: preloaded into a daemon; crashes it by its own doing where a test wants it, of a file
 * whose path has "libnvidia-fbc" in it: in a READ while $CRASHER/read exists, in a scan while
 * $CRASHER/scan exists; and at the start of a worker while $CRASHER/start exists. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/types.h>
#include <unistd.h>

static int is_wanted(const char *what)
{
	const char *directory = getenv("CRASHER");
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s", directory ? directory : "", what);
	return access(path, F_OK) == 0;
}

ssize_t pread64(int fd, void *buffer, size_t size, off64_t offset)
{
	static ssize_t (*real)(int, void *, size_t, off64_t);
	char link[64], path[4096], thread[16];
	ssize_t length;

	if (!real)
		real = (ssize_t(*)(int, void *, size_t, off64_t))dlsym(RTLD_NEXT, "pread64");
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	length = readlink(link, path, sizeof(path) - 1);
	path[length > 0 ? length : 0] = '\0';
	prctl(PR_GET_NAME, thread);
	if (strstr(path, "libnvidia-fbc") &&
		is_wanted(strcmp(thread, "gldr-request") == 0 ? "read" : "scan"))
		*(volatile int *)(size_t)16 = 1;
	return real(fd, buffer, size, offset);
}

int epoll_create1(int flags);
int epoll_create1(int flags)
{
	static int (*real)(int);

	if (!real)
		real = (int (*)(int))dlsym(RTLD_NEXT, "epoll_create1");
	if (is_wanted("start"))
		abort();
	return real(flags);
}
