/* SPDX-License-Identifier: MIT */
/* slow: preloaded into a daemon; holds back the answers to requests as long as the file $SLOW
 * exists. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <unistd.h>

ssize_t writev(int fd, const struct iovec *parts, int count)
{
	static ssize_t (*real)(int, const struct iovec *, int);
	const char *path = getenv("SLOW");
	char thread[16];

	if (!real)
		real = (ssize_t(*)(int, const struct iovec *, int))dlsym(RTLD_NEXT, "writev");
	prctl(PR_GET_NAME, thread);
	while (path && strcmp(thread, "gldr-request") == 0 && access(path, F_OK) == 0)
		usleep(1000);
	return real(fd, parts, count);
}
