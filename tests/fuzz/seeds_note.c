/* SPDX-License-Identifier: MIT */
/* seeds_note DIR: writes the seeds of fuzz_note (tests/fuzz/corpus/note is its output). */
#include <stdio.h>

#include "../unit/note_builder.h"

static const struct {
	const char *name;
	struct note_plan plan;
} seeds[] = {
	{ "server", { .text = NOTE_SERVER, .padding = 5 } },
	{ "orin", { .text = NOTE_ORIN, .more = 2 } },
	{ "trailing-comma", { .text = "{\"format\":1,\"CUDA version\":\"12.9\",}" } },
	{ "big-endian", { .text = NOTE_SERVER, .big_endian = true } },
	{ "narrow", { .text = NOTE_SERVER, .narrow = true } },
	{ "two", { .text = NOTE_ORIN, .second = NOTE_SERVER } },
	{ "other-name", { .text = NOTE_SERVER, .vendor = "NVIDIA" } },
	{ "other-section", { .text = NOTE_SERVER, .section = ".note.cuda" } },
};

int main(int argc, char **argv)
{
	if (argc != 2)
		return 2;
	for (size_t i = 0; i < sizeof(seeds) / sizeof(seeds[0]); i++) {
		struct note_built built;
		char path[4096];
		FILE *stream;

		note_build(&seeds[i].plan, &built);
		snprintf(path, sizeof(path), "%s/%s", argv[1], seeds[i].name);
		stream = fopen(path, "w");
		if (!stream || fwrite(built.bytes, 1, built.size, stream) != built.size ||
			fclose(stream) != 0)
			return 1;
	}
	return 0;
}
