/* SPDX-License-Identifier: MIT */
/* elfpatch: in place: the string goes into the zeros behind the load that holds .dynstr, inside its
 * last page, which is mapped anyway, or into a hole between two of its sections. */
#include <errno.h>
#include <string.h>

#include "elfpatch_internal.h"

static bool ranges_meet(uint64_t a, uint64_t a_size, uint64_t b, uint64_t b_size)
{
	return a_size > 0 && b_size > 0 && (a < b ? b - a < a_size : a - b < b_size);
}

/* Does anything that is known of the file lie there? Inside a load, only sections and small
 * segments tell. */
static bool is_taken(const struct elfpatch_file *file, uint64_t offset, uint64_t size, bool inside)
{
	const Elf64_Ehdr *header = &file->header;

	if (ranges_meet(offset, size, header->e_phoff, file->n_segments * sizeof(Elf64_Phdr)) ||
		ranges_meet(offset, size, header->e_shoff, header->e_shnum * sizeof(Elf64_Shdr)))
		return true;
	for (size_t i = 0; i < file->n_segments; i++) {
		const Elf64_Phdr *segment = &file->segments[i];

		if (inside && (segment->p_type == PT_LOAD || segment->p_type == PT_GNU_RELRO))
			continue;
		if (ranges_meet(offset, size, segment->p_offset, segment->p_filesz))
			return true;
	}
	for (size_t i = 0; i < file->n_sections; i++) {
		const Elf64_Shdr *section = &file->sections[i];

		if (section->sh_type != SHT_NOBITS &&
			ranges_meet(offset, size, section->sh_offset, section->sh_size))
			return true;
	}
	return false;
}

/* 0 where there are only zeros. */
static int check_zeros(struct elfpatch_file *file, uint64_t offset, size_t size)
{
	uint8_t bytes[ELFPATCH_PAGE];
	int r = elfpatch_read(file, bytes, size, offset, true);

	for (size_t i = 0; r == 0 && i < size; i++)
		if (bytes[i] != 0)
			return ELFPATCH_STRANGE;
	return r;
}

/* Behind the load, in its last page. */
static int find_slack(struct elfpatch_file *file, size_t size, uint64_t *ret_offset)
{
	const Elf64_Phdr *load = &file->segments[file->strings_load];
	uint64_t end = load->p_offset + load->p_filesz, address = load->p_vaddr + load->p_memsz;
	size_t room = (size_t)(-end % ELFPATCH_PAGE);
	int r;

	if (load->p_filesz != load->p_memsz || size > room || room > file->size - end ||
		is_taken(file, end, size, false))
		return ELFPATCH_STRANGE;
	for (size_t i = 0; i < file->n_segments; i++)
		if (file->segments[i].p_type == PT_LOAD &&
			ranges_meet(address, size, file->segments[i].p_vaddr,
				file->segments[i].p_memsz))
			return ELFPATCH_STRANGE;
	r = check_zeros(file, end, size);
	if (r == 0)
		*ret_offset = end;
	return r;
}

/* Between two sections of the load, behind .dynstr: the first hole that is large enough. */
static int find_hole(struct elfpatch_file *file, size_t size, uint64_t *ret_offset)
{
	const Elf64_Phdr *load = &file->segments[file->strings_load];
	uint64_t first = UINT64_MAX, load_end = load->p_offset + load->p_filesz;
	int r;

	if (size > ELFPATCH_PAGE || !elfpatch_has_sections(file))
		return ELFPATCH_STRANGE;
	for (size_t i = 0; i < file->n_sections; i++) {
		uint64_t end = file->sections[i].sh_offset + file->sections[i].sh_size;

		if (file->sections[i].sh_type == SHT_NOBITS ||
			end < file->strings + file->strings_size || end >= first ||
			end > load_end || size > load_end - end || is_taken(file, end, size, true))
			continue;
		first = end;
	}
	if (first == UINT64_MAX)
		return ELFPATCH_STRANGE;
	r = check_zeros(file, first, size);
	if (r == 0)
		*ret_offset = first;
	return r;
}

static int find_room(struct elfpatch_file *file, size_t size, uint64_t *ret_offset)
{
	int r;

	if (file->segments[file->strings_load].p_flags & PF_W)
		return ELFPATCH_STRANGE;
	r = find_slack(file, size, ret_offset);
	return r == ELFPATCH_STRANGE ? find_hole(file, size, ret_offset) : r;
}

/* Whether a DT_NULL follows the first one: in .dynamic, or in the zeros that a linker left behind
 * it (*ret_grow). */
static int find_spare(struct elfpatch_file *file, bool *ret_grow)
{
	const Elf64_Phdr *segment = &file->segments[file->dynamic];
	uint64_t end = segment->p_offset + segment->p_filesz;
	const Elf64_Phdr *load = &file->segments[file->dynamic_load];

	*ret_grow = file->n_entries + 1 == file->n_slots;
	if (!*ret_grow)
		return file->entries[file->n_entries + 1].d_tag == DT_NULL ? 0 : ELFPATCH_STRANGE;
	if (segment->p_filesz != segment->p_memsz || segment->p_filesz % sizeof(Elf64_Dyn) ||
		sizeof(Elf64_Dyn) > load->p_offset + load->p_filesz - end ||
		!elfpatch_has_sections(file) || is_taken(file, end, sizeof(Elf64_Dyn), true))
		return ELFPATCH_STRANGE;
	return check_zeros(file, end, sizeof(Elf64_Dyn));
}

static int write_entry(
	const struct elfpatch_file *file, size_t entry, Elf64_Dyn value, struct overlay *overlay)
{
	uint64_t offset = file->segments[file->dynamic].p_offset + entry * sizeof(value);
	size_t same = 0;

	if (entry < file->n_entries && file->entries[entry].d_tag == value.d_tag)
		same = offsetof(Elf64_Dyn, d_un);
	return overlay_write(
		overlay, offset + same, (const char *)&value + same, sizeof(value) - same);
}

/* p_filesz and p_memsz, which follow each other. */
static int grow_segment(
	const struct elfpatch_file *file, size_t index, uint64_t size, struct overlay *overlay)
{
	const Elf64_Phdr *segment = &file->segments[index];
	uint64_t sizes[2] = { segment->p_filesz + size, segment->p_memsz + size };

	return overlay_write(overlay,
		file->header.e_phoff + index * sizeof(*segment) + offsetof(Elf64_Phdr, p_filesz),
		sizes, sizeof(sizes));
}

static int resize_section(
	const struct elfpatch_file *file, size_t index, uint64_t size, struct overlay *overlay)
{
	return overlay_write(overlay,
		file->header.e_shoff + index * sizeof(Elf64_Shdr) + offsetof(Elf64_Shdr, sh_size),
		&size, sizeof(size));
}

/* The string, and all that has to grow to reach it. */
static int write_string(const struct elfpatch_file *file, const char *runpath, uint64_t offset,
	struct overlay *overlay)
{
	const Elf64_Phdr *load = &file->segments[file->strings_load];
	uint64_t size = strlen(runpath) + 1, end = load->p_offset + load->p_filesz;
	Elf64_Dyn strsz = { DT_STRSZ, { offset - file->strings + size } };
	size_t dynamic, strings;
	int r = overlay_write(overlay, offset, runpath, (size_t)size);

	if (r == 0 && offset == end)
		r = grow_segment(file, file->strings_load, size, overlay);
	if (r == 0)
		r = write_entry(file, file->strsz, strsz, overlay);
	elfpatch_find_sections(file, &dynamic, &strings);
	if (r == 0 && strings != ELFPATCH_NONE)
		r = resize_section(file, strings, strsz.d_un.d_val, overlay);
	return r;
}

static int grow_dynamic(const struct elfpatch_file *file, struct overlay *overlay)
{
	size_t dynamic, strings;
	int r = grow_segment(file, file->dynamic, sizeof(Elf64_Dyn), overlay);

	elfpatch_find_sections(file, &dynamic, &strings);
	if (r == 0)
		r = resize_section(file, dynamic,
			file->segments[file->dynamic].p_filesz + sizeof(Elf64_Dyn), overlay);
	return r;
}

int elfpatch_place(struct elfpatch_file *file, const char *runpath, struct overlay *overlay)
{
	bool add = file->path == ELFPATCH_NONE, grow = false;
	size_t entry = add ? file->n_entries : file->path;
	Elf64_Dyn value = { DT_RUNPATH, { 0 } };
	uint64_t offset = 0;
	int r = 0;

	if (add)
		r = find_spare(file, &grow);
	if (r == 0 && runpath)
		r = find_room(file, strlen(runpath) + 1, &offset);
	if (r != 0)
		return r;
	if (runpath)
		value.d_un.d_val = offset - file->strings;
	else
		value.d_un = file->entries[entry].d_un;
	if (runpath)
		r = write_string(file, runpath, offset, overlay);
	if (r == 0 && grow)
		r = grow_dynamic(file, overlay);
	return r == 0 ? write_entry(file, entry, value, overlay) : r;
}
