/* SPDX-License-Identifier: MIT */
/* patch_builder: libraries of two loads in memory, with room for a RUNPATH or without, and a check
 * of what a plan made of one; for elfpatch's tests, fuzzer and seeds. */
#pragma once

#include <elf.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "elfpatch.h"
#include "util.h"

#define PATCH_BUILT_MAX 0x2000
#define PATCH_STRINGS   0x300
#define PATCH_DYNAMIC   0x1000 /* its offset; the address is a page further */
#define PATCH_DELTA     0x10000
#define PATCH_SEGMENTS  5

struct patch_plan {
	const char *soname, *runpath, *rpath;
	const char *needed[3];
	unsigned spare; /* DT_NULLs behind the first */
	unsigned slack; /* zeros behind the read-only load; the page's end is 0xfff */
	bool filled;    /* no zeros but other bytes */
	bool writable;  /* the load with the strings */
	bool bss;       /* which it ends with */
	bool interpreter;
	bool debug;      /* DT_DEBUG */
	bool pie;        /* DF_1_PIE */
	bool phdr;       /* PT_PHDR */
	bool sections;   /* null, .dynstr, .dynamic */
	bool tight;      /* and one from .dynstr to the load's end */
	unsigned behind; /* zeros behind .dynamic in its load */
	uint64_t align;
	uint64_t bss_size; /* of the load with .dynamic */
};

struct patch_built {
	uint8_t bytes[PATCH_BUILT_MAX];
	size_t size;
};

static inline uint64_t patch_string(struct patch_built *built, uint64_t *size, const char *text)
{
	uint64_t at = *size;

	memcpy(built->bytes + PATCH_STRINGS + at, text, strlen(text) + 1);
	*size += strlen(text) + 1;
	return at;
}

static inline size_t patch_entries(
	const struct patch_plan *plan, struct patch_built *built, uint64_t *ret_strings)
{
	Elf64_Dyn entries[24] = { 0 };
	uint64_t size = 1;
	size_t n = 0;

	for (size_t i = 0; i < 3 && plan->needed[i]; i++)
		entries[n++] =
			(Elf64_Dyn){ DT_NEEDED, { patch_string(built, &size, plan->needed[i]) } };
	if (plan->soname)
		entries[n++] =
			(Elf64_Dyn){ DT_SONAME, { patch_string(built, &size, plan->soname) } };
	if (plan->rpath)
		entries[n++] = (Elf64_Dyn){ DT_RPATH, { patch_string(built, &size, plan->rpath) } };
	if (plan->runpath)
		entries[n++] =
			(Elf64_Dyn){ DT_RUNPATH, { patch_string(built, &size, plan->runpath) } };
	if (plan->debug)
		entries[n++] = (Elf64_Dyn){ DT_DEBUG, { 0 } };
	if (plan->pie)
		entries[n++] = (Elf64_Dyn){ DT_FLAGS_1, { DF_1_PIE } };
	entries[n++] = (Elf64_Dyn){ DT_STRTAB, { PATCH_STRINGS } };
	entries[n++] = (Elf64_Dyn){ DT_STRSZ, { size } };
	n += 1 + plan->spare;
	memcpy(built->bytes + PATCH_DYNAMIC, entries, n * sizeof(*entries));
	*ret_strings = size;
	return n * sizeof(*entries);
}

static inline void patch_sections(const struct patch_plan *plan, struct patch_built *built,
	Elf64_Ehdr *header, uint64_t strings, uint64_t dynamic)
{
	Elf64_Shdr sections[4] = {
		{ 0 },
		{ .sh_type = SHT_STRTAB,
			.sh_flags = SHF_ALLOC,
			.sh_addr = PATCH_STRINGS,
			.sh_offset = PATCH_STRINGS,
			.sh_size = strings },
		{ .sh_type = SHT_DYNAMIC,
			.sh_flags = SHF_ALLOC,
			.sh_addr = PATCH_DYNAMIC + PATCH_DELTA,
			.sh_offset = PATCH_DYNAMIC,
			.sh_size = dynamic,
			.sh_link = 1 },
	};

	sections[3].sh_type = SHT_PROGBITS;
	sections[3].sh_offset = sections[3].sh_addr = PATCH_STRINGS + strings;
	sections[3].sh_size = PATCH_DYNAMIC - plan->slack - sections[3].sh_offset;
	header->e_shoff = built->size;
	header->e_shnum = plan->tight ? 4 : 3;
	header->e_shentsize = sizeof(*sections);
	memcpy(built->bytes + built->size, sections, sizeof(sections));
	built->size += header->e_shnum * sizeof(*sections);
}

/* [headers][.dynstr …] in a read-only load, [.dynamic] in a writable one. */
static inline void patch_build(const struct patch_plan *plan, struct patch_built *ret_built)
{
	struct patch_built built = { .size = PATCH_DYNAMIC };
	Elf64_Ehdr header = { .e_type = ET_DYN,
		.e_machine = EM_X86_64,
		.e_version = 1,
		.e_phoff = sizeof(header),
		.e_ehsize = sizeof(header),
		.e_phentsize = sizeof(Elf64_Phdr) };
	Elf64_Phdr segments[PATCH_SEGMENTS];
	uint64_t strings, align = plan->align ? plan->align : 0x1000;
	uint64_t first = PATCH_DYNAMIC - plan->slack,
		 dynamic = patch_entries(plan, &built, &strings);
	uint16_t n = 0;

	if (plan->filled)
		memset(built.bytes + first, 0xee, plan->slack);
	built.size += dynamic + plan->behind;
	if (plan->phdr)
		segments[n++] = (Elf64_Phdr){ PT_PHDR, PF_R, 64, 64, 64, 56, 56, 8 };
	if (plan->interpreter)
		segments[n++] = (Elf64_Phdr){ PT_INTERP, PF_R, 0x200, 0x200, 0x200, 8, 8, 1 };
	segments[n++] = (Elf64_Phdr){ .p_type = PT_LOAD,
		.p_flags = plan->writable ? PF_R | PF_W : PF_R,
		.p_filesz = first,
		.p_memsz = first + (plan->bss ? 16 : 0),
		.p_align = align };
	segments[n++] = (Elf64_Phdr){ .p_type = PT_LOAD,
		.p_flags = PF_R | PF_W,
		.p_offset = PATCH_DYNAMIC,
		.p_vaddr = PATCH_DYNAMIC + PATCH_DELTA,
		.p_filesz = dynamic + plan->behind,
		.p_memsz = dynamic + plan->behind + plan->bss_size,
		.p_align = align };
	segments[n++] = (Elf64_Phdr){ .p_type = PT_DYNAMIC,
		.p_flags = PF_R | PF_W,
		.p_offset = PATCH_DYNAMIC,
		.p_vaddr = PATCH_DYNAMIC + PATCH_DELTA,
		.p_filesz = dynamic,
		.p_memsz = dynamic,
		.p_align = 8 };
	header.e_phnum = n;
	if (plan->phdr)
		segments[0].p_filesz = segments[0].p_memsz = n * sizeof(*segments);
	if (plan->sections)
		patch_sections(plan, &built, &header, strings, dynamic);
	memcpy(header.e_ident, ELFMAG, SELFMAG);
	header.e_ident[EI_CLASS] = ELFCLASS64;
	header.e_ident[EI_DATA] = ELFDATA2LSB;
	header.e_ident[EI_VERSION] = EV_CURRENT;
	memcpy(built.bytes, &header, sizeof(header));
	memcpy(built.bytes + sizeof(header), segments, n * sizeof(*segments));
	*ret_built = built;
}

struct patch_memory {
	const uint8_t *bytes;
	size_t size;
	unsigned reads;
	int error; /* of the read number `reads` = fail_at */
	unsigned fail_at;
};

static inline int64_t patch_read(void *context, void *buffer, size_t size, uint64_t offset)
{
	struct patch_memory *memory = context;

	if (++memory->reads == memory->fail_at)
		return memory->error;
	if (offset >= memory->size)
		return 0;
	if (size > memory->size - offset)
		size = memory->size - (size_t)offset;
	memcpy(buffer, memory->bytes + offset, size);
	return (int64_t)size;
}

static inline int patch_try(
	struct patch_memory *memory, const char *wanted, struct elfpatch_plan *ret_plan)
{
	struct elf_input input = { patch_read, memory, memory->size };

	memory->reads = 0;
	return elfpatch(&input, wanted, ret_plan);
}

/* The whole result, owned by the caller; NULL without memory. */
static inline uint8_t *patch_result(
	const struct patch_memory *memory, const struct overlay *overlay)
{
	uint8_t *bytes = malloc((size_t)overlay->size);

	if (!bytes)
		return NULL;
	memcpy(bytes, memory->bytes, memory->size);
	overlay_apply(overlay, bytes, (size_t)overlay->size, memory->size, 0);
	return bytes;
}

/* Copies what PT_DYNAMIC of a good file has before its DT_NULL. Returns how many. */
static inline size_t patch_walk(const uint8_t *bytes, Elf64_Dyn *entries, size_t most)
{
	Elf64_Ehdr header;
	size_t n = 0;

	memcpy(&header, bytes, sizeof(header));
	for (size_t i = 0; i < header.e_phnum; i++) {
		Elf64_Phdr segment;

		memcpy(&segment, bytes + header.e_phoff + i * sizeof(segment), sizeof(segment));
		if (segment.p_type != PT_DYNAMIC)
			continue;
		for (; n < most && n < segment.p_filesz / sizeof(*entries); n++) {
			memcpy(&entries[n], bytes + segment.p_offset + n * sizeof(*entries),
				sizeof(*entries));
			if (entries[n].d_tag == DT_NULL)
				break;
		}
		break;
	}
	return n;
}

/* The entries but those that a plan may change are the same, in the same order. */
static inline bool patch_same_entries(const uint8_t *before, const uint8_t *after)
{
	enum { MOST = 5000 };
	Elf64_Dyn *entries = calloc(2 * MOST, sizeof(*entries));
	size_t a, b;
	bool same;

	if (!entries)
		return false;
	a = patch_walk(before, entries, MOST);
	b = patch_walk(after, entries + MOST, MOST);
	same = b == a || b == a + 1;
	for (size_t i = 0; same && i < a; i++) {
		Elf64_Dyn *x = &entries[i], *y = &entries[MOST + i];

		if (x->d_tag == DT_RPATH && y->d_tag == DT_RUNPATH)
			continue;
		same = x->d_tag == y->d_tag &&
		       (x->d_un.d_val == y->d_un.d_val || x->d_tag == DT_STRTAB ||
			       x->d_tag == DT_STRSZ || x->d_tag == DT_RUNPATH);
	}
	if (same && b == a + 1)
		same = entries[MOST + a].d_tag == DT_RUNPATH;
	free(entries);
	return same;
}

/* NULL, or what is wrong with the result of a plan. */
static inline const char *patch_check(
	struct patch_memory *memory, const char *wanted, const struct elfpatch_plan *plan)
{
	_cleanup_(freep) uint8_t *bytes = patch_result(memory, plan->overlay);
	struct patch_memory result = { bytes, (size_t)plan->overlay->size };
	struct elf_input before_input = { patch_read, memory, memory->size };
	struct elf_input after_input = { patch_read, &result, result.size };
	struct elf_facts before = { 0 }, after = { 0 };
	struct elfpatch_plan again = { 0 };
	const char *wrong = NULL;
	int error;

	if (!bytes)
		return NULL;
	if (plan->kind == ELFPATCH_IN_PLACE ? result.size != memory->size
					    : result.size <= memory->size)
		return "size";
	if (!patch_same_entries(memory->bytes, bytes))
		return "dynamic entries";
	if (!string_has_prefix(plan->runpath, wanted))
		return "RUNPATH of the plan";
	if (patch_try(&result, wanted, &again) < 0 || again.kind != ELFPATCH_NOT_NEEDED)
		wrong = "not idempotent";
	elfpatch_clear(&again);
	/* A file whose names do not read is not served as a library. */
	if (elf_read(&before_input, &before, &error) != ELF_FINE)
		return wrong;
	if (elf_read(&after_input, &after, &error) != ELF_FINE)
		wrong = "result does not read";
	else if (!string_equal(after.runpath, plan->runpath))
		wrong = "RUNPATH";
	else if (!string_equal(after.soname, before.soname) ||
		 after.needed.count != before.needed.count)
		wrong = "SONAME or NEEDED";
	for (size_t i = 0; !wrong && i < before.needed.count; i++)
		if (strcmp(before.needed.items[i], after.needed.items[i]) != 0)
			wrong = "NEEDED";
	elf_facts_clear(&before);
	elf_facts_clear(&after);
	return wrong;
}
