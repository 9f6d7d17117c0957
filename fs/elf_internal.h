/* SPDX-License-Identifier: MIT */
/* elf_internal: what the halves of the ELF reader share. Core. */
#pragma once

#include <elf.h>

#include "elf.h"

struct elf_reader {
	const struct elf_input *input;
	uint8_t head[4096]; /* the file's first bytes: mostly they hold all headers and notes */
	size_t head_size;
	Elf64_Phdr *headers; /* widened where the file is of class 32 */
	size_t n_headers;
	int error; /* of the read function, for ELF_IO */
};

/* Reads exactly size bytes. Returns ELF_FINE, ELF_TRUNCATED or ELF_IO. */
int elf_read_at(struct elf_reader *reader, void *buffer, size_t size, uint64_t offset);
/* Fills what PT_DYNAMIC tells. Returns an enum elf_problem or -ENOMEM. */
int elf_read_dynamic(struct elf_reader *reader, struct elf_facts *facts);
