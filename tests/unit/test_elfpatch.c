/* SPDX-License-Identifier: MIT */
/* elfpatch: the plan of each kind of library, verified by reading the result. */
#include "../compat/cmocka.h"

#include <errno.h>

#include "patch_builder.h"

#define WANTED  "$ORIGIN/../set/lib:/run/gl/lib" /* of 30 bytes, with the NUL 31 */
#define LIBRARY .soname = "liba.so.1", .needed = { "libm.so.6", "libc.so.6" }

static const struct {
	const char *what;
	struct patch_plan plan;
	enum elfpatch_kind kind;
	enum elfpatch_refusal refusal;
	const char *runpath;
} built_cases[] = {
	{ "room", { LIBRARY, .spare = 4, .slack = 200 }, ELFPATCH_IN_PLACE, 0, WANTED },
	{ "sections", { LIBRARY, .spare = 4, .slack = 200, .sections = true }, ELFPATCH_IN_PLACE, 0,
		WANTED },
	{ "one spare entry, the string just fits", { LIBRARY, .spare = 1, .slack = 31 },
		ELFPATCH_IN_PLACE, 0, WANTED },
	{ "one byte short", { LIBRARY, .spare = 1, .slack = 30 }, ELFPATCH_TAIL, 0, WANTED },
	{ "no spare entry", { LIBRARY, .slack = 200 }, ELFPATCH_TAIL, 0, WANTED },
	{ "slack in use", { LIBRARY, .spare = 4, .slack = 200, .filled = true }, ELFPATCH_TAIL, 0,
		WANTED },
	{ "writable strings", { LIBRARY, .spare = 4, .slack = 200, .writable = true },
		ELFPATCH_TAIL, 0, WANTED },
	{ "a bss behind them", { LIBRARY, .spare = 4, .slack = 200, .bss = true }, ELFPATCH_TAIL, 0,
		WANTED },
	{ "tail with all", { LIBRARY, .phdr = true, .sections = true, .align = 0x10000 },
		ELFPATCH_TAIL, 0, WANTED },
	{ "tail behind a bss", { LIBRARY, .bss_size = 0x20000 }, ELFPATCH_TAIL, 0, WANTED },
	{ "hole between sections", { LIBRARY, .spare = 1, .sections = true }, ELFPATCH_IN_PLACE, 0,
		WANTED },
	{ "no hole", { LIBRARY, .spare = 1, .sections = true, .tight = true }, ELFPATCH_TAIL, 0,
		WANTED },
	{ "hole that nobody vouches for", { LIBRARY, .spare = 1 }, ELFPATCH_TAIL, 0, WANTED },
	{ "zeros behind .dynamic", { LIBRARY, .slack = 200, .behind = 16, .sections = true },
		ELFPATCH_IN_PLACE, 0, WANTED },
	{ "too few of them", { LIBRARY, .slack = 200, .behind = 15, .sections = true },
		ELFPATCH_TAIL, 0, WANTED },
	{ "that nobody vouches for", { LIBRARY, .slack = 200, .behind = 16 }, ELFPATCH_TAIL, 0,
		WANTED },
	{ "RUNPATH needs no spare entry", { LIBRARY, .runpath = "$ORIGIN", .slack = 200 },
		ELFPATCH_IN_PLACE, 0, WANTED ":$ORIGIN" },
	{ "RUNPATH and no room", { LIBRARY, .runpath = "$ORIGIN" }, ELFPATCH_TAIL, 0,
		WANTED ":$ORIGIN" },
	{ "RPATH", { LIBRARY, .rpath = "/x:/y", .slack = 200 }, ELFPATCH_IN_PLACE, 0,
		WANTED ":/x:/y" },
	{ "RPATH and no room", { LIBRARY, .rpath = "/x" }, ELFPATCH_TAIL, 0, WANTED ":/x" },
	{ "RUNPATH beats RPATH", { LIBRARY, .rpath = "/r", .runpath = "/run", .slack = 200 },
		ELFPATCH_IN_PLACE, 0, WANTED ":/run" },
	{ "empty RUNPATH", { LIBRARY, .runpath = "", .slack = 200 }, ELFPATCH_IN_PLACE, 0, WANTED },
	{ "RPATH that is right", { LIBRARY, .rpath = WANTED ":/x" }, ELFPATCH_IN_PLACE, 0,
		WANTED ":/x" },
	{ "there already", { LIBRARY, .runpath = WANTED }, ELFPATCH_NOT_NEEDED, 0, NULL },
	{ "first already", { LIBRARY, .runpath = WANTED ":/x" }, ELFPATCH_NOT_NEEDED, 0, NULL },
	{ "not first", { LIBRARY, .runpath = "/x:" WANTED, .slack = 200 }, ELFPATCH_IN_PLACE, 0,
		WANTED ":/x:" WANTED },
	{ "the beginning of another name", { LIBRARY, .runpath = WANTED "64", .slack = 200 },
		ELFPATCH_IN_PLACE, 0, WANTED ":" WANTED "64" },
	{ "libc.so.6 has an interpreter", { LIBRARY, .interpreter = true, .spare = 1, .slack = 99 },
		ELFPATCH_IN_PLACE, 0, WANTED },
	{ "DT_DEBUG alone makes no PIE", { LIBRARY, .debug = true, .spare = 1, .slack = 99 },
		ELFPATCH_IN_PLACE, 0, WANTED },
	{ "PIE", { .pie = true, .spare = 4, .slack = 200 }, ELFPATCH_REFUSED, ELFPATCH_NOT_LIBRARY,
		NULL },
	{ "old PIE", { .interpreter = true, .debug = true, .spare = 4, .slack = 200 },
		ELFPATCH_REFUSED, ELFPATCH_NOT_LIBRARY, NULL },
	{ "ld.so", { .soname = "ld-linux-aarch64.so.1", .spare = 4, .slack = 200 },
		ELFPATCH_REFUSED, ELFPATCH_LOADER, NULL },
	{ "ld.so of ppc64", { .soname = "ld64.so.2", .spare = 4, .slack = 200 }, ELFPATCH_REFUSED,
		ELFPATCH_LOADER, NULL },
	{ "strange alignment", { .align = 0x3000 }, ELFPATCH_REFUSED, ELFPATCH_STRANGE, NULL },
	{ "memory without end", { .bss_size = UINT64_C(1) << 50 }, ELFPATCH_REFUSED,
		ELFPATCH_STRANGE, NULL },
};

static void test_kinds(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(built_cases); i++) {
		struct patch_built built;
		struct patch_memory memory = { built.bytes };
		struct elfpatch_plan plan;
		const char *wrong = NULL;

		patch_build(&built_cases[i].plan, &built);
		memory.size = built.size;
		assert_int_equal(patch_try(&memory, WANTED, &plan), 0);
		if (plan.kind != built_cases[i].kind || plan.refusal != built_cases[i].refusal)
			fail_msg("%s: %s: %s", built_cases[i].what, elfpatch_kind_name(plan.kind),
				elfpatch_refusal_text(plan.refusal));
		if (!string_equal(plan.runpath, built_cases[i].runpath))
			fail_msg("%s: %s", built_cases[i].what, plan.runpath);
		assert_true(memory.reads <= 10);
		assert_int_equal(plan.overlay != NULL, plan.runpath != NULL);
		if (plan.overlay)
			wrong = patch_check(&memory, WANTED, &plan);
		if (wrong)
			fail_msg("%s: %s", built_cases[i].what, wrong);
		elfpatch_clear(&plan);
		elfpatch_clear(&plan);
	}
}

/* The result of a library that is planned, owned by the caller. */
static uint8_t *result_of(
	const struct patch_plan *library, enum elfpatch_kind kind, struct patch_built *ret_built)
{
	struct patch_memory memory = { 0 };
	struct elfpatch_plan plan;
	uint8_t *bytes;

	patch_build(library, ret_built);
	memory.bytes = ret_built->bytes;
	memory.size = ret_built->size;
	assert_int_equal(patch_try(&memory, WANTED, &plan), 0);
	assert_int_equal(plan.kind, kind);
	bytes = patch_result(&memory, plan.overlay);
	assert_non_null(bytes);
	elfpatch_clear(&plan);
	return bytes;
}

static Elf64_Phdr segment_at(const uint8_t *bytes, size_t index)
{
	Elf64_Ehdr header;
	Elf64_Phdr segment;

	memcpy(&header, bytes, sizeof(header));
	memcpy(&segment, bytes + header.e_phoff + index * sizeof(segment), sizeof(segment));
	return segment;
}

static Elf64_Shdr section_at(const uint8_t *bytes, size_t index)
{
	Elf64_Ehdr header;
	Elf64_Shdr section;

	memcpy(&header, bytes, sizeof(header));
	memcpy(&section, bytes + header.e_shoff + index * sizeof(section), sizeof(section));
	return section;
}

/* What ld.so and readelf need of a tail. */
static void test_tail(void **state)
{
	static const struct patch_plan library = { LIBRARY, .phdr = true, .sections = true,
		.align = 0x10000, .bss_size = 0x12345 };
	struct patch_built built;
	_cleanup_(freep) uint8_t *bytes = result_of(&library, ELFPATCH_TAIL, &built);
	Elf64_Phdr phdr = segment_at(bytes, 0), tail = segment_at(bytes, 3);
	Elf64_Phdr dynamic = segment_at(bytes, 4);
	Elf64_Ehdr header;

	(void)state;
	memcpy(&header, bytes, sizeof(header));
	assert_int_equal(header.e_phnum, 5);
	assert_int_equal(tail.p_type, PT_LOAD);
	assert_int_equal(tail.p_flags, PF_R | PF_W);
	assert_int_equal(tail.p_align, 0x10000);
	assert_int_equal(tail.p_offset % 0x10000, 0);
	assert_int_equal(tail.p_vaddr, tail.p_offset);
	assert_true(tail.p_vaddr >= PATCH_DYNAMIC + PATCH_DELTA + 0x12345);
	assert_int_equal(tail.p_filesz, tail.p_memsz);
	assert_int_equal(header.e_phoff, tail.p_offset);
	assert_int_equal(phdr.p_type, PT_PHDR);
	assert_int_equal(phdr.p_vaddr, tail.p_vaddr);
	assert_int_equal(phdr.p_filesz, 5 * sizeof(phdr));
	assert_int_equal(dynamic.p_type, PT_DYNAMIC);
	assert_true(dynamic.p_vaddr > tail.p_vaddr);
	assert_int_equal(dynamic.p_vaddr, dynamic.p_offset);
	assert_int_equal(section_at(bytes, 2).sh_addr, dynamic.p_vaddr);
	assert_int_equal(section_at(bytes, 2).sh_offset, dynamic.p_offset);
	assert_int_equal(section_at(bytes, 2).sh_size, dynamic.p_filesz);
	assert_int_equal(section_at(bytes, 1).sh_offset + section_at(bytes, 1).sh_size,
		tail.p_offset + tail.p_filesz);
	/* The hole reads as zeros. */
	for (size_t i = built.size; i < tail.p_offset; i++)
		assert_int_equal(bytes[i], 0);
	/* So do the old .dynamic and .dynstr as they were. */
	assert_memory_equal(bytes + PATCH_STRINGS, built.bytes + PATCH_STRINGS, 0x100);
	assert_memory_equal(bytes + PATCH_DYNAMIC, built.bytes + PATCH_DYNAMIC, 0x60);
}

static void test_in_place(void **state)
{
	static const struct patch_plan library = { LIBRARY, .spare = 2, .slack = 200,
		.sections = true };
	struct patch_built built;
	_cleanup_(freep) uint8_t *bytes = result_of(&library, ELFPATCH_IN_PLACE, &built);
	uint64_t end = PATCH_DYNAMIC - 200;
	size_t differ = 0;

	(void)state;
	for (size_t i = 0; i < built.size; i++)
		differ += bytes[i] != built.bytes[i];
	assert_true(differ > 30 && differ < 60);
	assert_string_equal((char *)bytes + end, WANTED);
	assert_int_equal(segment_at(bytes, 0).p_filesz, end + sizeof(WANTED));
	assert_int_equal(segment_at(bytes, 0).p_memsz, end + sizeof(WANTED));
	assert_int_equal(section_at(bytes, 1).sh_size, end + sizeof(WANTED) - PATCH_STRINGS);
}

/* Zeros beyond the last page of the load are not mapped with it. */
static void test_page_end(void **state)
{
	static const struct patch_plan library = { LIBRARY, .spare = 2, .slack = 30 };
	struct patch_built built;
	uint8_t bytes[PATCH_BUILT_MAX + 0x1000] = { 0 };
	struct patch_memory memory = { bytes };
	struct elfpatch_plan plan;

	(void)state;
	patch_build(&library, &built);
	memcpy(bytes, built.bytes, PATCH_DYNAMIC);
	memcpy(bytes + PATCH_DYNAMIC + 0x1000, built.bytes + PATCH_DYNAMIC,
		built.size - PATCH_DYNAMIC);
	memory.size = built.size + 0x1000;
	for (size_t i = 1; i < 3; i++)
		bytes[64 + i * sizeof(Elf64_Phdr) + offsetof(Elf64_Phdr, p_offset) + 1] += 0x10;
	assert_int_equal(patch_try(&memory, WANTED, &plan), 0);
	assert_int_equal(plan.kind, ELFPATCH_TAIL);
	assert_null(patch_check(&memory, WANTED, &plan));
	elfpatch_clear(&plan);
}

static const struct {
	const char *what;
	size_t offset;
	uint8_t value;
	enum elfpatch_refusal refusal;
	struct patch_plan plan; /* of zeros: only a SONAME */
} bent_cases[] = {
	{ "class 32", EI_CLASS, ELFCLASS32, ELFPATCH_NOT_ELF64 },
	{ "big-endian", EI_DATA, ELFDATA2MSB, ELFPATCH_NOT_ELF64 },
	{ "no ELF", 0, 'x', ELFPATCH_NOT_ELF64 },
	{ "ET_EXEC", offsetof(Elf64_Ehdr, e_type), ET_EXEC, ELFPATCH_NOT_LIBRARY },
	{ "ET_REL", offsetof(Elf64_Ehdr, e_type), ET_REL, ELFPATCH_NOT_LIBRARY },
	{ "ET_CORE", offsetof(Elf64_Ehdr, e_type), ET_CORE, ELFPATCH_NOT_LIBRARY },
	{ "no segments", offsetof(Elf64_Ehdr, e_phnum), 0, ELFPATCH_NO_DYNAMIC },
	{ "0xff03 segments", offsetof(Elf64_Ehdr, e_phnum) + 1, 0xff, ELFPATCH_STRANGE },
	{ "segments of 55 bytes", offsetof(Elf64_Ehdr, e_phentsize), 55, ELFPATCH_STRANGE },
	{ "segments behind the end", offsetof(Elf64_Ehdr, e_phoff) + 2, 1, ELFPATCH_NOT_ELF64 },
	{ "no PT_DYNAMIC", 64 + 2 * 56, PT_NOTE, ELFPATCH_NO_DYNAMIC },
	{ "two of them", 64, PT_DYNAMIC, ELFPATCH_STRANGE, { .soname = "liba.so", .phdr = true } },
	{ "load cut short", 64 + 56 + offsetof(Elf64_Phdr, p_filesz) + 1, 2, ELFPATCH_NOT_ELF64 },
	{ "loads that overlap", 64 + offsetof(Elf64_Phdr, p_memsz) + 2, 2, ELFPATCH_STRANGE },
	{ ".dynamic elsewhere", 64 + 112 + offsetof(Elf64_Phdr, p_vaddr) + 3, 1, ELFPATCH_STRANGE },
	{ "address and offset differ", 64 + 112 + offsetof(Elf64_Phdr, p_offset), 0x10,
		ELFPATCH_STRANGE },
	{ "strings outside", PATCH_DYNAMIC + 16 + 8 + 1, 0xf0, ELFPATCH_STRANGE },
	{ "no DT_STRSZ", PATCH_DYNAMIC + 32, 0x70, ELFPATCH_STRANGE },
	{ "DT_STRSZ 0", PATCH_DYNAMIC + 16 + 8, 0, ELFPATCH_STRANGE, { .align = 0x1000 } },
	{ "no DT_NULL", PATCH_DYNAMIC + 48, 0x70, ELFPATCH_STRANGE },
	{ "SONAME outside", PATCH_DYNAMIC + 8 + 4, 1, ELFPATCH_STRANGE },
};

static void test_bent(void **state)
{
	static const struct patch_plan library = { .soname = "liba.so.1" }, none;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bent_cases); i++) {
		struct patch_built built;
		struct patch_memory memory = { built.bytes };
		struct elfpatch_plan plan;

		patch_build(memcmp(&bent_cases[i].plan, &none, sizeof(none)) == 0
				    ? &library
				    : &bent_cases[i].plan,
			&built);
		memory.size = built.size;
		built.bytes[bent_cases[i].offset] = bent_cases[i].value;
		assert_int_equal(patch_try(&memory, WANTED, &plan), 0);
		if (plan.kind != ELFPATCH_REFUSED || plan.refusal != bent_cases[i].refusal)
			fail_msg("%s: %s: %s", bent_cases[i].what, elfpatch_kind_name(plan.kind),
				elfpatch_refusal_text(plan.refusal));
		elfpatch_clear(&plan);
	}
}

/* Cut anywhere, or failing at any read: refused, never planned for. */
static void test_cuts_and_failures(void **state)
{
	static const struct patch_plan library = { LIBRARY, .runpath = "/x", .slack = 200 };
	struct patch_built built;
	struct patch_memory memory = { built.bytes, .error = -EIO };
	struct elfpatch_plan plan;
	unsigned reads;

	(void)state;
	patch_build(&library, &built);
	for (memory.size = 0; memory.size < built.size; memory.size++) {
		assert_int_equal(patch_try(&memory, WANTED, &plan), 0);
		assert_int_equal(plan.refusal, ELFPATCH_NOT_ELF64);
	}
	assert_int_equal(patch_try(&memory, WANTED, &plan), 0);
	assert_int_equal(plan.kind, ELFPATCH_IN_PLACE);
	elfpatch_clear(&plan);
	reads = memory.reads;
	for (memory.fail_at = 1; memory.fail_at <= reads; memory.fail_at++) {
		assert_int_equal(patch_try(&memory, WANTED, &plan), 0);
		assert_int_equal(plan.kind, ELFPATCH_REFUSED);
		assert_int_equal(plan.refusal, ELFPATCH_IO);
		assert_null(plan.overlay);
	}
}

/* No RUNPATH is longer than what elf_read takes. */
static void test_long(void **state)
{
	static const struct patch_plan library = { LIBRARY, .runpath = "/x", .slack = 200 };
	static char wanted[17000];
	struct patch_built built;
	struct patch_memory memory = { built.bytes };
	struct elfpatch_plan plan;

	(void)state;
	patch_build(&library, &built);
	memory.size = built.size;
	memset(wanted, 'a', 16 * 1024 - 4);
	assert_int_equal(patch_try(&memory, wanted, &plan), 0);
	assert_int_equal(plan.kind, ELFPATCH_TAIL);
	assert_null(patch_check(&memory, wanted, &plan));
	elfpatch_clear(&plan);
	wanted[16 * 1024 - 4] = 'a';
	assert_int_equal(patch_try(&memory, wanted, &plan), 0);
	assert_int_equal(plan.refusal, ELFPATCH_STRANGE);
}

static void test_texts(void **state)
{
	(void)state;
	for (int kind = ELFPATCH_IN_PLACE; kind <= ELFPATCH_REFUSED; kind++)
		assert_string_not_equal(elfpatch_kind_name((enum elfpatch_kind)kind), "unknown");
	for (int refusal = ELFPATCH_FINE; refusal <= ELFPATCH_IO; refusal++)
		assert_string_not_equal(
			elfpatch_refusal_text((enum elfpatch_refusal)refusal), "unknown");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kinds),
		cmocka_unit_test(test_tail),
		cmocka_unit_test(test_in_place),
		cmocka_unit_test(test_page_end),
		cmocka_unit_test(test_bent),
		cmocka_unit_test(test_cuts_and_failures),
		cmocka_unit_test(test_long),
		cmocka_unit_test(test_texts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
