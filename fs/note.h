/* SPDX-License-Identifier: MIT */
/* note: the forward-compatibility note of a compat libcuda (FACTS.md 3; nvidia-container-toolkit,
 * cmd/nvidia-cdi-hook/cudacompat): ELF section .note.cuda.fwd_compatibility, found by name through
 * section headers, its descriptor JSON. Core: the caller hands in the read function. */
#pragma once

#include "elf.h"

enum note_state {
	NOTE_ABSENT,  /* the file has none */
	NOTE_PRESENT, /* format 1 */
	NOTE_INVALID, /* there is one that cannot be used: `problem` says why; counts as none */
};

#define NOTE_DRIVERS_MAX 64

struct compat_note {
	enum note_state state;
	char cuda[16];                      /* "12.9" */
	unsigned drivers[NOTE_DRIVERS_MAX]; /* host branches that it runs on; may be empty (Orin) */
	size_t n_drivers;
	const char *problem; /* NOTE_INVALID: constant text */
};

/* Reads it with bounds; descsz that overruns the section is clamped. Keys match in any case.
 * Returns 0 and the note, or -ENOMEM, or -errno of the read function. */
int note_read(const struct elf_input *input, struct compat_note *ret_note);
