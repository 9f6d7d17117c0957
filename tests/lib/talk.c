/* SPDX-License-Identifier: MIT */
/* talk SOCKET HELD: opens HELD connections that send half a line each and stay; sends standard
 * input on one more and prints what comes back. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static int connect_to(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0) {
		perror(path);
		exit(1);
	}
	return fd;
}

int main(int argc, char **argv)
{
	char bytes[4096];
	ssize_t size;
	int fd;

	if (argc != 3)
		return 2;
	for (int i = 0; i < atoi(argv[2]); i++) {
		fd = connect_to(argv[1]);
		if (write(fd, "{\"v\":", 5) != 5)
			return 1;
	}
	fd = connect_to(argv[1]);
	size = read(STDIN_FILENO, bytes, sizeof(bytes));
	if (size <= 0 || write(fd, bytes, (size_t)size) != size)
		return 1;
	while ((size = read(fd, bytes, sizeof(bytes))) > 0)
		if (write(STDOUT_FILENO, bytes, (size_t)size) != size)
			return 1;
	return 0;
}
