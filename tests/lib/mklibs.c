/* SPDX-License-Identifier: MIT */
/* mklibs TEMPLATE DIRECTORY COUNT: copies of the library TEMPLATE, whose SONAME is
 * libnvmm_00000.so.1, as DIRECTORY/libnvmm_NNNNN.so.1.1, each "_00000" in its bytes replaced by its
 * number. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	static char bytes[1 << 20];
	ssize_t size;
	int fd;

	if (argc != 4)
		return 2;
	fd = open(argv[1], O_RDONLY | O_CLOEXEC);
	size = fd < 0 ? -1 : read(fd, bytes, sizeof(bytes));
	if (size <= 0)
		return perror(argv[1]), 1;
	close(fd);
	for (int i = 1; i <= atoi(argv[3]); i++) {
		char path[4096], number[16], before[16];
		char *at = bytes;

		snprintf(number, sizeof(number), "%05d", i);
		snprintf(before, sizeof(before), "_%05d", i - 1);
		while ((at = memmem(at, (size_t)(bytes + size - at), before, 6)))
			memcpy(at + 1, number, 5);
		snprintf(path, sizeof(path), "%s/libnvmm_%s.so.1.1", argv[2], number);
		fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
		if (fd < 0 || write(fd, bytes, (size_t)size) != size)
			return perror(path), 1;
		close(fd);
	}
	return 0;
}
