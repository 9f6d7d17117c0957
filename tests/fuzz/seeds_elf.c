/* SPDX-License-Identifier: MIT */
/* seeds_elf DIR: writes the seeds of fuzz_elf (tests/fuzz/corpus/elf is its output). */
#include <stdio.h>

#include "../unit/elf_builder.h"

static const struct {
	const char *name;
	struct elf_plan plan;
} seeds[] = {
	{ "x86_64", { .soname = "libcuda.so.1",
			    .needed = { "libm.so.6", "libc.so.6" },
			    .build_id_size = 20,
			    .build_id = 1 } },
	{ "aarch64", { .machine = EM_AARCH64,
			     .soname = "libnvos.so",
			     .runpath = "$ORIGIN",
			     .needed = { "libc.so.6" } } },
	{ "i386", { .class = ELFCLASS32,
			  .machine = EM_386,
			  .soname = "liba.so",
			  .rpath = "/x",
			  .build_id_size = 8 } },
	{ "big-endian", { .big_endian = true, .machine = EM_PPC64, .soname = "liba.so" } },
	{ "pie", { .pie = true, .needed = { "libc.so.6" } } },
	{ "static", { .static_ = true, .type = ET_EXEC } },
};

int main(int argc, char **argv)
{
	if (argc != 2)
		return 2;
	for (size_t i = 0; i < sizeof(seeds) / sizeof(seeds[0]); i++) {
		struct elf_built built;
		char path[4096];
		FILE *stream;

		elf_build(&seeds[i].plan, &built);
		snprintf(path, sizeof(path), "%s/%s", argv[1], seeds[i].name);
		stream = fopen(path, "w");
		if (!stream || fwrite(built.bytes, 1, built.size, stream) != built.size ||
			fclose(stream) != 0)
			return 1;
	}
	return 0;
}
