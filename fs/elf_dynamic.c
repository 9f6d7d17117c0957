/* SPDX-License-Identifier: MIT */
/* elf: the dynamic section: SONAME, NEEDED, RUNPATH, flags. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "elf_internal.h"

#define ENTRIES_MAX 4096
#define NEEDED_MAX  1024
#define NAME_BYTES  4096
#define PATHS_BYTES (16 * 1024) /* a Nix RUNPATH can have a hundred directories */
#define WINDOW_MAX  (64 * 1024) /* of strings, read at once */
#define WINDOW_TAIL 512         /* how much is read behind the last string's beginning */
#define NO_STRING   UINT64_MAX

struct dynamic {
	uint64_t strings; /* DT_STRTAB, an address */
	uint64_t strings_size;
	uint64_t soname, runpath, rpath; /* offsets into the strings, or NO_STRING */
	uint64_t *needed;
	size_t n_needed;
	size_t needed_capacity;
	/* File offset of the strings and how many bytes of them can be read. */
	uint64_t offset;
	uint64_t length;
	char *window;
	uint64_t window_start;
	size_t window_size;
};

static const Elf64_Phdr *find_header(const struct elf_reader *reader, uint32_t type)
{
	for (size_t i = 0; i < reader->n_headers; i++)
		if (reader->headers[i].p_type == type)
			return &reader->headers[i];
	return NULL;
}

static int take_entry(struct dynamic *dynamic, struct elf_facts *facts, int64_t tag, uint64_t value)
{
	switch (tag) {
	case DT_STRTAB:
		dynamic->strings = value;
		break;
	case DT_STRSZ:
		dynamic->strings_size = value;
		break;
	case DT_SONAME:
		dynamic->soname = value;
		break;
	case DT_RUNPATH:
		dynamic->runpath = value;
		break;
	case DT_RPATH:
		dynamic->rpath = value;
		break;
	case DT_FLAGS_1:
		facts->pie = value & DF_1_PIE;
		break;
	case DT_NEEDED:
		if (dynamic->n_needed >= NEEDED_MAX || value == NO_STRING)
			return ELF_MALFORMED;
		if (array_grow(&dynamic->needed, &dynamic->needed_capacity, dynamic->n_needed,
			    sizeof(*dynamic->needed)) < 0)
			return -ENOMEM;
		dynamic->needed[dynamic->n_needed++] = value;
		break;
	default:
		break;
	}
	return ELF_FINE;
}

static int read_entries(struct elf_reader *reader, const Elf64_Phdr *header,
	struct dynamic *dynamic, struct elf_facts *facts)
{
	bool wide = facts->class == ELFCLASS64;
	size_t entry_size = wide ? sizeof(Elf64_Dyn) : sizeof(Elf32_Dyn);
	uint64_t count = header->p_filesz / entry_size;
	_cleanup_(freep) char *entries = NULL;
	int problem;

	if (count > ENTRIES_MAX)
		return ELF_MALFORMED;
	if (count == 0)
		return ELF_FINE;
	entries = malloc((size_t)count * entry_size);
	if (!entries)
		return -ENOMEM;
	problem = elf_read_at(reader, entries, (size_t)count * entry_size, header->p_offset);
	for (size_t i = 0; problem == ELF_FINE && i < count; i++) {
		const char *at = entries + i * entry_size;
		Elf64_Dyn entry;

		if (wide) {
			memcpy(&entry, at, sizeof(entry));
		} else {
			Elf32_Dyn narrow;

			memcpy(&narrow, at, sizeof(narrow));
			entry.d_tag = narrow.d_tag;
			entry.d_un.d_val = narrow.d_un.d_val;
		}
		if (entry.d_tag == DT_NULL)
			break;
		problem = take_entry(dynamic, facts, entry.d_tag, entry.d_un.d_val);
	}
	return problem;
}

/* Where in the file the strings are: the address has to lie in a PT_LOAD. */
static int place_strings(const struct elf_reader *reader, struct dynamic *dynamic)
{
	for (size_t i = 0; i < reader->n_headers; i++) {
		const Elf64_Phdr *header = &reader->headers[i];
		uint64_t inside = dynamic->strings - header->p_vaddr;

		if (header->p_type != PT_LOAD || dynamic->strings < header->p_vaddr ||
			inside >= header->p_filesz)
			continue;
		dynamic->offset = header->p_offset + inside;
		dynamic->length = header->p_filesz - inside;
		if (dynamic->strings_size && dynamic->strings_size < dynamic->length)
			dynamic->length = dynamic->strings_size;
		return ELF_FINE;
	}
	return ELF_MALFORMED;
}

static void include(uint64_t string, uint64_t *first, uint64_t *last)
{
	if (string == NO_STRING)
		return;
	if (string < *first)
		*first = string;
	if (string > *last)
		*last = string;
}

/* Reads all wanted strings at once where they lie near each other, as they mostly do. */
static int read_window(
	struct elf_reader *reader, struct dynamic *dynamic, uint64_t first, uint64_t last)
{
	uint64_t size = last - first + WINDOW_TAIL;

	if (size > dynamic->length - first)
		size = dynamic->length - first;
	if (size > WINDOW_MAX)
		return ELF_FINE;
	dynamic->window = malloc((size_t)size);
	if (!dynamic->window)
		return -ENOMEM;
	dynamic->window_start = first;
	dynamic->window_size = (size_t)size;
	return elf_read_at(reader, dynamic->window, (size_t)size, dynamic->offset + first);
}

/* Reads the string, which has to end within max bytes. */
static int read_string(struct elf_reader *reader, struct dynamic *dynamic, uint64_t string,
	size_t max, char **ret_text)
{
	_cleanup_(freep) char *text = NULL;
	uint64_t size = dynamic->length - string;
	int problem;

	if (string >= dynamic->window_start &&
		string - dynamic->window_start < dynamic->window_size) {
		size_t at = (size_t)(string - dynamic->window_start);
		size_t length = strnlen(dynamic->window + at, dynamic->window_size - at);

		if (length < dynamic->window_size - at && length < max) {
			*ret_text = strdup(dynamic->window + at);
			return *ret_text ? ELF_FINE : -ENOMEM;
		}
	}
	if (size > max)
		size = max;
	text = malloc((size_t)size);
	if (!text)
		return -ENOMEM;
	problem = elf_read_at(reader, text, (size_t)size, dynamic->offset + string);
	if (problem != ELF_FINE)
		return problem;
	if (!memchr(text, '\0', (size_t)size))
		return ELF_MALFORMED;
	*ret_text = strdup(text);
	return *ret_text ? ELF_FINE : -ENOMEM;
}

/* A SONAME that cannot be the name of a directory entry is none (ELF.md). */
static bool is_entry_name(const char *name)
{
	size_t length = strlen(name);

	return length > 0 && length <= NAME_MAX && !strchr(name, '/') && strcmp(name, ".") != 0 &&
	       strcmp(name, "..") != 0;
}

static int read_names(struct elf_reader *reader, struct dynamic *dynamic, struct elf_facts *facts)
{
	uint64_t runpath = dynamic->runpath != NO_STRING ? dynamic->runpath : dynamic->rpath;
	int problem = ELF_FINE;

	if (runpath != NO_STRING)
		problem = read_string(reader, dynamic, runpath, PATHS_BYTES, &facts->runpath);
	if (problem == ELF_FINE && dynamic->soname != NO_STRING)
		problem = read_string(reader, dynamic, dynamic->soname, NAME_BYTES, &facts->soname);
	if (facts->soname && !is_entry_name(facts->soname)) {
		free(facts->soname);
		facts->soname = NULL;
	}
	for (size_t i = 0; problem == ELF_FINE && i < dynamic->n_needed; i++) {
		_cleanup_(freep) char *name = NULL;

		problem = read_string(reader, dynamic, dynamic->needed[i], NAME_BYTES, &name);
		if (problem == ELF_FINE && *name)
			problem = string_list_add(&facts->needed, name);
	}
	return problem;
}

static int read_strings(struct elf_reader *reader, struct dynamic *dynamic, struct elf_facts *facts)
{
	uint64_t first = NO_STRING, last = 0;
	int problem;

	include(dynamic->soname, &first, &last);
	include(dynamic->runpath, &first, &last);
	include(dynamic->rpath, &first, &last);
	for (size_t i = 0; i < dynamic->n_needed; i++)
		include(dynamic->needed[i], &first, &last);
	if (first == NO_STRING)
		return ELF_FINE;
	problem = place_strings(reader, dynamic);
	if (problem == ELF_FINE && last >= dynamic->length)
		problem = ELF_MALFORMED;
	if (problem == ELF_FINE)
		problem = read_window(reader, dynamic, first, last);
	if (problem == ELF_FINE)
		problem = read_names(reader, dynamic, facts);
	return problem;
}

int elf_read_dynamic(struct elf_reader *reader, struct elf_facts *facts)
{
	const Elf64_Phdr *header = find_header(reader, PT_DYNAMIC);
	struct dynamic dynamic = {
		.soname = NO_STRING,
		.runpath = NO_STRING,
		.rpath = NO_STRING,
	};
	int problem;

	if (!header)
		return ELF_FINE;
	facts->dynamic = true;
	problem = read_entries(reader, header, &dynamic, facts);
	if (problem == ELF_FINE)
		problem = read_strings(reader, &dynamic, facts);
	free(dynamic.needed);
	free(dynamic.window);
	return problem;
}
