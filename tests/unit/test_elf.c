/* SPDX-License-Identifier: MIT */
/* elf: facts of built files, every cut of one, and single fields made wrong. */
#include "../compat/cmocka.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "elf.h"
#include "elf_builder.h"

struct memory {
	const uint8_t *bytes;
	size_t size;
	unsigned reads;
	int error;
};

static int64_t read_memory(void *context, void *buffer, size_t size, uint64_t offset)
{
	struct memory *memory = context;

	memory->reads++;
	if (memory->error)
		return memory->error;
	if (offset >= memory->size)
		return 0;
	if (size > memory->size - offset)
		size = memory->size - (size_t)offset;
	memcpy(buffer, memory->bytes + offset, size);
	return (int64_t)size;
}

static int read_bytes(const void *bytes, size_t size, struct elf_facts *ret_facts)
{
	struct memory memory = { bytes, size, 0, 0 };
	struct elf_input input = { read_memory, &memory, size };
	int error = 0;

	return elf_read(&input, ret_facts, &error);
}

#define LONG_NAME(x) x x x x x x x x x x x x x x x x x x x x x x x x x x
static const char long_name[] = LONG_NAME("0123456789");

static const struct {
	const char *what;
	struct elf_plan plan;
	const char *soname, *runpath;
	size_t needed;
	bool dynamic;
} built_cases[] = {
	{ "library", { .soname = "libcuda.so.1", .needed = { "libm.so.6", "libc.so.6" } },
		"libcuda.so.1", NULL, 2, true },
	{ "aarch64", { .machine = EM_AARCH64, .soname = "libnvrm_gpu.so" }, "libnvrm_gpu.so", NULL,
		0, true },
	{ "class 32",
		{ .class = ELFCLASS32,
			.machine = EM_386,
			.soname = "liba.so.1",
			.needed = { "libb.so" },
			.build_id_size = 20,
			.build_id = 7 },
		"liba.so.1", NULL, 1, true },
	{ "RUNPATH beats RPATH", { .runpath = "/run", .rpath = "/r" }, NULL, "/run", 0, true },
	{ "RPATH alone", { .rpath = "$ORIGIN/x:/r" }, NULL, "$ORIGIN/x:/r", 0, true },
	{ "PIE", { .pie = true }, NULL, NULL, 0, true },
	{ "executable", { .type = ET_EXEC }, NULL, NULL, 0, true },
	{ "static", { .static_ = true, .soname = "liba.so" }, NULL, NULL, 0, false },
	{ "SONAME with a slash", { .soname = "a/b.so" }, NULL, NULL, 0, true },
	{ "SONAME ..", { .soname = ".." }, NULL, NULL, 0, true },
	{ "SONAME .", { .soname = "." }, NULL, NULL, 0, true },
	{ "SONAME empty", { .soname = "" }, NULL, NULL, 0, true },
	{ "SONAME of 260 bytes", { .soname = long_name }, NULL, NULL, 0, true },
	{ "empty NEEDED", { .needed = { "", "liba.so" } }, NULL, NULL, 1, true },
	{ "big-endian", { .big_endian = true, .machine = EM_PPC64, .soname = "x" }, NULL, NULL, 0,
		false },
	{ "build-id", { .build_id_size = 20, .build_id = 0xab }, NULL, NULL, 0, true },
	{ "build-id behind another note", { .other_note = true, .build_id_size = 8, .build_id = 3 },
		NULL, NULL, 0, true },
	{ "long build-id", { .build_id_size = 40, .build_id = 1 }, NULL, NULL, 0, true },
};

static void test_facts(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(built_cases); i++) {
		const struct elf_plan *plan = &built_cases[i].plan;
		struct elf_facts facts;
		struct elf_built built;

		elf_build(plan, &built);
		if (read_bytes(built.bytes, built.size, &facts) != ELF_FINE)
			fail_msg("%s: not read", built_cases[i].what);
		assert_int_equal(facts.class, plan->class ? plan->class : ELFCLASS64);
		assert_int_equal(facts.encoding, plan->big_endian ? ELFDATA2MSB : ELFDATA2LSB);
		assert_int_equal(facts.machine, plan->machine ? plan->machine : EM_X86_64);
		assert_int_equal(facts.type, plan->type ? plan->type : ET_DYN);
		assert_int_equal(facts.pie, plan->pie);
		assert_int_equal(facts.dynamic, built_cases[i].dynamic);
		if (!string_equal(facts.soname, built_cases[i].soname))
			fail_msg("%s: SONAME %s", built_cases[i].what, facts.soname);
		if (!string_equal(facts.runpath, built_cases[i].runpath))
			fail_msg("%s: RUNPATH %s", built_cases[i].what, facts.runpath);
		assert_int_equal(facts.needed.count, built_cases[i].needed);
		assert_int_equal(facts.build_id_size, plan->build_id_size > ELF_BUILD_ID_MAX
							      ? ELF_BUILD_ID_MAX
							      : plan->build_id_size);
		for (size_t b = 0; b < facts.build_id_size; b++)
			assert_int_equal(facts.build_id[b], plan->build_id);
		elf_facts_clear(&facts);
	}
}

/* Every cut of a library is told as one, with nothing read beyond it. */
static void test_cuts(void **state)
{
	static const struct elf_plan plan = {
		.soname = "liba.so.1", .needed = { "libc.so.6" }, .build_id_size = 20
	};
	struct elf_built built;

	(void)state;
	elf_build(&plan, &built);
	for (size_t size = 0; size < built.size; size++) {
		uint8_t *copy = malloc(size ? size : 1);
		struct elf_facts facts;
		int problem;

		assert_non_null(copy);
		memcpy(copy, built.bytes, size);
		problem = read_bytes(copy, size, &facts);
		assert_int_equal(problem, size == 0  ? ELF_EMPTY
					  : size < 4 ? ELF_NOT_ELF
						     : ELF_TRUNCATED);
		free(copy);
	}
}

#define EHDR(field)    offsetof(Elf64_Ehdr, field)
#define PHDR(i, field) (sizeof(Elf64_Ehdr) + (i) * sizeof(Elf64_Phdr) + offsetof(Elf64_Phdr, field))

static const struct {
	const char *what;
	size_t offset; /* behind `dynamic` bytes if that is set */
	bool in_dynamic;
	size_t size;
	uint64_t value;
	int problem;
} wrong[] = {
	{ "magic", 0, false, 1, 'X', ELF_NOT_ELF },
	{ "class", EI_CLASS, false, 1, 3, ELF_MALFORMED },
	{ "encoding", EI_DATA, false, 1, 0, ELF_MALFORMED },
	{ "no program headers", EHDR(e_phnum), false, 2, 0, ELF_FINE },
	{ "extended numbering", EHDR(e_phnum), false, 2, 0xffff, ELF_MALFORMED },
	{ "more headers than the file holds", EHDR(e_phnum), false, 2, 1024, ELF_TRUNCATED },
	{ "size of a header", EHDR(e_phentsize), false, 2, 55, ELF_MALFORMED },
	{ "headers beyond the end", EHDR(e_phoff), false, 8, 1 << 20, ELF_TRUNCATED },
	{ "headers' offset overflows", EHDR(e_phoff), false, 8, UINT64_MAX - 8, ELF_TRUNCATED },
	{ "load's offset", PHDR(2, p_offset), false, 8, 1 << 20, ELF_TRUNCATED },
	{ "load's size", PHDR(2, p_filesz), false, 8, 1 << 20, ELF_TRUNCATED },
	{ "load's size overflows", PHDR(2, p_filesz), false, 8, UINT64_MAX, ELF_TRUNCATED },
	{ "load larger in the file than in memory", PHDR(2, p_memsz), false, 8, 1, ELF_MALFORMED },
	{ "dynamic's offset", PHDR(1, p_offset), false, 8, 1 << 20, ELF_TRUNCATED },
	{ "dynamic's size", PHDR(1, p_filesz), false, 8, 1 << 20, ELF_MALFORMED },
	{ "dynamic empty", PHDR(1, p_filesz), false, 8, 0, ELF_FINE },
	{ "note's offset", PHDR(0, p_offset), false, 8, 1 << 20, ELF_FINE },
	{ "NEEDED outside the strings", 8, true, 8, 1 << 20, ELF_MALFORMED },
	{ "NEEDED overflows", 8, true, 8, UINT64_MAX, ELF_MALFORMED },
	{ "strings outside the loads", 2 * 16 + 8, true, 8, 0x666000, ELF_MALFORMED },
	{ "strings before the loads", 2 * 16 + 8, true, 8, 8, ELF_MALFORMED },
	{ "size of the strings", 3 * 16 + 8, true, 8, 2, ELF_MALFORMED },
};

static void test_wrong(void **state)
{
	static const struct elf_plan plan = {
		.soname = "liba.so.1", .needed = { "libc.so.6" }, .build_id_size = 20
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		struct elf_facts facts = { 0 };
		struct elf_built built;
		int problem;

		elf_build(&plan, &built);
		memcpy(built.bytes + (wrong[i].in_dynamic ? built.dynamic : 0) + wrong[i].offset,
			&wrong[i].value, wrong[i].size);
		problem = read_bytes(built.bytes, built.size, &facts);
		if (problem != wrong[i].problem)
			fail_msg("%s: %d, not %d", wrong[i].what, problem, wrong[i].problem);
		elf_facts_clear(&facts);
	}
}

static void test_input(void **state)
{
	static const struct elf_plan plan = { .soname = "liba.so.1" };
	struct elf_facts facts;
	struct elf_built built;
	int error = 0;

	(void)state;
	elf_build(&plan, &built);
	{
		struct memory memory = { built.bytes, built.size, 0, -EIO };
		struct elf_input input = { read_memory, &memory, built.size };

		assert_int_equal(elf_read(&input, &facts, &error), ELF_IO);
		assert_int_equal(error, -EIO);
	}
	{
		/* It shrank between the stat and the read. */
		struct memory memory = { built.bytes, 100, 0, 0 };
		struct elf_input input = { read_memory, &memory, built.size };

		assert_int_equal(elf_read(&input, &facts, &error), ELF_TRUNCATED);
	}
	assert_int_equal(read_bytes("#!/bin/sh\n", 10, &facts), ELF_NOT_ELF);
	for (int problem = ELF_FINE; problem <= ELF_IO; problem++)
		assert_true(strlen(elf_problem_text((enum elf_problem)problem)) > 0);
}

static int64_t read_file(void *context, void *buffer, size_t size, uint64_t offset)
{
	int *fd_and_reads = context;
	ssize_t got = pread(fd_and_reads[0], buffer, size, (off_t)offset);

	fd_and_reads[1]++;
	return got < 0 ? -errno : got;
}

/* The C library in use: a real file, told with few reads. */
static void test_real(void **state)
{
	static const char *const paths[] = { "/lib/x86_64-linux-gnu/libc.so.6",
		"/lib/aarch64-linux-gnu/libc.so.6", "/lib64/libc.so.6", "/usr/lib/libc.so.6" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		int context[2] = { open(paths[i], O_RDONLY | O_CLOEXEC), 0 };
		struct elf_facts facts;
		struct stat stat;
		int error;

		if (context[0] < 0)
			continue;
		assert_int_equal(fstat(context[0], &stat), 0);
		{
			struct elf_input input = { read_file, context, (uint64_t)stat.st_size };

			assert_int_equal(elf_read(&input, &facts, &error), ELF_FINE);
		}
		assert_string_equal(facts.soname, "libc.so.6");
		assert_int_equal(facts.type, ET_DYN);
		assert_false(facts.pie);
		assert_true(facts.needed.count >= 1);
		assert_true(context[1] <= 8);
		elf_facts_clear(&facts);
		close(context[0]);
		return;
	}
	skip();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_facts),
		cmocka_unit_test(test_cuts),
		cmocka_unit_test(test_wrong),
		cmocka_unit_test(test_input),
		cmocka_unit_test(test_real),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
