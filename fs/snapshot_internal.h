/* SPDX-License-Identifier: MIT */
/* snapshot_internal: the format that snapshot_write.c and snapshot_read.c share, and what the parts
 * of the decoder share: numbers and strings out of bytes (snapshot_get.c), tables and the change
 * (snapshot_read.c), view, sets and nodes (snapshot_read_view.c). Core.
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

/* Bytes that are left of the whole or of one record. */
struct snapshot_reader {
	const uint8_t *at;
	const uint8_t *end;
	int error; /* the first one; what is got after it is 0 or NULL */
};

uint8_t snapshot_get8(struct snapshot_reader *reader);
uint32_t snapshot_get32(struct snapshot_reader *reader);
uint64_t snapshot_get64(struct snapshot_reader *reader);
/* The bytes of a string where they lie; NULL where there is none. */
const uint8_t *snapshot_get_bytes(struct snapshot_reader *reader, size_t *ret_size);
/* A copy (owned by the caller) with a NUL behind it, or NULL where there is none. */
char *snapshot_get_string(struct snapshot_reader *reader, size_t *ret_size);
/* The same of a string that must be there and have no NUL of its own: NULL is an error. */
char *snapshot_get_text(struct snapshot_reader *reader);
/* The next record; where it has an error the reader has it too. */
struct snapshot_reader snapshot_get_record(struct snapshot_reader *reader);
/* How many records or numbers come: not more than there are bytes for. */
size_t snapshot_get_count(struct snapshot_reader *reader);
enum view_kind snapshot_get_kind(struct snapshot_reader *reader);

/* What later sections mean by their places. */
struct snapshot_decoding {
	struct snapshot snapshot;
	struct overlay **overlays;
	size_t n_overlays;
};

/* Each reads its section into decoding->snapshot, which owns what it has also when they fail.
 * Return 0, -EBADMSG or -ENOMEM. */
int snapshot_read_view(struct snapshot_reader *reader, struct snapshot_decoding *decoding);
int snapshot_read_sets(struct snapshot_reader *reader, struct snapshot_decoding *decoding);
int snapshot_read_nodes(struct snapshot_reader *reader, struct snapshot_decoding *decoding);
