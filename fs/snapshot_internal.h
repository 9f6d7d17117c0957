/* SPDX-License-Identifier: MIT */
/* snapshot_internal: the format that snapshot_write.c and snapshot_read.c share. Core.
 *
 * A header, then sections in this order: what the snapshot is of; layer names; sources; overlays;
 * entries of the view by their paths, directories before what is in them; CUDA sets; nodes; the
 * change. Numbers are little-endian; a string is its length plus 1 (0: NULL) and its bytes; each
 * section but the first is a count and so many records; a record is its length and its bytes.
 * Source, overlay and layer are meant by their place plus 1, 0: none. */
#pragma once

#include "snapshot.h"

#define SNAPSHOT_MAGIC "gldrsnap"

struct snapshot_header {
	char magic[8];
	uint8_t version[4];
	uint8_t checksum[8]; /* FNV-1a of all behind the header */
};
