/* SPDX-License-Identifier: MIT */
/* patched: whole files in memory, and what a plan makes of them on disk: for tests only. */
#pragma once

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "elfpatch.h"

struct image {
	uint8_t *bytes;
	size_t size;
	unsigned reads;
};

static inline int64_t image_read(void *context, void *buffer, size_t size, uint64_t offset)
{
	struct image *image = context;

	image->reads++;
	if (offset >= image->size)
		return 0;
	if (size > image->size - offset)
		size = image->size - (size_t)offset;
	memcpy(buffer, image->bytes + offset, size);
	return (int64_t)size;
}

/* Private and writable; unmapped when the program ends, or by image_close. */
static inline bool image_open(const char *path, struct image *ret_image)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	void *bytes = MAP_FAILED;

	if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0)
		bytes = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	if (fd >= 0)
		close(fd);
	if (bytes == MAP_FAILED)
		return false;
	*ret_image = (struct image){ bytes, (size_t)st.st_size, 0 };
	return true;
}

static inline void image_close(struct image *image)
{
	munmap(image->bytes, image->size);
}

static inline bool image_plan(struct image *image, const char *wanted, struct elfpatch_plan *plan)
{
	struct elf_input input = { image_read, image, image->size };

	image->reads = 0;
	return elfpatch(&input, wanted, plan) == 0;
}

/* The bytes of `image` that differ as served. */
static inline size_t image_difference(const struct image *image, const struct overlay *overlay)
{
	size_t count = 0;

	for (size_t i = 0; overlay && i < overlay->count; i++)
		for (size_t b = 0; b < overlay->edits[i].size; b++) {
			uint64_t at = overlay->edits[i].offset + b;

			count +=
				at >= image->size || image->bytes[at] != overlay->edits[i].bytes[b];
		}
	return count;
}

/* Writes the file as it would be served, in pieces of an odd size as readers may ask for. */
static inline bool image_write(
	const struct image *image, const struct overlay *overlay, const char *path)
{
	enum { PIECE = 100001 };
	uint64_t size = overlay ? overlay->size : image->size;
	FILE *stream = fopen(path, "w");
	uint8_t *piece = malloc(PIECE);
	bool good = stream && piece;

	for (uint64_t at = 0; good && at < size; at += PIECE) {
		size_t got = 0, n = PIECE;

		if (at < image->size)
			got = image->size - at < PIECE ? image->size - (size_t)at : PIECE;
		if (got > 0)
			memcpy(piece, image->bytes + at, got);
		n = overlay ? overlay_apply(overlay, piece, n, got, at) : got;
		good = fwrite(piece, 1, n, stream) == n;
	}
	free(piece);
	if (stream && fchmod(fileno(stream), 0755) < 0)
		good = false;
	return stream && fclose(stream) == 0 && good;
}
