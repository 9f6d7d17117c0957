/* SPDX-License-Identifier: MIT */
/* fuzz_elf: the ELF reader on any bytes. clang -fsanitize=fuzzer,address,undefined. */
#include <stdlib.h>
#include <string.h>

#include "elf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct memory {
	const uint8_t *data;
	size_t size;
};

static int64_t read_memory(void *context, void *buffer, size_t size, uint64_t offset)
{
	const struct memory *memory = context;

	if (offset >= memory->size)
		return 0;
	if (size > memory->size - offset)
		size = memory->size - (size_t)offset;
	memcpy(buffer, memory->data + offset, size);
	return (int64_t)size;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct memory memory = { data, size };
	struct elf_input input = { read_memory, &memory, size };
	struct elf_facts facts;
	int error, problem = elf_read(&input, &facts, &error);

	if (problem == ELF_FINE) {
		if (facts.soname && (!*facts.soname || strchr(facts.soname, '/')))
			abort();
		elf_facts_clear(&facts);
	} else if (problem < 0 || problem == ELF_IO) {
		abort();
	}
	return 0;
}
