/* SPDX-License-Identifier: MIT */
/* fuzz_ldcache: the reader of the loader's cache on any bytes, for every machine. clang
 * -fsanitize=fuzzer,address,undefined. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ldcache.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	for (int machine = MACHINE_X86_64; machine <= MACHINE_ARMHF; machine++) {
		struct string_list paths = { 0 };
		int result = ldcache_parse(data, size, (enum policy_machine)machine, &paths);
		size_t bytes = 0;

		if (result != 0 && result != -EINVAL)
			abort();
		for (size_t i = 0; i < paths.count; i++) {
			if (*paths.items[i] != '/')
				abort();
			bytes += strlen(paths.items[i]);
		}
		if (bytes > size)
			abort();
		string_list_clear(&paths);
	}
	return 0;
}
