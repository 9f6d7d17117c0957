/* SPDX-License-Identifier: MIT */
/* note_builder: ELF files in memory with a forward-compatibility note, made like NVIDIA's fixtures
 * (no program headers), for tests and seeds. */
#pragma once

#include <elf.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define NOTE_BUILT_MAX 4096

/* FACTS.md 3, of cuda-compat 12.9 for servers and of cuda-compat-orin 13.2. */
#define NOTE_SERVER                                                                                \
	"{\"format\":1,\"CUDA version\":\"12.9\",\"driver\":[535,550,560,565,570,575],"            \
	"\"device\":[1,2,7,8,9,10,11,12,13,14]}"
#define NOTE_ORIN "{\"format\":1,\"CUDA version\":\"13.2\"}"

struct note_plan {
	const char *text;
	const char *vendor;  /* NULL: NVIDIA's */
	const char *section; /* NULL: the right one */
	uint32_t type;
	bool narrow; /* class 32 */
	bool big_endian;
	uint32_t more;        /* what descsz says beyond the section's end */
	uint32_t padding;     /* NULs behind the text, part of descsz */
	const char *second;   /* the text of another such section, behind the first */
	bool as_program_data; /* the section is SHT_PROGBITS */
	uint64_t align;       /* 0: 4 */
};

struct note_built {
	uint8_t bytes[NOTE_BUILT_MAX];
	size_t size;
	size_t note;     /* file offset of the note */
	size_t sections; /* file offset of the section headers */
};

static inline void note_put(
	struct note_built *built, const struct note_plan *plan, uint64_t value, size_t width)
{
	for (size_t i = 0; i < width; i++)
		built->bytes[built->size++] =
			(uint8_t)(value >> 8 * (plan->big_endian ? width - 1 - i : i));
}

static inline void note_put_text(struct note_built *built, const char *text, size_t size)
{
	memcpy(built->bytes + built->size, text, size);
	built->size += size;
}

static inline void note_align(struct note_built *built)
{
	built->size = (built->size + 7) & ~(size_t)7;
}

/* Returns the size of the note that starts at built->size. */
static inline size_t note_put_note(
	struct note_built *built, const struct note_plan *plan, const char *text)
{
	const char *vendor = plan->vendor ? plan->vendor : "NVIDIA Corporation";
	size_t begin = built->size, length = strlen(text) + plan->padding;

	note_put(built, plan, strlen(vendor) + 1, 4);
	note_put(built, plan, length + plan->more, 4);
	note_put(built, plan, plan->type, 4);
	note_put_text(built, vendor, strlen(vendor) + 1);
	built->size = begin + 12 + ((strlen(vendor) + 1 + 3) & ~(size_t)3);
	note_put_text(built, text, strlen(text));
	built->size += plan->padding;
	return built->size - begin;
}

static inline void note_put_header(struct note_built *built, const struct note_plan *plan,
	uint32_t name, uint32_t type, uint64_t offset, uint64_t size)
{
	size_t width = plan->narrow ? 4 : 8;

	note_put(built, plan, name, 4);
	note_put(built, plan, type, 4);
	note_put(built, plan, 0, width); /* flags */
	note_put(built, plan, 0, width); /* address */
	note_put(built, plan, offset, width);
	note_put(built, plan, size, width);
	note_put(built, plan, 0, 4); /* link */
	note_put(built, plan, 0, 4); /* info */
	note_put(built, plan, plan->align ? plan->align : 4, width);
	note_put(built, plan, 0, width);
}

static inline void note_put_file_header(
	struct note_built *built, const struct note_plan *plan, uint16_t n_sections)
{
	size_t width = plan->narrow ? 4 : 8, size = built->size;

	built->size = EI_NIDENT;
	memcpy(built->bytes, ELFMAG, SELFMAG);
	built->bytes[EI_CLASS] = plan->narrow ? ELFCLASS32 : ELFCLASS64;
	built->bytes[EI_DATA] = plan->big_endian ? ELFDATA2MSB : ELFDATA2LSB;
	built->bytes[EI_VERSION] = EV_CURRENT;
	note_put(built, plan, ET_DYN, 2);
	note_put(built, plan, EM_AARCH64, 2);
	note_put(built, plan, EV_CURRENT, 4);
	note_put(built, plan, 0, width); /* entry */
	note_put(built, plan, 0, width); /* program headers */
	note_put(built, plan, built->sections, width);
	note_put(built, plan, 0, 4);
	note_put(built, plan, plan->narrow ? sizeof(Elf32_Ehdr) : sizeof(Elf64_Ehdr), 2);
	note_put(built, plan, 0, 2);
	note_put(built, plan, 0, 2);
	note_put(built, plan, plan->narrow ? sizeof(Elf32_Shdr) : sizeof(Elf64_Shdr), 2);
	note_put(built, plan, n_sections, 2);
	note_put(built, plan, n_sections - 1, 2);
	built->size = size;
}

static inline void note_build(const struct note_plan *plan, struct note_built *built)
{
	const char *section = plan->section ? plan->section : ".note.cuda.fwd_compatibility";
	uint32_t type = plan->as_program_data ? SHT_PROGBITS : SHT_NOTE;
	size_t size, second = 0, second_size = 0, names;

	memset(built, 0, sizeof(*built));
	built->size = sizeof(Elf64_Ehdr);
	built->note = built->size;
	size = note_put_note(built, plan, plan->text);
	note_align(built);
	if (plan->second) {
		second = built->size;
		second_size = note_put_note(built, plan, plan->second);
		note_align(built);
	}
	names = built->size;
	built->size++;
	note_put_text(built, section, strlen(section) + 1);
	note_put_text(built, ".shstrtab", sizeof(".shstrtab"));
	size_t names_size = built->size - names;
	note_align(built);
	built->sections = built->size;
	note_put_header(built, plan, 0, SHT_NULL, 0, 0);
	note_put_header(built, plan, 1, type, built->note, size);
	if (plan->second)
		note_put_header(built, plan, 1, type, second, second_size);
	note_put_header(built, plan, (uint32_t)strlen(section) + 2, SHT_STRTAB, names, names_size);
	note_put_file_header(built, plan, plan->second ? 4 : 3);
}
