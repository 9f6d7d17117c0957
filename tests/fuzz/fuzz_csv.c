/* SPDX-License-Identifier: MIT */
/* fuzz_csv: the container lists' reader on any bytes. clang -fsanitize=fuzzer,address,undefined. */
#include <stdlib.h>

#include "csv.h"
#include "hostplace.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(diag_clear) struct diag_list diags = { 0 };
	_cleanup_(csv_clear) struct csv csv = { 0 };

	if (csv_parse("fuzz", (const char *)data, size, &csv, &diags) != 0)
		abort();
	if (diag_count(&diags, DIAG_ERROR) || diags.count > CSV_WARNINGS_MAX + 1)
		abort();
	for (size_t i = 0; i < csv.count; i++) {
		const char *into = hostplace_of(csv.items[i].path);

		if (*csv.items[i].path != '/' || csv.items[i].line == 0 || (into && !*into))
			abort();
	}
	return 0;
}
