/* SPDX-License-Identifier: MIT */
/* elf: facts of one ELF file by checked reads of its program headers and PT_DYNAMIC (section
 * headers may be gone; ELF.md). Both classes and byte orders are told apart; names are read for
 * little-endian files. Core: the caller hands in the read function. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util.h"

struct elf_input {
	/* As pread(2): bytes read (short at the end), or -errno. */
	int64_t (*read)(void *context, void *buffer, size_t size, uint64_t offset);
	void *context;
	uint64_t size; /* of the file */
};

enum elf_problem {
	ELF_FINE,
	ELF_EMPTY,     /* 0 bytes */
	ELF_NOT_ELF,   /* no magic, or too short for it */
	ELF_TRUNCATED, /* a header or a PT_LOAD reaches beyond the end of the file */
	ELF_MALFORMED, /* sizes or tables that contradict each other */
	ELF_IO,        /* the read function failed */
};

#define ELF_BUILD_ID_MAX 32

struct elf_facts {
	uint8_t class;    /* ELFCLASS32, ELFCLASS64 */
	uint8_t encoding; /* ELFDATA2LSB, ELFDATA2MSB */
	uint16_t machine; /* EM_… */
	uint16_t type;    /* ET_… */
	bool pie;         /* DF_1_PIE: an executable in the shape of a library */
	bool dynamic;     /* has a PT_DYNAMIC */
	char *soname;     /* NULL: none, or no name that can be an entry (ELF.md) */
	char *runpath;    /* DT_RUNPATH, else DT_RPATH, else NULL */
	struct string_list needed;
	uint8_t build_id[ELF_BUILD_ID_MAX];
	uint8_t build_id_size; /* 0: none; longer ones are cut */
};

/* Reads the facts. Returns ELF_FINE with *ret_facts filled (elf_facts_clear), another problem with
 * *ret_facts untouched (for ELF_IO *ret_errno is set), or -ENOMEM. */
int elf_read(const struct elf_input *input, struct elf_facts *ret_facts, int *ret_errno);
void elf_facts_clear(struct elf_facts *facts);
/* What is wrong in words that a user understands ("the file is cut short"). */
const char *elf_problem_text(enum elf_problem problem);
