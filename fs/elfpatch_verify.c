/* SPDX-License-Identifier: MIT */
/* elfpatch: a plan is believed only when its result parses to what was wanted, and to nothing else
 * that is different. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "elfpatch_internal.h"
#include "util.h"

/* May what a segment covers differ? Its place and size are those of what was moved or grew. */
static bool is_same_segment(const struct elfpatch_file *file, const struct elfpatch_file *again,
	size_t i, const Elf64_Phdr *after)
{
	bool tail = again->n_segments > file->n_segments;
	Elf64_Phdr before = file->segments[i];

	if (tail && (before.p_type == PT_PHDR || i == file->dynamic)) {
		before.p_offset = after->p_offset;
		before.p_vaddr = after->p_vaddr;
		before.p_paddr = after->p_paddr;
		before.p_filesz = after->p_filesz;
		before.p_memsz = after->p_memsz;
	} else if (!tail && i == file->strings_load && after->p_filesz >= before.p_filesz) {
		before.p_memsz += after->p_filesz - before.p_filesz;
		before.p_filesz = after->p_filesz;
	} else if (!tail && i == file->dynamic && again->n_slots == file->n_slots + 1) {
		before.p_filesz += sizeof(Elf64_Dyn);
		before.p_memsz += sizeof(Elf64_Dyn);
	}
	return memcmp(&before, after, sizeof(before)) == 0;
}

static bool are_segments_fine(const struct elfpatch_file *file, const struct elfpatch_file *again)
{
	size_t added = again->n_segments - file->n_segments;

	for (size_t i = 0, j = 0; j < again->n_segments; j++) {
		const Elf64_Phdr *after = &again->segments[j];

		/* The new load is the one that has the strings now. */
		if (added == 1 && j == again->strings_load) {
			if (after->p_type != PT_LOAD || after->p_flags != (PF_R | PF_W) ||
				after->p_offset + after->p_filesz != again->size)
				return false;
			continue;
		}
		if (i == file->n_segments || !is_same_segment(file, again, i++, after))
			return false;
	}
	return added <= 1;
}

static bool are_entries_fine(const struct elfpatch_file *file, const struct elfpatch_file *again)
{
	size_t path = file->path == ELFPATCH_NONE ? file->n_entries : file->path;

	if (again->n_entries != file->n_entries + (file->path == ELFPATCH_NONE) ||
		again->path != path || again->entries[path].d_tag != DT_RUNPATH)
		return false;
	for (size_t i = 0; i < file->n_entries; i++) {
		const Elf64_Dyn *before = &file->entries[i], *after = &again->entries[i];
		bool moves = i == file->strtab || i == file->strsz;

		if (i == path)
			continue;
		if (before->d_tag != after->d_tag ||
			(!moves && before->d_un.d_val != after->d_un.d_val))
			return false;
	}
	return again->strings_size >= file->strings_size;
}

static bool is_header_fine(const struct elfpatch_file *file, const struct elfpatch_file *again)
{
	Elf64_Ehdr before = file->header;

	if (again->n_segments > file->n_segments) {
		before.e_phoff = again->header.e_phoff;
		before.e_phnum = again->header.e_phnum;
	}
	return memcmp(&before, &again->header, sizeof(before)) == 0;
}

/* The old strings keep their bytes: no edit of the host's part meets them. */
static bool are_strings_kept(const struct elfpatch_file *file, const struct overlay *overlay)
{
	for (size_t i = 0; i < overlay->count; i++) {
		const struct overlay_edit *edit = &overlay->edits[i];

		if (edit->offset < file->strings + file->strings_size &&
			file->strings < edit->offset + edit->size)
			return false;
	}
	return true;
}

int elfpatch_verify(struct elfpatch_file *file, const char *runpath, const struct overlay *overlay)
{
	struct elfpatch_file again = {
		.source = file->source, .overlay = overlay, .size = overlay->size
	};
	_cleanup_(freep) char *text = NULL;
	size_t size = strlen(runpath) + 1;
	uint64_t string;
	int r = elfpatch_parse(&again);

	if (r == 0 && (!is_header_fine(file, &again) || !are_segments_fine(file, &again) ||
			      !are_entries_fine(file, &again) || !are_strings_kept(file, overlay)))
		r = ELFPATCH_NOT_VERIFIED;
	if (r == 0) {
		string = again.entries[again.path].d_un.d_val;
		if (string >= again.strings_size || size > again.strings_size - string)
			r = ELFPATCH_NOT_VERIFIED;
	}
	if (r == 0) {
		text = malloc(size);
		r = text ? elfpatch_read(&again, text, size, again.strings + string, false)
			 : -ENOMEM;
	}
	if (r == 0 && memcmp(text, runpath, size) != 0)
		r = ELFPATCH_NOT_VERIFIED;
	elfpatch_file_clear(&again);
	return r > 0 && r != ELFPATCH_IO ? ELFPATCH_NOT_VERIFIED : r;
}
