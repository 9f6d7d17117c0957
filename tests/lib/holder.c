/* SPDX-License-Identifier: MIT */
/* holder LIBRARY: loads it, says so, and stays. */
#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	if (argc != 2 || !dlopen(argv[1], RTLD_NOW))
		return 1;
	puts("loaded");
	fflush(stdout);
	return pause();
}
