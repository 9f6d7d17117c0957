/* SPDX-License-Identifier: MIT */
/* fuzz_tables: any text as one of the tables; the input's first byte chooses which. */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tables.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What was read is whole, and is found again. */
static void check_rows(const struct tables *tables)
{
	for (size_t i = 0; i < tables->n_socs; i++) {
		const struct soc_row *row = &tables->socs[i];

		if (tables_soc(tables, row->soc) != row || !row->device || !row->compute ||
			!row->l4t_first || !row->stack)
			abort();
	}
	for (size_t i = 0; i < tables->n_l4ts; i++) {
		const struct l4t_row *row = &tables->l4ts[i];

		if (tables_l4t(tables, row->l4t, row->soc) == NULL || !row->jetpack || !row->cuda)
			abort();
	}
	for (size_t i = 0; i < tables->n_drivers; i++) {
		char driver[16];

		memcpy(driver, tables->drivers[i].branch, 3);
		memcpy(driver + 3, ".1", 3);
		if (tables_cuda_of_driver(tables, driver) != tables->drivers[i].cuda)
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(diag_clear) struct diag_list diags = { 0 };
	struct tables *tables;
	int r;

	if (size == 0)
		return 0;
	/* Of version 0: any is newer. */
	tables = calloc(1, sizeof(*tables));
	if (!tables)
		abort();
	r = tables_update(tables, (enum table_id)(data[0] % TABLE_COUNT), "t.ini",
		(const char *)data + 1, size - 1, &diags);
	if (r != 1 && r != -EINVAL)
		abort();
	if ((r == -EINVAL) != (diag_count(&diags, DIAG_ERROR) > 0))
		abort();
	if (r == 1)
		check_rows(tables);
	tables_free(tables);
	return 0;
}
