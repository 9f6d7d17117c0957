/* SPDX-License-Identifier: MIT */
/* xattr PATH NAME: prints one extended attribute, links not followed. */
#include <stdio.h>
#include <sys/xattr.h>

int main(int argc, char **argv)
{
	char value[8192];
	ssize_t size;

	if (argc != 3)
		return 2;
	size = lgetxattr(argv[1], argv[2], value, sizeof(value));
	if (size < 0)
		return perror(argv[1]), 1;
	printf("%.*s\n", (int)size, value);
	return 0;
}
