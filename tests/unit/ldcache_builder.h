/* SPDX-License-Identifier: MIT */
/* ldcache_builder: caches of the loader in memory, of every format and byte order, for tests and
 * seeds. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define LDCACHE_BUILT_MAX 4096

/* Flags of entries as glibc has them. */
#define LDCACHE_X86_64  0x0303
#define LDCACHE_I386    0x0003
#define LDCACHE_X32     0x0803
#define LDCACHE_AARCH64 0x0a03
#define LDCACHE_ARMHF   0x0903

struct ldcache_plan {
	bool old;         /* has the old table */
	bool without_new; /* nothing behind it */
	bool big_endian;
	uint8_t endian; /* the header's: 0 unknown, 2 little, 3 big */
	unsigned align; /* of the new table; 0: 8 */
	struct {
		const char *path;
		uint32_t flags;
		uint64_t hwcap;
	} entries[8];
};

struct ldcache_built {
	uint8_t bytes[LDCACHE_BUILT_MAX];
	size_t size;
};

static inline void ldcache_put(
	struct ldcache_built *built, size_t at, uint64_t value, size_t size, bool big_endian)
{
	for (size_t i = 0; i < size; i++)
		built->bytes[at + i] = (uint8_t)(value >> 8 * (big_endian ? size - 1 - i : i));
}

/* Puts the strings behind the entries; their offsets count from `base`. */
static inline void ldcache_put_entries(struct ldcache_built *built, const struct ldcache_plan *plan,
	size_t count, size_t entry_size, size_t base)
{
	size_t at = built->size, strings = at + count * entry_size;

	base = base == SIZE_MAX ? strings : base;
	for (size_t i = 0; i < count; i++, at += entry_size) {
		const char *path = plan->entries[i].path;
		const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;

		ldcache_put(built, at, plan->entries[i].flags, 4, plan->big_endian);
		ldcache_put(
			built, at + 4, strings - base + (size_t)(name - path), 4, plan->big_endian);
		ldcache_put(built, at + 8, strings - base, 4, plan->big_endian);
		if (entry_size == 24)
			ldcache_put(built, at + 16, plan->entries[i].hwcap, 8, plan->big_endian);
		memcpy(built->bytes + strings, path, strlen(path) + 1);
		strings += strlen(path) + 1;
	}
	built->size = strings;
}

static inline void ldcache_build(const struct ldcache_plan *plan, struct ldcache_built *ret_built)
{
	struct ldcache_built built = { .size = 0 };
	size_t count = 0, align = plan->align ? plan->align : 8, base;

	while (count < 8 && plan->entries[count].path)
		count++;
	if (plan->old) {
		memcpy(built.bytes, "ld.so-1.7.0", 11);
		built.size = 16;
		if (plan->without_new) {
			ldcache_put(&built, 12, count, 4, plan->big_endian);
			ldcache_put_entries(&built, plan, count, 12, SIZE_MAX);
			*ret_built = built;
			return;
		}
		/* One old entry; what it says does not count where there is a new table. */
		ldcache_put(&built, 12, 1, 4, plan->big_endian);
		ldcache_put(&built, 16, 3, 4, plan->big_endian);
		built.size = (28 + align - 1) / align * align;
	}
	base = built.size;
	memcpy(built.bytes + base, "glibc-ld.so.cache1.1", 20);
	ldcache_put(&built, base + 20, count, 4, plan->big_endian);
	built.bytes[base + 28] = plan->endian;
	built.size += 48;
	ldcache_put_entries(&built, plan, count, 24, base);
	*ret_built = built;
}
