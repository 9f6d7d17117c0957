/* SPDX-License-Identifier: MIT */
/* elfpatch: reading: headers, segments, sections, .dynamic. What is not understood is refused. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "elfpatch_internal.h"

#define HEAD_BYTES   4096 /* mostly has all program headers */
#define SEGMENTS_MAX 1024 /* elf_read takes no more, also of the result */
#define ENTRIES_MAX  4096 /* likewise */
#define SECTIONS_MAX 512
#define STRING_BYTES 1024 /* of a RUNPATH at first */

static int read_host(const struct elf_input *input, uint8_t *buffer, size_t size, uint64_t offset)
{
	size_t done = 0;

	while (done < size) {
		int64_t got =
			input->read(input->context, buffer + done, size - done, offset + done);

		if (got < 0)
			return ELFPATCH_IO;
		if (got == 0)
			return ELFPATCH_NOT_ELF64;
		done += (uint64_t)got > size - done ? size - done : (size_t)got;
	}
	return 0;
}

/* The bytes of the host file, of a read made before where one has them. */
static int read_source(
	struct elfpatch_source *source, uint8_t *buffer, size_t size, uint64_t offset, bool keep)
{
	struct elfpatch_chunk *chunk;
	int r;

	for (size_t i = 0; i < source->n_chunks; i++) {
		chunk = &source->chunks[i];
		if (offset >= chunk->offset && offset - chunk->offset <= chunk->size &&
			size <= chunk->size - (offset - chunk->offset)) {
			memcpy(buffer, chunk->bytes + (offset - chunk->offset), size);
			return 0;
		}
	}
	r = read_host(source->input, buffer, size, offset);
	if (r != 0 || !keep || source->n_chunks == ELFPATCH_CHUNKS)
		return r;
	chunk = &source->chunks[source->n_chunks];
	chunk->bytes = malloc(size);
	if (!chunk->bytes)
		return -ENOMEM;
	memcpy(chunk->bytes, buffer, size);
	chunk->offset = offset;
	chunk->size = size;
	source->n_chunks++;
	return 0;
}

void elfpatch_source_clear(struct elfpatch_source *source)
{
	for (size_t i = 0; i < source->n_chunks; i++)
		free(source->chunks[i].bytes);
	source->n_chunks = 0;
}

int elfpatch_read(struct elfpatch_file *file, void *buffer, size_t size, uint64_t offset, bool keep)
{
	uint64_t base = file->source->input->size;
	size_t from_host = 0;
	int r;

	if (offset > file->size || size > file->size - offset)
		return ELFPATCH_NOT_ELF64;
	if (offset < base)
		from_host = size > base - offset ? (size_t)(base - offset) : size;
	if (from_host > 0) {
		r = read_source(file->source, buffer, from_host, offset, keep);
		if (r != 0)
			return r;
	}
	if (file->overlay)
		overlay_apply(file->overlay, buffer, size, from_host, offset);
	return 0;
}

static int read_header(struct elfpatch_file *file)
{
	uint8_t head[HEAD_BYTES];
	size_t size = file->size < sizeof(head) ? (size_t)file->size : sizeof(head);
	int r;

	if (size < sizeof(file->header))
		return ELFPATCH_NOT_ELF64;
	r = elfpatch_read(file, head, size, 0, true);
	if (r != 0)
		return r;
	memcpy(&file->header, head, sizeof(file->header));
	if (memcmp(head, ELFMAG, SELFMAG) != 0 || head[EI_CLASS] != ELFCLASS64 ||
		head[EI_DATA] != ELFDATA2LSB)
		return ELFPATCH_NOT_ELF64;
	if (file->header.e_type != ET_DYN)
		return ELFPATCH_NOT_LIBRARY;
	return 0;
}

/* ld.so wants the loads in the order of their addresses; overlapping ones have no one meaning. */
static int check_loads(const struct elfpatch_file *file)
{
	uint64_t end = 0;

	for (size_t i = 0; i < file->n_segments; i++) {
		const Elf64_Phdr *segment = &file->segments[i];

		if (segment->p_type != PT_LOAD)
			continue;
		if (segment->p_offset > file->size ||
			segment->p_filesz > file->size - segment->p_offset)
			return ELFPATCH_NOT_ELF64;
		if (segment->p_filesz > segment->p_memsz || segment->p_vaddr < end ||
			segment->p_memsz > INT64_MAX - segment->p_vaddr ||
			segment->p_vaddr > INT64_MAX)
			return ELFPATCH_STRANGE;
		if ((segment->p_vaddr - segment->p_offset) % ELFPATCH_PAGE)
			return ELFPATCH_STRANGE;
		end = segment->p_vaddr + segment->p_memsz;
	}
	return 0;
}

static int read_segments(struct elfpatch_file *file)
{
	const Elf64_Ehdr *header = &file->header;
	size_t count = header->e_phnum;
	int r;

	if (count == 0)
		return ELFPATCH_NO_DYNAMIC;
	if (count > SEGMENTS_MAX || header->e_phentsize != sizeof(Elf64_Phdr))
		return ELFPATCH_STRANGE;
	file->segments = malloc(count * sizeof(*file->segments));
	if (!file->segments)
		return -ENOMEM;
	r = elfpatch_read(
		file, file->segments, count * sizeof(*file->segments), header->e_phoff, true);
	if (r != 0)
		return r;
	file->n_segments = count;
	return check_loads(file);
}

/* The load whose bytes of the file hold [address, address + size), or ELFPATCH_NONE. */
static size_t find_load(const struct elfpatch_file *file, uint64_t address, uint64_t size)
{
	for (size_t i = 0; i < file->n_segments; i++) {
		const Elf64_Phdr *segment = &file->segments[i];

		if (segment->p_type == PT_LOAD && address >= segment->p_vaddr &&
			address - segment->p_vaddr <= segment->p_filesz &&
			size <= segment->p_filesz - (address - segment->p_vaddr))
			return i;
	}
	return ELFPATCH_NONE;
}

static int find_dynamic(struct elfpatch_file *file)
{
	const Elf64_Phdr *segment;
	size_t load;

	file->dynamic = ELFPATCH_NONE;
	for (size_t i = 0; i < file->n_segments; i++) {
		if (file->segments[i].p_type != PT_DYNAMIC)
			continue;
		if (file->dynamic != ELFPATCH_NONE)
			return ELFPATCH_STRANGE;
		file->dynamic = i;
	}
	if (file->dynamic == ELFPATCH_NONE)
		return ELFPATCH_NO_DYNAMIC;
	segment = &file->segments[file->dynamic];
	load = find_load(file, segment->p_vaddr, segment->p_filesz);
	/* ld.so reads it by its address, tools by its offset. */
	if (load == ELFPATCH_NONE ||
		segment->p_vaddr - segment->p_offset !=
			file->segments[load].p_vaddr - file->segments[load].p_offset)
		return ELFPATCH_STRANGE;
	file->dynamic_load = load;
	file->n_slots = (size_t)(segment->p_filesz / sizeof(Elf64_Dyn));
	return file->n_slots > 0 && file->n_slots <= ENTRIES_MAX ? 0 : ELFPATCH_STRANGE;
}

/* Of an entry that is there more than once the last one counts, as in ld.so. */
static int take_entries(struct elfpatch_file *file)
{
	bool interpreter = false, debug = false;
	size_t runpath = ELFPATCH_NONE, rpath = ELFPATCH_NONE, i;

	file->strtab = file->strsz = file->soname = ELFPATCH_NONE;
	for (i = 0; i < file->n_slots && file->entries[i].d_tag != DT_NULL; i++) {
		switch (file->entries[i].d_tag) {
		case DT_STRTAB:
			file->strtab = i;
			break;
		case DT_STRSZ:
			file->strsz = i;
			break;
		case DT_SONAME:
			file->soname = i;
			break;
		case DT_RUNPATH:
			runpath = i;
			break;
		case DT_RPATH:
			rpath = i;
			break;
		case DT_DEBUG:
			debug = true;
			break;
		case DT_FLAGS_1:
			if (file->entries[i].d_un.d_val & DF_1_PIE)
				return ELFPATCH_NOT_LIBRARY;
			break;
		default:
			break;
		}
	}
	if (i == file->n_slots || file->strtab == ELFPATCH_NONE || file->strsz == ELFPATCH_NONE)
		return ELFPATCH_STRANGE;
	file->n_entries = i;
	file->path = runpath != ELFPATCH_NONE ? runpath : rpath;
	for (i = 0; i < file->n_segments; i++)
		interpreter = interpreter || file->segments[i].p_type == PT_INTERP;
	/* A PIE of a linker that knew no DF_1_PIE yet; libc.so.6 has an interpreter too. */
	return interpreter && debug ? ELFPATCH_NOT_LIBRARY : 0;
}

static int place_strings(struct elfpatch_file *file)
{
	uint64_t address = file->entries[file->strtab].d_un.d_ptr;
	const Elf64_Phdr *load;

	file->strings_size = file->entries[file->strsz].d_un.d_val;
	file->strings_load = find_load(file, address, file->strings_size);
	if (file->strings_size == 0 || file->strings_load == ELFPATCH_NONE)
		return ELFPATCH_STRANGE;
	load = &file->segments[file->strings_load];
	file->strings = load->p_offset + (address - load->p_vaddr);
	return 0;
}

static int read_dynamic(struct elfpatch_file *file)
{
	int r = find_dynamic(file);

	if (r != 0)
		return r;
	file->entries = malloc(file->n_slots * sizeof(*file->entries));
	if (!file->entries)
		return -ENOMEM;
	r = elfpatch_read(file, file->entries, file->n_slots * sizeof(*file->entries),
		file->segments[file->dynamic].p_offset, true);
	if (r == 0)
		r = take_entries(file);
	return r == 0 ? place_strings(file) : r;
}

/* Nobody needs sections to load a library: bad ones are none. */
static int read_sections(struct elfpatch_file *file)
{
	const Elf64_Ehdr *header = &file->header;
	size_t count = header->e_shnum;
	int r;

	if (header->e_shoff == 0 || count == 0 || count > SECTIONS_MAX ||
		header->e_shentsize != sizeof(Elf64_Shdr) || header->e_shoff > file->size ||
		count * sizeof(Elf64_Shdr) > file->size - header->e_shoff)
		return 0;
	file->sections = malloc(count * sizeof(*file->sections));
	if (!file->sections)
		return -ENOMEM;
	r = elfpatch_read(
		file, file->sections, count * sizeof(*file->sections), header->e_shoff, true);
	if (r == 0)
		file->n_sections = count;
	return r;
}

int elfpatch_parse(struct elfpatch_file *file)
{
	int r = read_header(file);

	if (r == 0)
		r = read_segments(file);
	if (r == 0)
		r = read_dynamic(file);
	return r == 0 ? read_sections(file) : r;
}

void elfpatch_file_clear(struct elfpatch_file *file)
{
	free(file->segments);
	free(file->sections);
	free(file->entries);
	file->segments = NULL;
	file->sections = NULL;
	file->entries = NULL;
}

int elfpatch_string(struct elfpatch_file *file, size_t entry, char **ret_text)
{
	uint64_t string = file->entries[entry].d_un.d_val, room;
	char *text;

	if (string >= file->strings_size)
		return ELFPATCH_STRANGE;
	room = file->strings_size - string;
	if (room > ELFPATCH_RUNPATH_MAX)
		room = ELFPATCH_RUNPATH_MAX;
	text = malloc((size_t)room);
	if (!text)
		return -ENOMEM;
	for (size_t size = STRING_BYTES;; size = (size_t)room) {
		int r;

		if (size > room)
			size = (size_t)room;
		r = elfpatch_read(file, text, size, file->strings + string, true);
		if (r == 0 && memchr(text, '\0', size)) {
			*ret_text = text;
			return 0;
		}
		if (r != 0 || size == room) {
			free(text);
			return r != 0 ? r : ELFPATCH_STRANGE;
		}
	}
}

void elfpatch_find_sections(
	const struct elfpatch_file *file, size_t *ret_dynamic, size_t *ret_strings)
{
	const Elf64_Phdr *segment = &file->segments[file->dynamic];

	*ret_dynamic = *ret_strings = ELFPATCH_NONE;
	for (size_t i = 0; i < file->n_sections; i++) {
		const Elf64_Shdr *section = &file->sections[i];

		if (section->sh_type != SHT_DYNAMIC || section->sh_addr != segment->p_vaddr ||
			section->sh_offset != segment->p_offset)
			continue;
		*ret_dynamic = i;
		if (section->sh_link < file->n_sections &&
			file->sections[section->sh_link].sh_type == SHT_STRTAB &&
			file->sections[section->sh_link].sh_offset == file->strings &&
			file->sections[section->sh_link].sh_addr ==
				file->entries[file->strtab].d_un.d_ptr)
			*ret_strings = section->sh_link;
		return;
	}
}

bool elfpatch_has_sections(const struct elfpatch_file *file)
{
	size_t dynamic, strings;

	elfpatch_find_sections(file, &dynamic, &strings);
	return strings != ELFPATCH_NONE;
}
