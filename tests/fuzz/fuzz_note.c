/* SPDX-License-Identifier: MIT */
/* fuzz_note: the reader of the forward-compatibility note on any bytes. */
#include <stdlib.h>
#include <string.h>

#include "note.h"

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
	struct compat_note note;

	if (note_read(&input, &note) != 0)
		abort();
	if ((note.state == NOTE_INVALID) != (note.problem != NULL))
		abort();
	if (note.state == NOTE_PRESENT &&
		(!strchr(note.cuda, '.') || note.n_drivers > NOTE_DRIVERS_MAX))
		abort();
	if (note.state != NOTE_PRESENT && note.n_drivers)
		abort();
	return 0;
}
