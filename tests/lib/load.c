/* SPDX-License-Identifier: MIT */
/* load: dlopens each argument; exit 1 with the loader's message for the first that does not load.
 */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (!dlopen(argv[i], RTLD_NOW | RTLD_GLOBAL))
			return printf("%s\n", dlerror()), 1;
	return 0;
}
