/* SPDX-License-Identifier: MIT */
/* stub: the names that probe takes from a libc, without versions: for the linker only. */
#define STUB(name) __asm__(".globl " #name "\n.type " #name ", %function\n" #name ":\n")

STUB(dlopen);
STUB(dlsym);
STUB(dlerror);
STUB(write);
STUB(_exit);
