/* SPDX-License-Identifier: MIT */
/* objects LIBRARY: loads it and prints every object of the process by the name it was found by. */
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>

static int print(struct dl_phdr_info *info, size_t size, void *data)
{
	(void)size;
	(void)data;
	puts(info->dlpi_name);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc != 2 || !dlopen(argv[1], RTLD_NOW)) {
		printf("- %s\n", argc == 2 ? dlerror() : "one library");
		return 1;
	}
	return dl_iterate_phdr(print, NULL);
}
