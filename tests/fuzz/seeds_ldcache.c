/* SPDX-License-Identifier: MIT */
/* seeds_ldcache DIR: writes the seeds of fuzz_ldcache (tests/fuzz/corpus/ldcache is its output). */
#include <stdio.h>

#include "../unit/ldcache_builder.h"

#define ENTRIES                                                                                    \
	{                                                                                          \
		{ "/lib/libcuda.so.1", LDCACHE_X86_64, 0 },                                        \
			{ "/arm/libcuda.so.1", LDCACHE_AARCH64, 0 },                               \
		{                                                                                  \
			"/hw/libm.so.6", LDCACHE_X86_64, 2                                         \
		}                                                                                  \
	}

static const struct {
	const char *name;
	struct ldcache_plan plan;
} seeds[] = {
	{ "new", { .endian = 2, .entries = ENTRIES } },
	{ "big-endian", { .endian = 3, .big_endian = true, .entries = ENTRIES } },
	{ "unknown-endian", { .entries = ENTRIES } },
	{ "both", { .old = true, .endian = 2, .entries = ENTRIES } },
	{ "both-aligned-4", { .old = true, .align = 4, .entries = ENTRIES } },
	{ "old", { .old = true, .without_new = true, .entries = ENTRIES } },
};

int main(int argc, char **argv)
{
	if (argc != 2)
		return 2;
	for (size_t i = 0; i < sizeof(seeds) / sizeof(seeds[0]); i++) {
		struct ldcache_built built;
		char path[4096];
		FILE *stream;

		ldcache_build(&seeds[i].plan, &built);
		snprintf(path, sizeof(path), "%s/%s", argv[1], seeds[i].name);
		stream = fopen(path, "w");
		if (!stream || fwrite(built.bytes, 1, built.size, stream) != built.size ||
			fclose(stream) != 0)
			return 1;
	}
	return 0;
}
