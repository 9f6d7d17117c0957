/* SPDX-License-Identifier: MIT */
/* elf_builder: tiny ELF libraries in memory, of any class and machine, for tests and seeds. */
#pragma once

#include <elf.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define ELF_BUILT_MAX 2048

struct elf_plan {
	uint8_t class; /* 0: ELFCLASS64 */
	bool big_endian;
	uint16_t machine; /* 0: EM_X86_64 */
	uint16_t type;    /* 0: ET_DYN */
	bool pie;
	bool static_; /* no PT_DYNAMIC */
	const char *soname, *runpath, *rpath;
	const char *needed[4];
	bool other_note; /* one of 20 bytes before the build-id's */
	uint8_t build_id_size;
	uint8_t build_id; /* its every byte */
};

struct elf_built {
	uint8_t bytes[ELF_BUILT_MAX];
	size_t size;
	size_t strings; /* file offset of .dynstr */
	size_t dynamic; /* file offset of .dynamic */
};

struct elf_entry {
	int64_t tag;
	uint64_t value;
};

static inline uint64_t elf_built_string(struct elf_built *built, const char *text)
{
	uint64_t at = built->size - built->strings;

	memcpy(built->bytes + built->size, text, strlen(text) + 1);
	built->size += strlen(text) + 1;
	return at;
}

static inline size_t elf_built_entries(
	const struct elf_plan *plan, struct elf_built *built, struct elf_entry *entries)
{
	size_t n = 0;

	built->strings = built->size;
	built->bytes[built->size++] = 0;
	for (size_t i = 0; i < 4 && plan->needed[i]; i++)
		entries[n++] =
			(struct elf_entry){ DT_NEEDED, elf_built_string(built, plan->needed[i]) };
	if (plan->soname)
		entries[n++] =
			(struct elf_entry){ DT_SONAME, elf_built_string(built, plan->soname) };
	if (plan->rpath)
		entries[n++] = (struct elf_entry){ DT_RPATH, elf_built_string(built, plan->rpath) };
	if (plan->runpath)
		entries[n++] =
			(struct elf_entry){ DT_RUNPATH, elf_built_string(built, plan->runpath) };
	if (plan->pie)
		entries[n++] = (struct elf_entry){ DT_FLAGS_1, DF_1_PIE };
	entries[n++] = (struct elf_entry){ DT_STRTAB, 0x10000 + built->strings };
	entries[n++] = (struct elf_entry){ DT_STRSZ, built->size - built->strings };
	entries[n++] = (struct elf_entry){ DT_NULL, 0 };
	built->size = (built->size + 7) & ~(size_t)7;
	return n;
}

static inline void elf_built_header(
	const struct elf_plan *plan, struct elf_built *built, const Elf64_Phdr *headers, size_t n)
{
	bool wide = plan->class != ELFCLASS32;
	uint16_t machine = plan->machine ? plan->machine : EM_X86_64;
	uint16_t type = plan->type ? plan->type : ET_DYN;
	Elf64_Ehdr h64 = { .e_type = type,
		.e_machine = machine,
		.e_version = 1,
		.e_phoff = sizeof(h64),
		.e_ehsize = sizeof(h64),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = (uint16_t)n };
	Elf32_Ehdr h32 = { .e_type = type,
		.e_machine = machine,
		.e_version = 1,
		.e_phoff = sizeof(h32),
		.e_ehsize = sizeof(h32),
		.e_phentsize = sizeof(Elf32_Phdr),
		.e_phnum = (uint16_t)n };

	memcpy(built->bytes, wide ? (void *)&h64 : (void *)&h32, wide ? sizeof(h64) : sizeof(h32));
	memcpy(built->bytes, ELFMAG, SELFMAG);
	built->bytes[EI_CLASS] = wide ? ELFCLASS64 : ELFCLASS32;
	built->bytes[EI_DATA] = plan->big_endian ? ELFDATA2MSB : ELFDATA2LSB;
	built->bytes[EI_VERSION] = EV_CURRENT;
	if (plan->big_endian) {
		built->bytes[16] = (uint8_t)(type >> 8), built->bytes[17] = (uint8_t)type;
		built->bytes[18] = (uint8_t)(machine >> 8), built->bytes[19] = (uint8_t)machine;
	}
	for (size_t i = 0; i < n; i++) {
		const Elf64_Phdr *p = &headers[i];
		Elf32_Phdr narrow = { .p_type = p->p_type,
			.p_offset = (uint32_t)p->p_offset,
			.p_vaddr = (uint32_t)p->p_vaddr,
			.p_filesz = (uint32_t)p->p_filesz,
			.p_memsz = (uint32_t)p->p_memsz,
			.p_align = (uint32_t)p->p_align };

		if (wide)
			memcpy(built->bytes + sizeof(h64) + i * sizeof(*p), p, sizeof(*p));
		else
			memcpy(built->bytes + sizeof(h32) + i * sizeof(narrow), &narrow,
				sizeof(narrow));
	}
}

/* [header][program headers][note][strings][dynamic], all in one PT_LOAD at 0x10000. */
static inline void elf_build(const struct elf_plan *plan, struct elf_built *ret_built)
{
	struct elf_built built = { .size = 64 + 3 * sizeof(Elf64_Phdr) };
	struct elf_entry entries[16];
	Elf64_Phdr headers[3];
	size_t n = 0, note = built.size, count;
	bool wide = plan->class != ELFCLASS32;

	if (plan->build_id_size) {
		Elf64_Nhdr header = { 4, plan->build_id_size, NT_GNU_BUILD_ID };
		Elf64_Nhdr other = { 4, 4, NT_GNU_ABI_TAG };
		size_t at = note;

		if (plan->other_note) {
			memcpy(built.bytes + at, &other, sizeof(other));
			memcpy(built.bytes + at + sizeof(other), "GNU", 4);
			at += sizeof(other) + 8;
		}
		memcpy(built.bytes + at, &header, sizeof(header));
		memcpy(built.bytes + at + sizeof(header), "GNU", 4);
		memset(built.bytes + at + sizeof(header) + 4, plan->build_id, plan->build_id_size);
		built.size = at + sizeof(header) + 4 + (((size_t)plan->build_id_size + 3) & ~3ul);
		headers[n++] = (Elf64_Phdr){ .p_type = PT_NOTE,
			.p_offset = note,
			.p_vaddr = 0x10000 + note,
			.p_filesz = built.size - note,
			.p_memsz = built.size - note,
			.p_align = 4 };
	}
	count = elf_built_entries(plan, &built, entries);
	built.dynamic = built.size;
	for (size_t i = 0; i < count; i++) {
		Elf32_Dyn narrow = { (int32_t)entries[i].tag, { (uint32_t)entries[i].value } };
		Elf64_Dyn dyn = { entries[i].tag, { entries[i].value } };

		memcpy(built.bytes + built.size, wide ? (void *)&dyn : (void *)&narrow,
			wide ? sizeof(dyn) : sizeof(narrow));
		built.size += wide ? sizeof(dyn) : sizeof(narrow);
	}
	if (!plan->static_)
		headers[n++] = (Elf64_Phdr){ .p_type = PT_DYNAMIC,
			.p_offset = built.dynamic,
			.p_vaddr = 0x10000 + built.dynamic,
			.p_filesz = built.size - built.dynamic,
			.p_memsz = built.size - built.dynamic,
			.p_align = 8 };
	headers[n++] = (Elf64_Phdr){ .p_type = PT_LOAD,
		.p_flags = PF_R | PF_W,
		.p_vaddr = 0x10000,
		.p_filesz = built.size,
		.p_memsz = built.size,
		.p_align = 0x1000 };
	elf_built_header(plan, &built, headers, n);
	*ret_built = built;
}
