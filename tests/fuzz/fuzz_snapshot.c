/* SPDX-License-Identifier: MIT */
/* fuzz_snapshot: any bytes as a snapshot; the header is made right, so that it hides nothing. What
 * is read can be written and is read again as the same. */
#include <stdlib.h>
#include <string.h>

#include "snapshot_internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void store(uint8_t *at, uint64_t value, size_t size)
{
	for (size_t i = 0; i < size; i++)
		at[i] = (uint8_t)(value >> (8 * i));
}

static uint8_t *with_header(const uint8_t *data, size_t size)
{
	const size_t header = sizeof(struct snapshot_header);
	uint8_t *bytes = malloc(size);

	if (!bytes)
		abort();
	memcpy(bytes, data, size);
	memcpy(bytes, SNAPSHOT_MAGIC, offsetof(struct snapshot_header, version));
	store(bytes + offsetof(struct snapshot_header, version), SNAPSHOT_VERSION, 4);
	store(bytes + offsetof(struct snapshot_header, checksum),
		fnv1a(FNV_START, bytes + header, size - header), 8);
	return bytes;
}

/* Encodes what was decoded and decodes that. */
static struct snapshot again(const struct snapshot *snapshot, size_t *ret_size)
{
	_cleanup_(freep) uint8_t *bytes = NULL;
	struct snapshot decoded;

	if (snapshot_encode(snapshot, &bytes, ret_size) < 0 ||
		snapshot_decode(bytes, *ret_size, &decoded) < 0)
		abort();
	return decoded;
}

static void compare(const struct snapshot *a, const struct snapshot *b)
{
	if (strcmp(a->name, b->name) != 0 || strcmp(a->mountpoint, b->mountpoint) != 0 ||
		strcmp(a->view->id, b->view->id) != 0 || a->view->root.ino != b->view->root.ino ||
		a->view->root.count != b->view->root.count ||
		a->view->n_entries != b->view->n_entries || a->sets.count != b->sets.count ||
		a->n_nodes != b->n_nodes || a->change.n_names != b->change.n_names ||
		a->change.n_directories != b->change.n_directories ||
		a->n_attributes != b->n_attributes)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(freep) uint8_t *bytes = NULL;
	struct snapshot first, second, third;
	size_t second_size, third_size;

	if (snapshot_decode(data, size, &first) == 0)
		snapshot_clear(&first);
	if (size < sizeof(struct snapshot_header))
		return 0;
	bytes = with_header(data, size);
	if (snapshot_decode(bytes, size, &first) < 0)
		return 0;
	second = again(&first, &second_size);
	third = again(&second, &third_size);
	compare(&first, &second);
	compare(&second, &third);
	/* The first may have had tables of what nothing refers to. */
	if (second_size > size || third_size != second_size || second.n_sources != third.n_sources)
		abort();
	snapshot_clear(&first);
	snapshot_clear(&second);
	snapshot_clear(&third);
	return 0;
}
