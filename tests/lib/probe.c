/* SPDX-License-Identifier: MIT */
/* probe: dlopens each argument and prints what its who() says, one line each. With "--same A B" it
 * exits 0 if both names are one object. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
	int failed = 0;

	if (argc == 4 && strcmp(argv[1], "--same") == 0) {
		void *a = dlopen(argv[2], RTLD_NOW);
		void *b = dlopen(argv[3], RTLD_NOW);

		return a && a == b ? 0 : 1;
	}
	for (int i = 1; i < argc; i++) {
		void *library = dlopen(argv[i], RTLD_NOW);
		const char *(*who)(void) = NULL;

		if (library)
			*(void **)&who = dlsym(library, "who");
		if (who) {
			puts(who());
		} else {
			printf("- %s\n", dlerror());
			failed = 1;
		}
	}
	return failed;
}
