/* SPDX-License-Identifier: MIT */
#include "ldcache.h"

#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <string.h>

static const char old_magic[] = "ld.so-1.7.0";
static const char new_magic[] = "glibc-ld.so.cache1.1";

/* Offsets of glibc's struct cache_file, file_entry, cache_file_new, file_entry_new. */
enum {
	OLD_COUNT = 12,
	OLD_HEADER = 16,
	OLD_ENTRY = 12,
	NEW_COUNT = 20,
	NEW_FLAGS = 28,
	NEW_HEADER = 48,
	NEW_ENTRY = 24,
	ENTRY_FLAGS = 0,
	ENTRY_VALUE = 8,
	ENTRY_HWCAP = 16,
};

/* The low two bits of the new header's flags (glibc 2.32): 0 is unknown. */
enum { ENDIAN_LITTLE = 2, ENDIAN_BIG = 3 };

/* FLAG_TYPE_MASK and FLAG_REQUIRED_MASK of an entry. */
#define TYPE_MASK      0x00ffu
#define TYPE_ELF       1u
#define TYPE_ELF_LIBC6 3u
#define REQUIRED_MASK  0xff00u

static const unsigned required[] = {
	[MACHINE_X86_64] = 0x0300,  /* FLAG_X8664_LIB64 */
	[MACHINE_I386] = 0x0000,    /* no flag */
	[MACHINE_AARCH64] = 0x0a00, /* FLAG_AARCH64_LIB64 */
	[MACHINE_ARMHF] = 0x0900,   /* FLAG_ARM_LIBHF */
};

/* One table of entries. */
struct table {
	const uint8_t *data; /* of the whole file */
	size_t size;
	size_t entries; /* offset */
	size_t count;
	size_t entry_size;
	size_t strings; /* what the entries' offsets count from */
	bool big_endian;
};

static uint32_t read_u32(const uint8_t *bytes, bool big_endian)
{
	return big_endian ? (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 |
				    (uint32_t)bytes[2] << 8 | bytes[3]
			  : (uint32_t)bytes[3] << 24 | (uint32_t)bytes[2] << 16 |
				    (uint32_t)bytes[1] << 8 | bytes[0];
}

static bool has_magic(const uint8_t *data, size_t size, size_t at, const char *magic)
{
	size_t length = strlen(magic);

	return at <= size && size - at >= length && memcmp(data + at, magic, length) == 0;
}

/* Sets the table's count where all entries lie inside the file. */
static bool read_count(struct table *table, size_t at, bool big_endian)
{
	uint32_t count = read_u32(table->data + at, big_endian);

	if (count > (table->size - table->entries) / table->entry_size)
		return false;
	table->count = count;
	table->big_endian = big_endian;
	return true;
}

/* The new table at that offset. */
static int find_new(const uint8_t *data, size_t size, size_t at, struct table *ret_table)
{
	struct table table = { data, size, at + NEW_HEADER, 0, NEW_ENTRY, at, false };
	unsigned endian;
	bool found;

	if (size - at < NEW_HEADER)
		return -EINVAL;
	endian = data[at + NEW_FLAGS] & 3u;
	if (endian == ENDIAN_LITTLE || endian == ENDIAN_BIG)
		found = read_count(&table, at + NEW_COUNT, endian == ENDIAN_BIG);
	else
		found = read_count(&table, at + NEW_COUNT, false) ||
			read_count(&table, at + NEW_COUNT, true);
	if (!found)
		return -EINVAL;
	*ret_table = table;
	return 0;
}

static int find_table(const uint8_t *data, size_t size, struct table *ret_table)
{
	struct table old = { data, size, OLD_HEADER, 0, OLD_ENTRY, 0, false };
	size_t end;

	if (has_magic(data, size, 0, new_magic))
		return find_new(data, size, 0, ret_table);
	if (!has_magic(data, size, 0, old_magic) || size < OLD_HEADER)
		return -EINVAL;
	if (!read_count(&old, OLD_COUNT, false) && !read_count(&old, OLD_COUNT, true))
		return -EINVAL;
	end = OLD_HEADER + old.count * OLD_ENTRY;
	/* The new table is aligned as the machine that wrote it aligns 64 bits. */
	for (size_t alignment = 4; alignment <= 8; alignment += 4) {
		size_t at = (end + alignment - 1) & ~(alignment - 1);

		if (has_magic(data, size, at, new_magic))
			return find_new(data, size, at, ret_table);
	}
	old.strings = end;
	*ret_table = old;
	return 0;
}

/* The string at that offset, or NULL where it has no end inside the file. */
static const char *string_at(const struct table *table, uint32_t offset)
{
	const uint8_t *text;

	if (offset >= table->size - table->strings)
		return NULL;
	text = table->data + table->strings + offset;
	return memchr(text, '\0', table->size - table->strings - offset) ? (const char *)text
									 : NULL;
}

static bool is_for(const uint8_t *entry, const struct table *table, enum policy_machine machine)
{
	uint32_t flags = read_u32(entry + ENTRY_FLAGS, table->big_endian);
	uint32_t type = flags & TYPE_MASK;

	if ((type != TYPE_ELF && type != TYPE_ELF_LIBC6) ||
		(flags & REQUIRED_MASK) != required[machine])
		return false;
	return table->entry_size != NEW_ENTRY ||
	       (!read_u32(entry + ENTRY_HWCAP, table->big_endian) &&
		       !read_u32(entry + ENTRY_HWCAP + 4, table->big_endian));
}

int ldcache_parse(
	const void *data, size_t size, enum policy_machine machine, struct string_list *ret_paths)
{
	struct table table;
	size_t taken = 0;
	int result = find_table(data, size, &table);

	for (size_t i = 0; result == 0 && i < table.count; i++) {
		const uint8_t *entry = table.data + table.entries + i * table.entry_size;
		const char *path;

		if (!is_for(entry, &table, machine))
			continue;
		path = string_at(&table, read_u32(entry + ENTRY_VALUE, table.big_endian));
		if (!path || *path != '/' || strlen(path) >= PATH_MAX)
			continue;
		/* Each entry has a path of its own: one that is larger than its file repeats them
		 * in order to fill the memory. */
		taken += strlen(path) + 1;
		result = taken > size ? -EINVAL : string_list_add(ret_paths, path);
	}
	return result;
}
