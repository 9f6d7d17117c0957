/* SPDX-License-Identifier: MIT */
/* probe: opens LIBRARY and ends with 0 if its answer is 42 (or, with OPEN_ONLY, if it opens), 1 if
 * not, 2 if it does not open. Linked without a libc's own files, so that one binary runs with
 * every glibc. */
#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <unistd.h>

#ifdef __x86_64__
__attribute__((force_align_arg_pointer))
#endif
__attribute__((noreturn)) void
_start(void);

void _start(void)
{
	void *library = dlopen(LIBRARY, RTLD_NOW);
	int (*answer)(void) = library ? (int (*)(void))dlsym(library, "answer") : NULL;
	const char *error = library ? "" : dlerror();

	while (*error)
		(void)!write(2, error++, 1);
	if (!library)
		_exit(2);
#ifdef OPEN_ONLY
	_exit(0);
#endif
	_exit(answer && answer() == 42 ? 0 : 1);
}
