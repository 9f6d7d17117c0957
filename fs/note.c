/* SPDX-License-Identifier: MIT */
#include "note.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "elf_internal.h"
#include "jsonhelp.h"

/* Real ones: 40 sections, names of 400 bytes, notes of 150. */
#define SECTIONS_MAX   4096
#define NAMES_SIZE_MAX (256 * 1024)
#define NOTE_SIZE_MAX  (16 * 1024)
#define NOTE_HEADER    12 /* namesz, descsz, type */

static const char section_name[] = ".note.cuda.fwd_compatibility";
static const char vendor[] = "NVIDIA Corporation";

struct file {
	struct elf_reader reader;
	bool wide;
	bool big_endian;
	uint8_t *headers; /* of the sections, as they are in the file */
	size_t n_headers;
	char *names; /* .shstrtab and a NUL */
	size_t names_size;
};

struct section {
	uint32_t name;
	uint32_t type;
	uint64_t offset;
	uint64_t size;
};

static void file_clear(struct file *file)
{
	free(file->headers);
	free(file->names);
}

/* The helpers return 0, or 1: what the note is has been decided, or -errno. */
static int invalid(struct compat_note *note, const char *problem)
{
	note->state = NOTE_INVALID;
	note->problem = problem;
	return 1;
}

static uint64_t get(const struct file *file, const uint8_t *bytes, size_t width)
{
	uint64_t value = 0;

	for (size_t i = 0; i < width; i++)
		value |= (uint64_t)bytes[file->big_endian ? width - 1 - i : i] << 8 * i;
	return value;
}

static int read_part(struct file *file, void *buffer, size_t size, uint64_t offset,
	struct compat_note *note, const char *problem)
{
	switch (elf_read_at(&file->reader, buffer, size, offset)) {
	case ELF_FINE:
		return 0;
	case ELF_IO:
		return file->reader.error;
	default:
		return invalid(note, problem);
	}
}

static struct section section_at(const struct file *file, size_t index)
{
	const uint8_t *at =
		file->headers + index * (file->wide ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr));
#define FIELD(member)                                                                              \
	(file->wide ? get(file, at + offsetof(Elf64_Shdr, member),                                 \
			      sizeof(((Elf64_Shdr *)0)->member))                                   \
		    : get(file, at + offsetof(Elf32_Shdr, member),                                 \
			      sizeof(((Elf32_Shdr *)0)->member)))

	return (struct section){
		.name = (uint32_t)FIELD(sh_name),
		.type = (uint32_t)FIELD(sh_type),
		.offset = FIELD(sh_offset),
		.size = FIELD(sh_size),
	};
#undef FIELD
}

static int read_names(struct file *file, size_t index, struct compat_note *note)
{
	struct section names;
	int r;

	if (index >= file->n_headers)
		return invalid(note, "the file's section headers have no names");
	names = section_at(file, index);
	if (names.type != SHT_STRTAB || names.size > NAMES_SIZE_MAX)
		return invalid(note, "the names of the file's sections cannot be read");
	file->names_size = (size_t)names.size;
	file->names = calloc(1, file->names_size + 1);
	if (!file->names)
		return -ENOMEM;
	r = read_part(file, file->names, file->names_size, names.offset, note,
		"the names of the file's sections lie beyond its end");
	return r;
}

/* The section headers and their names. */
static int read_sections(struct file *file, struct compat_note *note)
{
	uint8_t header[sizeof(Elf64_Ehdr)] = { 0 };
	size_t size = file->reader.input->size < sizeof(header) ? (size_t)file->reader.input->size
								: sizeof(header);
	size_t entry_size, names;
	uint64_t offset;
	int r = read_part(file, header, size, 0, note, "the file is cut short");

	if (r != 0)
		return r;
	/* What is no ELF file has no note: that it is none, `elf` says. */
	if (size < sizeof(Elf32_Ehdr) || memcmp(header, ELFMAG, SELFMAG) != 0)
		return 1;
	file->wide = header[EI_CLASS] == ELFCLASS64;
	file->big_endian = header[EI_DATA] == ELFDATA2MSB;
#define FIELD(member)                                                                              \
	(file->wide ? get(file, header + offsetof(Elf64_Ehdr, member),                             \
			      sizeof(((Elf64_Ehdr *)0)->member))                                   \
		    : get(file, header + offsetof(Elf32_Ehdr, member),                             \
			      sizeof(((Elf32_Ehdr *)0)->member)))
	offset = FIELD(e_shoff);
	entry_size = (size_t)FIELD(e_shentsize);
	file->n_headers = (size_t)FIELD(e_shnum);
	names = (size_t)FIELD(e_shstrndx);
#undef FIELD
	if (offset == 0 || file->n_headers == 0)
		return 1;
	if (entry_size != (file->wide ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr)) ||
		file->n_headers > SECTIONS_MAX)
		return invalid(note, "the file's section headers are malformed");
	file->headers = calloc(file->n_headers, entry_size);
	if (!file->headers)
		return -ENOMEM;
	r = read_part(file, file->headers, file->n_headers * entry_size, offset, note,
		"the file's section headers lie beyond its end");
	return r ? r : read_names(file, names, note);
}

/* NVIDIA's own reader takes the first of type SHT_NOTE with the name. */
static int find_section(const struct file *file, struct section *ret_section)
{
	for (size_t i = 0; i < file->n_headers; i++) {
		struct section section = section_at(file, i);

		if (section.type != SHT_NOTE || section.name >= file->names_size ||
			strcmp(file->names + section.name, section_name) != 0)
			continue;
		*ret_section = section;
		return 0;
	}
	return 1;
}

static void trim_nuls(const char **text, size_t *size)
{
	while (*size && **text == '\0') {
		(*text)++;
		(*size)--;
	}
	while (*size && (*text)[*size - 1] == '\0')
		(*size)--;
}

/* MAJOR.MINOR, or with a third part. */
static bool is_version(const char *text)
{
	size_t parts = 0;

	do {
		size_t digits = strspn(text, "0123456789");

		if (digits == 0)
			return false;
		text += digits;
		parts++;
	} while (*text == '.' && *text++);
	return *text == '\0' && (parts == 2 || parts == 3);
}

/* A list of small numbers; null stands for an empty one, as in NVIDIA's reader. numbers may be
 * NULL: the list is only checked. */
static bool read_numbers(const json_t *list, unsigned *numbers, size_t *count)
{
	size_t size = json_array_size(list);

	if (!json_is_array(list))
		return json_is_null(list);
	if (numbers && size > NOTE_DRIVERS_MAX)
		return false;
	for (size_t i = 0; i < size; i++) {
		const json_t *item = json_array_get(list, i);
		json_int_t number = json_integer_value(item);

		if (!json_is_integer(item) || number < 0 || number > 100000)
			return false;
		if (numbers)
			numbers[i] = (unsigned)number;
	}
	if (count)
		*count = size;
	return true;
}

static int read_object(json_t *object, struct compat_note *note)
{
	const char *key, *cuda = NULL;
	const json_t *format = NULL;
	json_t *value;

	if (!json_is_object(object))
		return invalid(note, "its text is no JSON object");
	json_object_foreach(object, key, value)
	{
		if (strcasecmp(key, "format") == 0)
			format = value;
		else if (strcasecmp(key, "CUDA version") == 0)
			cuda = json_string_value(value);
		else if (strcasecmp(key, "driver") == 0 &&
			 !read_numbers(value, note->drivers, &note->n_drivers))
			return invalid(note, "its list of drivers is malformed");
		else if (strcasecmp(key, "device") == 0 && !read_numbers(value, NULL, NULL))
			return invalid(note, "its list of devices is malformed");
	}
	if (!json_is_integer(format) || json_integer_value(format) != 1)
		return invalid(note, "its format is not 1");
	if (!cuda || !is_version(cuda) || strlen(cuda) >= sizeof(note->cuda))
		return invalid(note, "it names no CUDA version");
	memcpy(note->cuda, cuda, strlen(cuda) + 1);
	note->state = NOTE_PRESENT;
	return 1;
}

static int read_json(const char *text, size_t size, struct compat_note *note)
{
	_cleanup_(jsonhelp_decrefp) json_t *object = NULL;
	json_error_t error;

	trim_nuls(&text, &size);
	object = json_loadb(text, size, 0, &error);
	if (!object && json_error_code(&error) == json_error_out_of_memory)
		return -ENOMEM;
	return object ? read_object(object, note) : invalid(note, "its text is no valid JSON");
}

/* The section's first note: its name, and the JSON behind it. */
static int read_note(struct file *file, const struct section *section, struct compat_note *note)
{
	_cleanup_(freep) uint8_t *data = NULL;
	size_t size = (size_t)section->size;
	size_t name_size, text_size, padded;
	const char *name;
	int r;

	if (section->size > NOTE_SIZE_MAX)
		return invalid(note, "it is larger than 16 KiB");
	if (size < NOTE_HEADER)
		return invalid(note, "it is shorter than a note's header");
	data = malloc(size);
	if (!data)
		return -ENOMEM;
	r = read_part(file, data, size, section->offset, note, "it lies beyond the file's end");
	if (r != 0)
		return r;
	name_size = (size_t)get(file, data, 4);
	text_size = (size_t)get(file, data + 4, 4);
	if (name_size > size - NOTE_HEADER)
		return invalid(note, "its name reaches beyond the section");
	padded = (name_size + 3) & ~(size_t)3;
	if (padded > size - NOTE_HEADER)
		padded = size - NOTE_HEADER;
	name = (const char *)data + NOTE_HEADER;
	trim_nuls(&name, &name_size);
	if (name_size != sizeof(vendor) - 1 || memcmp(name, vendor, name_size) != 0)
		return invalid(note, "its name is not NVIDIA Corporation");
	if (get(file, data + 8, 4) != 0)
		return invalid(note, "its type is not 0");
	/* Orin's 13.2.1 says two bytes more than there are. */
	if (text_size > size - NOTE_HEADER - padded)
		text_size = size - NOTE_HEADER - padded;
	return read_json((const char *)data + NOTE_HEADER + padded, text_size, note);
}

int note_read(const struct elf_input *input, struct compat_note *ret_note)
{
	_cleanup_(file_clear) struct file file = { .reader.input = input };
	struct compat_note note = { .state = NOTE_ABSENT };
	struct section section;
	int r = read_sections(&file, &note);

	if (r == 0)
		r = find_section(&file, &section);
	if (r == 0)
		r = read_note(&file, &section, &note);
	if (r < 0)
		return r;
	if (note.state != NOTE_PRESENT)
		note.n_drivers = 0;
	*ret_note = note;
	return 0;
}
