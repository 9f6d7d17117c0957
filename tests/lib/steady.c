/* SPDX-License-Identifier: MIT */
/* steady DIRECTORY ROUNDS: what GPU programs do with a driver directory all day: dlopen, open and
 * read, stat, lstat, readlink, and names that are absent. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const present[] = { "libcuda.so", "libcuda.so.1", "libnvidia-ml.so.1",
	"libnvidia-ptxjitcompiler.so.1" };
static const char *const absent[] = { "libc.so.6", "libstdc++.so.6", "libm.so.6", "libcudart.so.12",
	"glibc-hwcaps", "libGL.so.1" };

static int touch(const char *path)
{
	char buffer[4096];
	struct stat st;
	void *library = dlopen(path, RTLD_NOW);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	int rc = 0;

	if (!library || fd < 0 || read(fd, buffer, sizeof(buffer)) <= 0 || stat(path, &st) < 0 ||
		lstat(path, &st) < 0)
		rc = -1;
	if (rc == 0 && S_ISLNK(st.st_mode) && readlink(path, buffer, sizeof(buffer)) <= 0)
		rc = -1;
	if (rc < 0)
		printf("%s: %s, %s\n", path, strerror(errno), library ? "loads" : dlerror());
	if (library)
		dlclose(library);
	if (fd >= 0)
		close(fd);
	return rc;
}

int main(int argc, char **argv)
{
	char path[4096];
	struct stat st;

	if (argc != 3)
		return 2;
	for (int round = atoi(argv[2]); round > 0; round--) {
		for (size_t i = 0; i < sizeof(present) / sizeof(*present); i++) {
			snprintf(path, sizeof(path), "%s/%s", argv[1], present[i]);
			if (touch(path) < 0)
				return 1;
		}
		for (size_t i = 0; i < sizeof(absent) / sizeof(*absent); i++) {
			snprintf(path, sizeof(path), "%s/%s", argv[1], absent[i]);
			if (open(path, O_RDONLY) >= 0 || stat(path, &st) == 0 || errno != ENOENT)
				return printf("%s is not absent\n", path), 1;
		}
	}
	return 0;
}
