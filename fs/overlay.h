/* SPDX-License-Identifier: MIT */
/* overlay: a host file's bytes with a few of them replaced, and perhaps a tail behind them: what is
 * served of a library that gets a RUNPATH. Nothing is copied: the edits are put over the bytes that
 * were read. Immutable, shared by reference. Core. */
#pragma once

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

struct overlay_edit {
	uint64_t offset;
	uint32_t size;
	uint8_t *bytes; /* owned */
};

struct overlay {
	atomic_uint references;
	uint64_t base; /* size of the host file: bytes from here to `size` are zeros where no edit
			  is */
	uint64_t size; /* as served */
	uint64_t id;   /* hash of size and edits; never 0 */
	struct overlay_edit *edits; /* sorted by offset, not touching each other */
	size_t count;
};

/* An overlay without edits yet, size = base. NULL without memory. */
struct overlay *overlay_new(uint64_t base);
struct overlay *overlay_ref(struct overlay *overlay);
/* Drops a reference; the last one frees. Accepts NULL, returns NULL. */
struct overlay *overlay_unref(struct overlay *overlay);
void overlay_unrefp(struct overlay **overlay);
/* Replaces bytes; what it overlaps of earlier edits is replaced too. A size beyond grows the file.
 * Returns 0, -EOVERFLOW, or -ENOMEM. Only before overlay_finish. */
int overlay_write(struct overlay *overlay, uint64_t offset, const void *bytes, size_t size);
/* Computes the id; nothing is written afterwards. */
void overlay_finish(struct overlay *overlay);
/* Puts the edits over `size` bytes that stand for [offset, offset + size); `got` of them were read
 * from the host file, the rest is cleared. Returns how many of them the served file has. Allocates
 * nothing. */
size_t overlay_apply(
	const struct overlay *overlay, void *buffer, size_t size, size_t got, uint64_t offset);
