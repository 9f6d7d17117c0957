/* SPDX-License-Identifier: MIT */
/* elfpatch: a tail for files without room: [program headers + 1][.dynamic][.dynstr + string] in a
 * load of its own. It is writable: ld.so writes into .dynamic. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "elfpatch_internal.h"
#include "util.h"

#define SPAN_MAX    (UINT64_C(1) << 40) /* of a library in memory */
#define STRINGS_MAX (16 * 1024 * 1024)  /* all of .dynstr is held */

struct tail {
	uint64_t offset;
	uint64_t delta; /* of addresses to offsets, as in the first load */
	uint64_t align;
	size_t last_load;
	size_t n_entries;              /* with the DT_NULL */
	size_t dynamic, strings, size; /* places in the tail, and its end */
	uint8_t *bytes;
};

static void cleanup_tail(struct tail *tail)
{
	free(tail->bytes);
}

static int place_tail(const struct elfpatch_file *file, struct tail *tail)
{
	uint64_t end = file->size;
	bool first = true;

	tail->align = ELFPATCH_PAGE;
	for (size_t i = 0; i < file->n_segments; i++) {
		const Elf64_Phdr *segment = &file->segments[i];
		uint64_t memory_end = segment->p_vaddr + segment->p_memsz;

		if (segment->p_type != PT_LOAD)
			continue;
		if (first)
			tail->delta = segment->p_vaddr - segment->p_offset;
		first = false;
		if (memory_end - tail->delta > end)
			end = memory_end - tail->delta;
		if (segment->p_align > tail->align)
			tail->align = segment->p_align;
		tail->last_load = i;
	}
	if (tail->align & (tail->align - 1))
		return ELFPATCH_STRANGE;
	if (tail->align > ELFPATCH_ALIGN_MAX)
		tail->align = ELFPATCH_ALIGN_MAX;
	/* An address below its offset wraps: the span is too large then. */
	if (end > SPAN_MAX || tail->delta > SPAN_MAX || tail->delta % tail->align)
		return ELFPATCH_STRANGE;
	tail->offset = (end + tail->align - 1) & ~(tail->align - 1);
	return 0;
}

static void move_segment(const struct tail *tail, size_t at, size_t size, Elf64_Phdr *segment)
{
	segment->p_offset = tail->offset + at;
	segment->p_vaddr = segment->p_paddr = segment->p_offset + tail->delta;
	segment->p_filesz = segment->p_memsz = size;
}

static void fill_segments(const struct elfpatch_file *file, const struct tail *tail)
{
	size_t count = file->n_segments + 1, size = count * sizeof(Elf64_Phdr);

	for (size_t i = 0, from = 0; i < count; i++) {
		Elf64_Phdr segment = { 0 };

		if (i == tail->last_load + 1) {
			segment.p_type = PT_LOAD;
			segment.p_flags = PF_R | PF_W;
			segment.p_align = tail->align;
			move_segment(tail, 0, tail->size, &segment);
		} else {
			segment = file->segments[from];
			if (segment.p_type == PT_PHDR)
				move_segment(tail, 0, size, &segment);
			else if (from == file->dynamic)
				move_segment(tail, tail->dynamic,
					tail->n_entries * sizeof(Elf64_Dyn), &segment);
			from++;
		}
		memcpy(tail->bytes + i * sizeof(segment), &segment, sizeof(segment));
	}
}

static void fill_entries(const struct elfpatch_file *file, const struct tail *tail)
{
	Elf64_Dyn *entries = (Elf64_Dyn *)(void *)(tail->bytes + tail->dynamic);
	size_t path = file->path == ELFPATCH_NONE ? file->n_entries : file->path;

	memcpy(entries, file->entries, file->n_entries * sizeof(*entries));
	entries[path] = (Elf64_Dyn){ DT_RUNPATH, { file->strings_size } };
	entries[file->strtab].d_un.d_ptr = tail->offset + tail->delta + tail->strings;
	entries[file->strsz].d_un.d_val = tail->size - tail->strings;
}

static int write_sections(
	const struct elfpatch_file *file, const struct tail *tail, struct overlay *overlay)
{
	const struct {
		size_t at, size;
	} moved[2] = {
		{ tail->dynamic, tail->n_entries * sizeof(Elf64_Dyn) },
		{ tail->strings, tail->size - tail->strings },
	};
	size_t sections[2];
	int r = 0;

	elfpatch_find_sections(file, &sections[0], &sections[1]);
	for (size_t i = 0; i < 2 && r == 0; i++) {
		uint64_t offset = tail->offset + moved[i].at;
		uint64_t fields[3] = { offset + tail->delta, offset, moved[i].size };

		_Static_assert(
			offsetof(Elf64_Shdr, sh_offset) ==
					offsetof(Elf64_Shdr, sh_addr) + sizeof(fields[0]) &&
				offsetof(Elf64_Shdr, sh_size) ==
					offsetof(Elf64_Shdr, sh_addr) + 2 * sizeof(fields[0]),
			"the three fields follow each other");
		if (sections[i] != ELFPATCH_NONE)
			r = overlay_write(overlay,
				file->header.e_shoff + sections[i] * sizeof(Elf64_Shdr) +
					offsetof(Elf64_Shdr, sh_addr),
				fields, sizeof(fields));
	}
	return r;
}

int elfpatch_tail(struct elfpatch_file *file, const char *runpath, struct overlay *overlay)
{
	_cleanup_(cleanup_tail) struct tail tail = { 0 };
	size_t length = strlen(runpath) + 1;
	uint16_t count = (uint16_t)(file->n_segments + 1);
	int r = place_tail(file, &tail);

	if (r != 0)
		return r;
	if (file->strings_size > STRINGS_MAX)
		return ELFPATCH_STRANGE;
	tail.n_entries = file->n_entries + (file->path == ELFPATCH_NONE) + 1;
	tail.dynamic = ((size_t)count * sizeof(Elf64_Phdr) + 15) & ~(size_t)15;
	tail.strings = tail.dynamic + tail.n_entries * sizeof(Elf64_Dyn);
	tail.size = tail.strings + (size_t)file->strings_size + length;
	tail.bytes = calloc(1, tail.size);
	if (!tail.bytes)
		return -ENOMEM;
	r = elfpatch_read(
		file, tail.bytes + tail.strings, (size_t)file->strings_size, file->strings, false);
	if (r != 0)
		return r;
	memcpy(tail.bytes + tail.strings + file->strings_size, runpath, length);
	fill_segments(file, &tail);
	fill_entries(file, &tail);
	r = overlay_write(overlay, tail.offset, tail.bytes, tail.size);
	if (r == 0)
		r = overlay_write(
			overlay, offsetof(Elf64_Ehdr, e_phoff), &tail.offset, sizeof(tail.offset));
	if (r == 0)
		r = overlay_write(overlay, offsetof(Elf64_Ehdr, e_phnum), &count, sizeof(count));
	return r == 0 ? write_sections(file, &tail, overlay) : r;
}
