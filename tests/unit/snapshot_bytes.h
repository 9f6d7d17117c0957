/* SPDX-License-Identifier: MIT */
/* Encoded snapshots. Include compat/cmocka.h first. */
#pragma once

#include "snapshot_builder.h"
#include "snapshot_internal.h"

struct bytes {
	uint8_t *at;
	size_t size;
};

static void bytes_clear(struct bytes *bytes)
{
	free(bytes->at);
}

static struct bytes encode(const struct snapshot *snapshot)
{
	struct bytes bytes;

	assert_int_equal(snapshot_encode(snapshot, &bytes.at, &bytes.size), 0);
	return bytes;
}

static struct bytes encode_built(void)
{
	struct builder builder;
	struct bytes bytes;

	builder_make(&builder);
	bytes = encode(&builder.snapshot);
	builder_clear(&builder);
	return bytes;
}

/* Makes the checksum right. */
static void sign(uint8_t *bytes, size_t size)
{
	const size_t header = sizeof(struct snapshot_header);
	const uint64_t checksum = fnv1a(FNV_START, bytes + header, size - header);

	for (size_t i = 0; i < 8; i++)
		bytes[offsetof(struct snapshot_header, checksum) + i] =
			(uint8_t)(checksum >> (8 * i));
}
