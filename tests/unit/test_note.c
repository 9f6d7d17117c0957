/* SPDX-License-Identifier: MIT */
/* note: files made by note_builder.h, whole and broken. */
#include "../compat/cmocka.h"

#include <errno.h>
#include <stdlib.h>

#include "note.h"
#include "note_builder.h"

struct source {
	const uint8_t *bytes;
	size_t size;
	int64_t failure;
	uint64_t fails_at; /* reads from this offset on fail, where failure is not 0 */
};

static int64_t read_source(void *context, void *buffer, size_t size, uint64_t offset)
{
	const struct source *source = context;

	if (source->failure && offset >= source->fails_at)
		return source->failure;
	if (offset >= source->size)
		return 0;
	if (size > source->size - offset)
		size = source->size - (size_t)offset;
	/* Short reads are normal. */
	if (size > 7)
		size -= 3;
	memcpy(buffer, source->bytes + offset, size);
	return (int64_t)size;
}

/* In a block of its own size: ASan sees a read behind it. */
static struct compat_note read_bytes(const uint8_t *bytes, size_t size)
{
	uint8_t *copy = malloc(size ? size : 1);
	struct source source = { .bytes = copy, .size = size };
	struct elf_input input = { read_source, &source, size };
	struct compat_note note = { .problem = "untouched" };

	assert_non_null(copy);
	memcpy(copy, bytes, size);
	assert_int_equal(note_read(&input, &note), 0);
	free(copy);
	return note;
}

static struct compat_note read_plan(const struct note_plan *plan)
{
	struct note_built built;

	note_build(plan, &built);
	return read_bytes(built.bytes, built.size);
}

static void assert_server(const struct compat_note *note)
{
	static const unsigned drivers[] = { 535, 550, 560, 565, 570, 575 };

	assert_int_equal(note->state, NOTE_PRESENT);
	assert_string_equal(note->cuda, "12.9");
	assert_int_equal(note->n_drivers, ARRAY_SIZE(drivers));
	assert_memory_equal(note->drivers, drivers, sizeof(drivers));
	assert_null(note->problem);
}

/* The layout of the published fixtures: the text at offset 32 of the section. */
static void test_layout(void **state)
{
	struct note_plan plan = { .text = NOTE_SERVER, .padding = 5 };
	struct note_built built;
	struct compat_note note;

	(void)state;
	note_build(&plan, &built);
	assert_memory_equal(built.bytes + built.note + 32, NOTE_SERVER, sizeof(NOTE_SERVER) - 1);
	assert_int_equal(built.bytes[built.note], 19);
	note = read_bytes(built.bytes, built.size);
	assert_server(&note);
}

static void test_good(void **state)
{
	static const struct {
		struct note_plan plan;
		const char *cuda;
		size_t n_drivers;
	} cases[] = {
		{ { NOTE_SERVER }, "12.9", 6 },
		{ { NOTE_ORIN }, "13.2", 0 },
		{ { NOTE_ORIN, .more = 2 }, "13.2", 0 },
		{ { NOTE_SERVER, .more = 2, .padding = 2 }, "12.9", 6 },
		{ { NOTE_ORIN, .more = 0xfffff000 }, "13.2", 0 },
		{ { NOTE_SERVER, .big_endian = true }, "12.9", 6 },
		{ { NOTE_SERVER, .narrow = true }, "12.9", 6 },
		{ { NOTE_SERVER, .narrow = true, .big_endian = true }, "12.9", 6 },
		{ { NOTE_SERVER, .align = 1 }, "12.9", 6 },
		{ { NOTE_SERVER, .align = 8 }, "12.9", 6 },
		{ { NOTE_SERVER, .second = NOTE_ORIN }, "12.9", 6 },
		{ { NOTE_ORIN, .second = NOTE_SERVER }, "13.2", 0 },
		{ { "{\"FORMAT\":1,\"cuda VERSION\":\"12.9\",\"DrIvEr\":[535],\"Device\":[]}" },
			"12.9", 1 },
		{ { "{\"Format\":1,\"CUDA Version\":\"12.9\",\"Driver\":null,\"more\":{}}" },
			"12.9", 0 },
		{ { " { \"format\" : 1 , \"CUDA version\" : \"12.9.1\" }\n" }, "12.9.1", 0 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct compat_note note = read_plan(&cases[i].plan);

		print_message("%s\n", cases[i].plan.text);
		assert_int_equal(note.state, NOTE_PRESENT);
		assert_string_equal(note.cuda, cases[i].cuda);
		assert_int_equal(note.n_drivers, cases[i].n_drivers);
	}
}

#define MANY "1,1,1,1,1,1,1,1,1,1,"

static void test_invalid(void **state)
{
	static const struct {
		struct note_plan plan;
		const char *problem; /* NULL: NOTE_ABSENT */
	} cases[] = {
		{ { NOTE_SERVER, .section = ".note.cuda.fwd_compatibilitx" }, NULL },
		{ { NOTE_SERVER, .section = ".note.cuda.fwd_compatibility2" }, NULL },
		{ { NOTE_SERVER, .section = ".note.cuda.fwd" }, NULL },
		{ { NOTE_SERVER, .as_program_data = true }, NULL },
		{ { NOTE_SERVER, .vendor = "NVIDIA" }, "its name is not NVIDIA Corporation" },
		{ { NOTE_SERVER, .vendor = "NVIDIA CorporatioN" },
			"its name is not NVIDIA Corporation" },
		{ { NOTE_SERVER, .vendor = "NVIDIA Corporation." },
			"its name is not NVIDIA Corporation" },
		{ { NOTE_SERVER, .type = 1 }, "its type is not 0" },
		{ { "{\"format\":1,\"CUDA version\":\"12.9\",\"driver\":[535,]}" },
			"its text is no valid JSON" },
		{ { "{\"format\":1,\"CUDA version\":\"12.9\",}" }, "its text is no valid JSON" },
		{ { NOTE_ORIN NOTE_ORIN }, "its text is no valid JSON" },
		{ { "" }, "its text is no valid JSON" },
		{ { "", .padding = 8 }, "its text is no valid JSON" },
		{ { "[1]" }, "its text is no JSON object" },
		{ { "{}" }, "its format is not 1" },
		{ { "{\"format\":2,\"CUDA version\":\"12.9\"}" }, "its format is not 1" },
		{ { "{\"format\":\"1\",\"CUDA version\":\"12.9\"}" }, "its format is not 1" },
		{ { "{\"format\":1.0,\"CUDA version\":\"12.9\"}" }, "its format is not 1" },
		{ { "{\"format\":1}" }, "it names no CUDA version" },
		{ { "{\"format\":1,\"CUDA version\":12.9}" }, "it names no CUDA version" },
		{ { "{\"format\":1,\"CUDA version\":\"12\"}" }, "it names no CUDA version" },
		{ { "{\"format\":1,\"CUDA version\":\"12.\"}" }, "it names no CUDA version" },
		{ { "{\"format\":1,\"CUDA version\":\"12.9x\"}" }, "it names no CUDA version" },
		{ { "{\"format\":1,\"CUDA version\":\"12.99999999999999999\"}" },
			"it names no CUDA version" },
		{ { "{\"format\":1,\"CUDA version\":\"12.9\",\"driver\":535}" },
			"its list of drivers is malformed" },
		{ { "{\"format\":1,\"CUDA version\":\"12.9\",\"driver\":[\"535\"]}" },
			"its list of drivers is malformed" },
		{ { "{\"format\":1,\"CUDA version\":\"12.9\",\"driver\":[-1]}" },
			"its list of drivers is malformed" },
		{ { "{\"format\":1,\"CUDA version\":\"12.9\",\"driver\":[" MANY MANY MANY MANY MANY
				  MANY "1,1,1,1,1]}" },
			"its list of drivers is malformed" },
		{ { "{\"format\":1,\"CUDA version\":\"12.9\",\"device\":{}}" },
			"its list of devices is malformed" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct compat_note note = read_plan(&cases[i].plan);

		print_message("%s\n", cases[i].plan.text);
		assert_int_equal(note.state, cases[i].problem ? NOTE_INVALID : NOTE_ABSENT);
		assert_true(string_equal(note.problem, cases[i].problem));
		assert_int_equal(note.n_drivers, 0);
	}
}

/* One field of the built file gets another value. */
static void test_headers(void **state)
{
	enum place { IN_FILE, IN_NOTE, IN_SECTION, IN_NAMES };
	static const struct {
		enum place place;
		size_t offset, width;
		uint64_t value;
		const char *problem; /* NULL: NOTE_ABSENT */
	} cases[] = {
		{ IN_FILE, 0, 1, 0, NULL },
		{ IN_FILE, offsetof(Elf64_Ehdr, e_shoff), 8, 0, NULL },
		{ IN_FILE, offsetof(Elf64_Ehdr, e_shnum), 2, 0, NULL },
		{ IN_FILE, offsetof(Elf64_Ehdr, e_shoff), 8, UINT64_MAX,
			"the file's section headers lie beyond its end" },
		{ IN_FILE, offsetof(Elf64_Ehdr, e_shnum), 2, 0xffff,
			"the file's section headers are malformed" },
		{ IN_FILE, offsetof(Elf64_Ehdr, e_shnum), 2, 64,
			"the file's section headers lie beyond its end" },
		{ IN_FILE, offsetof(Elf64_Ehdr, e_shentsize), 2, 65,
			"the file's section headers are malformed" },
		{ IN_FILE, offsetof(Elf64_Ehdr, e_shstrndx), 2, 3,
			"the file's section headers have no names" },
		{ IN_FILE, offsetof(Elf64_Ehdr, e_shstrndx), 2, 0,
			"the names of the file's sections cannot be read" },
		{ IN_NAMES, offsetof(Elf64_Shdr, sh_size), 8, UINT64_MAX,
			"the names of the file's sections cannot be read" },
		{ IN_NAMES, offsetof(Elf64_Shdr, sh_offset), 8, UINT64_MAX - 4,
			"the names of the file's sections lie beyond its end" },
		{ IN_NAMES, offsetof(Elf64_Shdr, sh_size), 8, 0, NULL },
		/* the name's last bytes are cut off */
		{ IN_NAMES, offsetof(Elf64_Shdr, sh_size), 8, 12, NULL },
		{ IN_SECTION, offsetof(Elf64_Shdr, sh_name), 4, 0xffffffff, NULL },
		{ IN_SECTION, offsetof(Elf64_Shdr, sh_size), 8, UINT64_MAX,
			"it is larger than 16 KiB" },
		{ IN_SECTION, offsetof(Elf64_Shdr, sh_size), 8, 16384,
			"it lies beyond the file's end" },
		{ IN_SECTION, offsetof(Elf64_Shdr, sh_offset), 8, UINT64_MAX,
			"it lies beyond the file's end" },
		{ IN_SECTION, offsetof(Elf64_Shdr, sh_size), 8, 0,
			"it is shorter than a note's header" },
		{ IN_SECTION, offsetof(Elf64_Shdr, sh_size), 8, 11,
			"it is shorter than a note's header" },
		{ IN_SECTION, offsetof(Elf64_Shdr, sh_size), 8, 12,
			"its name reaches beyond the section" },
		{ IN_SECTION, offsetof(Elf64_Shdr, sh_size), 8, 31, "its text is no valid JSON" },
		{ IN_NOTE, 0, 4, 0xffffffff, "its name reaches beyond the section" },
		{ IN_NOTE, 0, 4, 0, "its name is not NVIDIA Corporation" },
		{ IN_NOTE, 4, 4, 0, "its text is no valid JSON" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct note_plan plan = { .text = NOTE_SERVER };
		struct compat_note note;
		struct note_built built;
		size_t base = 0;

		note_build(&plan, &built);
		if (cases[i].place == IN_NOTE)
			base = built.note;
		else if (cases[i].place == IN_SECTION)
			base = built.sections + sizeof(Elf64_Shdr);
		else if (cases[i].place == IN_NAMES)
			base = built.sections + 2 * sizeof(Elf64_Shdr);
		memcpy(built.bytes + base + cases[i].offset, &cases[i].value, cases[i].width);
		note = read_bytes(built.bytes, built.size);
		print_message("%zu\n", i);
		assert_int_equal(note.state, cases[i].problem ? NOTE_INVALID : NOTE_ABSENT);
		assert_true(string_equal(note.problem, cases[i].problem));
	}
}

/* Cut anywhere, it is never a note: the section headers stand at its end. */
static void test_truncated(void **state)
{
	struct note_plan plan = { .text = NOTE_SERVER };
	struct note_built built;

	(void)state;
	note_build(&plan, &built);
	for (size_t size = 0; size < built.size; size++) {
		struct compat_note note = read_bytes(built.bytes, size);

		assert_int_not_equal(note.state, NOTE_PRESENT);
		assert_true((note.state == NOTE_INVALID) == (note.problem != NULL));
	}
}

static void test_failure(void **state)
{
	struct note_plan plan = { .text = NOTE_SERVER };
	struct note_built built;

	(void)state;
	note_build(&plan, &built);
	for (uint64_t at = 0; at < built.size; at += 8) {
		struct source source = { built.bytes, built.size, -EIO, at };
		struct elf_input input = { read_source, &source, built.size };
		struct compat_note note = { .problem = "untouched" };

		assert_int_equal(note_read(&input, &note), -EIO);
		assert_string_equal(note.problem, "untouched");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_layout),
		cmocka_unit_test(test_good),
		cmocka_unit_test(test_invalid),
		cmocka_unit_test(test_headers),
		cmocka_unit_test(test_truncated),
		cmocka_unit_test(test_failure),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
