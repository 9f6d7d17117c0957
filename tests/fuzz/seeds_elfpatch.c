/* SPDX-License-Identifier: MIT */
/* seeds_elfpatch DIR: writes the seeds of fuzz_elfpatch (tests/fuzz/corpus/elfpatch is its output).
 */
#include <stdio.h>

#include "../unit/patch_builder.h"

static const struct {
	const char *name;
	struct patch_plan plan;
} seeds[] = {
	{ "in-place",
		{ .soname = "liba.so.1", .needed = { "libc.so.6" }, .spare = 3, .slack = 200 } },
	{ "sections", { .soname = "liba.so.1", .spare = 3, .slack = 200, .sections = true } },
	{ "tail", { .soname = "liba.so.1", .needed = { "libm.so.6", "libc.so.6" }, .phdr = true } },
	{ "tail-sections", { .spare = 1, .sections = true, .tight = true, .phdr = true } },
	{ "hole", { .spare = 1, .sections = true } },
	{ "behind", { .slack = 100, .behind = 32, .sections = true } },
	{ "runpath", { .runpath = "$ORIGIN/x", .slack = 200 } },
	{ "rpath", { .rpath = "/x:/y", .slack = 200, .sections = true } },
	{ "rpath-first", { .rpath = "$ORIGIN:/run/opengl-driver/lib:/y" } },
	{ "done", { .runpath = "$ORIGIN:/run/opengl-driver/lib", .soname = "liba.so" } },
	{ "loader", { .soname = "ld-linux-x86-64.so.2", .spare = 3, .slack = 200 } },
	{ "program", { .interpreter = true, .debug = true, .spare = 3, .slack = 200 } },
};

int main(int argc, char **argv)
{
	if (argc != 2)
		return 2;
	for (size_t i = 0; i < ARRAY_SIZE(seeds); i++) {
		struct patch_built built;
		char path[4096];
		FILE *stream;

		patch_build(&seeds[i].plan, &built);
		snprintf(path, sizeof(path), "%s/%s", argv[1], seeds[i].name);
		stream = fopen(path, "w");
		if (!stream || fwrite(built.bytes, 1, built.size, stream) != built.size ||
			fclose(stream) != 0)
			return 1;
	}
	return 0;
}
