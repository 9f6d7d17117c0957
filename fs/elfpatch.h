/* SPDX-License-Identifier: MIT */
/* elfpatch: the few bytes that give a library a RUNPATH (ELF.md): in place where there is room,
 * else a tail. Verified by parsing the result through the overlay. Core. */
#pragma once

#include "elf.h"
#include "overlay.h"

enum elfpatch_kind {
	ELFPATCH_IN_PLACE,
	ELFPATCH_TAIL,
	ELFPATCH_NOT_NEEDED, /* the wanted string is the RUNPATH's beginning already */
	ELFPATCH_REFUSED,    /* served unchanged: `refusal` says why */
};

enum elfpatch_refusal {
	ELFPATCH_FINE,
	ELFPATCH_NOT_ELF64,   /* ELF32, big-endian, no ELF, truncated */
	ELFPATCH_NOT_LIBRARY, /* ET_EXEC, ET_REL, ET_CORE, a PIE */
	ELFPATCH_LOADER,      /* ld.so itself */
	ELFPATCH_NO_DYNAMIC,
	ELFPATCH_STRANGE,      /* program headers or tables of a form that is not understood */
	ELFPATCH_NOT_VERIFIED, /* the result did not parse to what was wanted */
	ELFPATCH_IO,
};

struct elfpatch_plan {
	enum elfpatch_kind kind;
	enum elfpatch_refusal refusal;
	struct overlay *overlay; /* IN_PLACE, TAIL: a reference of the caller's; else NULL */
	char *runpath;           /* IN_PLACE, TAIL: the whole new RUNPATH, owned */
};

/* Plans `wanted` (one or more directories, ':' between them) to be the RUNPATH; an old RUNPATH or
 * RPATH stays behind it
 * ("wanted:old"). At most 10 reads. The same input gives the same plan; a patched file with the
 * same wanted string is NOT_NEEDED. Returns 0 and the plan (elfpatch_clear), or -ENOMEM. */
int elfpatch(const struct elf_input *input, const char *wanted, struct elfpatch_plan *ret_plan);
void elfpatch_clear(struct elfpatch_plan *plan);
/* "in place", "tail" …; and why a file was refused, in words that a user understands. */
const char *elfpatch_kind_name(enum elfpatch_kind kind);
const char *elfpatch_refusal_text(enum elfpatch_refusal refusal);
