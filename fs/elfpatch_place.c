/* SPDX-License-Identifier: MIT */
/* elfpatch: in place: the string goes into the zeros behind the load that holds .dynstr, inside its
 * last page, which is mapped anyway. */
#include <errno.h>
#include <string.h>

#include "elfpatch_internal.h"

static bool ranges_meet(uint64_t a, uint64_t a_size, uint64_t b, uint64_t b_size)
{
	return a_size > 0 && b_size > 0 && (a < b ? b - a < a_size : a - b < b_size);
}

/* Does anything of the file or of the memory lie in the slack? */
static bool is_taken(const struct elfpatch_file *file, uint64_t offset, uint64_t size)
{
	const Elf64_Ehdr *header = &file->header;
	const Elf64_Phdr *load = &file->segments[file->strings_load];
	uint64_t address = load->p_vaddr + load->p_memsz;

	if (ranges_meet(offset, size, header->e_phoff, file->n_segments * sizeof(Elf64_Phdr)) ||
		ranges_meet(offset, size, header->e_shoff, header->e_shnum * sizeof(Elf64_Shdr)))
		return true;
	for (size_t i = 0; i < file->n_segments; i++) {
		const Elf64_Phdr *segment = &file->segments[i];

		if (ranges_meet(offset, size, segment->p_offset, segment->p_filesz) ||
			(segment->p_type == PT_LOAD &&
				ranges_meet(address, size, segment->p_vaddr, segment->p_memsz)))
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

/* Whether `size` bytes of zeros follow the load in its last page. */
static int check_slack(struct elfpatch_file *file, size_t size)
{
	const Elf64_Phdr *load = &file->segments[file->strings_load];
	uint64_t end = load->p_offset + load->p_filesz;
	size_t room = (size_t)(-end % ELFPATCH_PAGE);
	uint8_t slack[ELFPATCH_PAGE];
	int r;

	if ((load->p_flags & PF_W) || load->p_filesz != load->p_memsz || size > room ||
		room > file->size - end || is_taken(file, end, size))
		return ELFPATCH_STRANGE;
	r = elfpatch_read(file, slack, size, end, true);
	if (r != 0)
		return r;
	for (size_t i = 0; i < size; i++)
		if (slack[i] != 0)
			return ELFPATCH_STRANGE;
	return 0;
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

/* The string, and all that has to grow to reach it. */
static int write_string(
	const struct elfpatch_file *file, const char *runpath, struct overlay *overlay)
{
	uint64_t at = file->header.e_phoff + file->strings_load * sizeof(Elf64_Phdr);
	Elf64_Phdr load = file->segments[file->strings_load];
	uint64_t end = load.p_offset + load.p_filesz, size = strlen(runpath) + 1;
	Elf64_Dyn strsz = { DT_STRSZ, { end - file->strings + size } };
	size_t dynamic, strings;
	int r;

	load.p_filesz += size;
	load.p_memsz += size;
	r = overlay_write(overlay, end, runpath, (size_t)size);
	if (r == 0)
		r = overlay_write(overlay, at + offsetof(Elf64_Phdr, p_filesz), &load.p_filesz,
			sizeof(load.p_filesz) + sizeof(load.p_memsz));
	if (r == 0)
		r = write_entry(file, file->strsz, strsz, overlay);
	elfpatch_find_sections(file, &dynamic, &strings);
	if (r == 0 && strings != ELFPATCH_NONE)
		r = overlay_write(overlay,
			file->header.e_shoff + strings * sizeof(Elf64_Shdr) +
				offsetof(Elf64_Shdr, sh_size),
			&strsz.d_un.d_val, sizeof(strsz.d_un.d_val));
	return r;
}

int elfpatch_place(struct elfpatch_file *file, const char *runpath, struct overlay *overlay)
{
	const Elf64_Phdr *load = &file->segments[file->strings_load];
	bool add = file->path == ELFPATCH_NONE;
	size_t entry = add ? file->n_entries : file->path;
	Elf64_Dyn value = { DT_RUNPATH, { load->p_offset + load->p_filesz - file->strings } };
	int r = 0;

	if (add && (file->n_entries + 1 >= file->n_slots ||
			   file->entries[file->n_entries + 1].d_tag != DT_NULL))
		return ELFPATCH_STRANGE;
	if (runpath)
		r = check_slack(file, strlen(runpath) + 1);
	else
		value.d_un = file->entries[entry].d_un;
	if (r == 0 && runpath)
		r = write_string(file, runpath, overlay);
	return r == 0 ? write_entry(file, entry, value, overlay) : r;
}
