/* SPDX-License-Identifier: MIT */
/* elfpatch_internal: what the parts of elfpatch share: the file as far as it is understood, and the
 * two ways to place a string. Functions return 0, an enum elfpatch_refusal, or -ENOMEM. Core. */
#pragma once

#include <elf.h>

#include "elfpatch.h"

#define ELFPATCH_PAGE        4096        /* smallest page of any system */
#define ELFPATCH_ALIGN_MAX   (64 * 1024) /* largest page of any system */
#define ELFPATCH_RUNPATH_MAX (16 * 1024) /* bytes with the NUL; elf_read reads no more */
#define ELFPATCH_NONE        SIZE_MAX
#define ELFPATCH_CHUNKS      12

/* Reads of a host file, each kept, so that parsing the result again reads nothing twice. */
struct elfpatch_source {
	const struct elf_input *input;
	struct elfpatch_chunk {
		uint64_t offset;
		size_t size;
		uint8_t *bytes;
	} chunks[ELFPATCH_CHUNKS];
	size_t n_chunks;
};

/* What one parse found. Borrows its source. */
struct elfpatch_file {
	struct elfpatch_source *source;
	const struct overlay *overlay; /* seen through it; NULL: the host's bytes */
	uint64_t size;
	Elf64_Ehdr header;
	Elf64_Phdr *segments;
	size_t n_segments;
	Elf64_Shdr *sections; /* none where there are none or they make no sense */
	size_t n_sections;
	size_t dynamic;      /* segment of .dynamic */
	size_t dynamic_load; /* the segment that it lies in */
	Elf64_Dyn *entries;  /* all that the segment has room for */
	size_t n_entries;    /* before the first DT_NULL */
	size_t n_slots;
	size_t strtab, strsz; /* entries */
	size_t path;   /* the entry that holds the RUNPATH, else the RPATH, or ELFPATCH_NONE */
	size_t soname; /* entry, or ELFPATCH_NONE */
	size_t strings_load; /* segment */
	uint64_t strings;    /* file offset of .dynstr */
	uint64_t strings_size;
};

/* Reads exactly size bytes. `keep`: for a later parse. */
int elfpatch_read(
	struct elfpatch_file *file, void *buffer, size_t size, uint64_t offset, bool keep);
void elfpatch_source_clear(struct elfpatch_source *source);

/* Fills *file, whose source, overlay and size are set. Clear it also after a failure. */
int elfpatch_parse(struct elfpatch_file *file);
void elfpatch_file_clear(struct elfpatch_file *file);
/* The string of an entry, owned by the caller. */
int elfpatch_string(struct elfpatch_file *file, size_t entry, char **ret_text);
/* The sections .dynamic and .dynstr, or ELFPATCH_NONE. */
void elfpatch_find_sections(
	const struct elfpatch_file *file, size_t *ret_dynamic, size_t *ret_strings);
/* Are both there, so that what no section covers is known to be unused? */
bool elfpatch_has_sections(const struct elfpatch_file *file);

/* Write the edits. elfpatch_place returns ELFPATCH_STRANGE, with nothing written, where there is no
 * room in place; its `runpath` is NULL where the entry's string is right and only its tag is not.
 */
int elfpatch_place(struct elfpatch_file *file, const char *runpath, struct overlay *overlay);
int elfpatch_tail(struct elfpatch_file *file, const char *runpath, struct overlay *overlay);

/* Parses the result through the overlay and compares it with the file. `runpath` is the whole. */
int elfpatch_verify(struct elfpatch_file *file, const char *runpath, const struct overlay *overlay);
