/* SPDX-License-Identifier: MIT */
/* fuzz_machine: the parsers of `machine`; the input's first byte chooses one. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "machine.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int parse_path(const char *text, size_t size, char *value)
{
	_cleanup_(freep) char *path = strndup(text, size);

	return path ? machine_cuda_of_path(path, value) : 1;
}

static const struct {
	char letter;
	size_t size; /* of the value's buffer */
	int (*parse)(const char *text, size_t size, char *value);
} parsers[] = {
	{ 'r', MACHINE_WORD, machine_parse_release },
	{ 'l', 256, machine_parse_library_directory },
	{ 'c', MACHINE_WORD, machine_parse_compatible },
	{ 'd', MACHINE_WORD, machine_parse_dpkg },
	{ 'v', MACHINE_WORD, machine_parse_kernel_driver },
	{ 'g', 64, machine_parse_gpu },
	{ 'p', MACHINE_WORD, parse_path },
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	for (size_t i = 0; size && i < ARRAY_SIZE(parsers); i++) {
		char *value;

		if (parsers[i].letter != (char)data[0])
			continue;
		value = malloc(parsers[i].size);
		if (!value)
			abort();
		memset(value, 'x', parsers[i].size);
		if (parsers[i].parse((const char *)data + 1, size - 1, value) == 0) {
			size_t length = strnlen(value, parsers[i].size);

			if (length == 0 || length == parsers[i].size)
				abort();
		} else if (value[0] != 'x') {
			abort();
		}
		free(value);
	}
	return 0;
}
