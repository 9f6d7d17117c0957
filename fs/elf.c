/* SPDX-License-Identifier: MIT */
/* elf: header, program headers and build-id; PT_DYNAMIC and its strings are in elf_dynamic.c. */
#include "elf.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "elf_internal.h"

/* More would be nothing that a linker makes; they bound memory and time. */
#define HEADERS_MAX    1024
#define NOTE_SEGMENTS  8
#define NOTE_BYTES_MAX 4096

int elf_read_at(struct elf_reader *reader, void *buffer, size_t size, uint64_t offset)
{
	const struct elf_input *input = reader->input;
	size_t done = 0;

	if (offset > input->size || size > input->size - offset)
		return ELF_TRUNCATED;
	if (offset + size <= reader->head_size) {
		memcpy(buffer, reader->head + offset, size);
		return ELF_FINE;
	}
	while (done < size) {
		int64_t got = input->read(
			input->context, (char *)buffer + done, size - done, offset + done);

		if (got < 0) {
			reader->error = (int)got;
			return ELF_IO;
		}
		if (got == 0)
			return ELF_TRUNCATED;
		done += (uint64_t)got > size - done ? size - done : (size_t)got;
	}
	return ELF_FINE;
}

static int read_head(struct elf_reader *reader)
{
	size_t size = sizeof(reader->head);
	int problem;

	if (reader->input->size == 0)
		return ELF_EMPTY;
	if (reader->input->size < size)
		size = (size_t)reader->input->size;
	problem = elf_read_at(reader, reader->head, size, 0);
	if (problem != ELF_FINE)
		return problem;
	reader->head_size = size;
	if (size < SELFMAG || memcmp(reader->head, ELFMAG, SELFMAG) != 0)
		return ELF_NOT_ELF;
	return ELF_FINE;
}

static uint16_t get16(const uint8_t *bytes, uint8_t encoding)
{
	return encoding == ELFDATA2MSB ? (uint16_t)(bytes[0] << 8 | bytes[1])
				       : (uint16_t)(bytes[1] << 8 | bytes[0]);
}

/* Class, byte order, type and machine; the tables' places into the reader. */
static int read_ident(struct elf_reader *reader, struct elf_facts *facts)
{
	const uint8_t *head = reader->head;
	bool wide;

	if (reader->head_size < EI_NIDENT)
		return ELF_TRUNCATED;
	facts->class = head[EI_CLASS];
	facts->encoding = head[EI_DATA];
	if (facts->class != ELFCLASS32 && facts->class != ELFCLASS64)
		return ELF_MALFORMED;
	if (facts->encoding != ELFDATA2LSB && facts->encoding != ELFDATA2MSB)
		return ELF_MALFORMED;
	wide = facts->class == ELFCLASS64;
	if (reader->head_size < (wide ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr)))
		return ELF_TRUNCATED;
	facts->type = get16(head + offsetof(Elf64_Ehdr, e_type), facts->encoding);
	facts->machine = get16(head + offsetof(Elf64_Ehdr, e_machine), facts->encoding);
	return ELF_FINE;
}

static void widen(const Elf32_Phdr *from, Elf64_Phdr *to)
{
	*to = (Elf64_Phdr){
		.p_type = from->p_type,
		.p_flags = from->p_flags,
		.p_offset = from->p_offset,
		.p_vaddr = from->p_vaddr,
		.p_filesz = from->p_filesz,
		.p_memsz = from->p_memsz,
		.p_align = from->p_align,
	};
}

static int read_headers(struct elf_reader *reader, const struct elf_facts *facts)
{
	uint64_t offset;
	uint16_t entry_size, count;
	size_t expected;
	int problem;

	if (facts->class == ELFCLASS64) {
		Elf64_Ehdr header;

		memcpy(&header, reader->head, sizeof(header));
		offset = header.e_phoff;
		entry_size = header.e_phentsize;
		count = header.e_phnum;
		expected = sizeof(Elf64_Phdr);
	} else {
		Elf32_Ehdr header;

		memcpy(&header, reader->head, sizeof(header));
		offset = header.e_phoff;
		entry_size = header.e_phentsize;
		count = header.e_phnum;
		expected = sizeof(Elf32_Phdr);
	}
	if (count == 0)
		return ELF_FINE;
	if (count > HEADERS_MAX || entry_size != expected)
		return ELF_MALFORMED;
	reader->headers = calloc(count, sizeof(*reader->headers));
	if (!reader->headers)
		return -ENOMEM;
	problem = elf_read_at(reader, reader->headers, count * expected, offset);
	if (problem != ELF_FINE)
		return problem;
	reader->n_headers = count;
	if (facts->class == ELFCLASS64)
		return ELF_FINE;
	/* From the last one on: each wide header lies behind the narrow ones still to be read. */
	for (size_t i = count; i-- > 0;) {
		Elf32_Phdr narrow;

		memcpy(&narrow, (char *)reader->headers + i * sizeof(narrow), sizeof(narrow));
		widen(&narrow, &reader->headers[i]);
	}
	return ELF_FINE;
}

static int check_loads(const struct elf_reader *reader)
{
	uint64_t size = reader->input->size;

	for (size_t i = 0; i < reader->n_headers; i++) {
		const Elf64_Phdr *header = &reader->headers[i];

		if (header->p_type != PT_LOAD)
			continue;
		if (header->p_offset > size || header->p_filesz > size - header->p_offset)
			return ELF_TRUNCATED;
		if (header->p_filesz > header->p_memsz)
			return ELF_MALFORMED;
	}
	return ELF_FINE;
}

/* Takes the build-id out of one segment of notes, if it is there. */
static void find_build_id(const uint8_t *notes, size_t size, size_t align, struct elf_facts *facts)
{
	size_t at = 0;

	while (size - at >= sizeof(Elf64_Nhdr)) {
		Elf64_Nhdr note;
		uint64_t name, text, next;

		memcpy(&note, notes + at, sizeof(note));
		name = at + sizeof(note);
		text = (name + note.n_namesz + align - 1) & ~(uint64_t)(align - 1);
		next = (text + note.n_descsz + align - 1) & ~(uint64_t)(align - 1);
		if (text > size || text + note.n_descsz > size)
			return;
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof(ELF_NOTE_GNU) &&
			memcmp(notes + name, ELF_NOTE_GNU, sizeof(ELF_NOTE_GNU)) == 0) {
			facts->build_id_size = note.n_descsz > ELF_BUILD_ID_MAX
						       ? ELF_BUILD_ID_MAX
						       : (uint8_t)note.n_descsz;
			memcpy(facts->build_id, notes + text, facts->build_id_size);
			return;
		}
		if (next > size)
			return;
		at = (size_t)next;
	}
}

static int read_build_id(struct elf_reader *reader, struct elf_facts *facts)
{
	size_t segments = 0;

	for (size_t i = 0; i < reader->n_headers && !facts->build_id_size; i++) {
		const Elf64_Phdr *header = &reader->headers[i];
		uint8_t notes[NOTE_BYTES_MAX];
		size_t size =
			header->p_filesz < sizeof(notes) ? (size_t)header->p_filesz : sizeof(notes);
		int problem;

		if (header->p_type != PT_NOTE)
			continue;
		if (++segments > NOTE_SEGMENTS)
			break;
		problem = elf_read_at(reader, notes, size, header->p_offset);
		if (problem == ELF_IO)
			return problem;
		/* Notes that are not mapped matter to nobody: a bad one only has no build-id. */
		if (problem == ELF_FINE)
			find_build_id(notes, size, header->p_align == 8 ? 8 : 4, facts);
	}
	return ELF_FINE;
}

static int read_all(struct elf_reader *reader, struct elf_facts *facts)
{
	int problem = read_head(reader);

	if (problem == ELF_FINE)
		problem = read_ident(reader, facts);
	if (problem != ELF_FINE || facts->encoding == ELFDATA2MSB)
		return problem;
	problem = read_headers(reader, facts);
	if (problem == ELF_FINE)
		problem = check_loads(reader);
	if (problem == ELF_FINE)
		problem = elf_read_dynamic(reader, facts);
	if (problem == ELF_FINE)
		problem = read_build_id(reader, facts);
	return problem;
}

int elf_read(const struct elf_input *input, struct elf_facts *ret_facts, int *ret_errno)
{
	struct elf_reader *reader = calloc(1, sizeof(*reader));
	struct elf_facts facts = { 0 };
	int problem;

	if (!reader)
		return -ENOMEM;
	reader->input = input;
	problem = read_all(reader, &facts);
	if (problem == ELF_IO)
		*ret_errno = reader->error;
	if (problem == ELF_FINE)
		*ret_facts = facts;
	else
		elf_facts_clear(&facts);
	free(reader->headers);
	free(reader);
	return problem;
}

void elf_facts_clear(struct elf_facts *facts)
{
	free(facts->soname);
	free(facts->runpath);
	string_list_clear(&facts->needed);
	*facts = (struct elf_facts){ 0 };
}

const char *elf_problem_text(enum elf_problem problem)
{
	switch (problem) {
	case ELF_FINE:
		return "nothing is wrong with it";
	case ELF_EMPTY:
		return "the file is empty";
	case ELF_NOT_ELF:
		return "the file is not an ELF file";
	case ELF_TRUNCATED:
		return "the file is cut short";
	case ELF_MALFORMED:
		return "its ELF headers contradict each other";
	case ELF_IO:
		return "the file cannot be read";
	}
	return "unknown";
}
