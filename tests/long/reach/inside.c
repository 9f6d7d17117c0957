/* SPDX-License-Identifier: MIT */
/* inside: opens the hidden library itself. */
#include <dlfcn.h>
#include <stddef.h>

int answer(void);

int answer(void)
{
	void *library = dlopen("libhidden.so", RTLD_NOW);
	int (*hidden)(void) = library ? (int (*)(void))dlsym(library, "hidden") : NULL;

	return hidden ? hidden() : 0;
}
