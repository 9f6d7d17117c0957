/* SPDX-License-Identifier: MIT */
/* snapshot_get: numbers, strings and records out of bytes that may be anything. */
#include "snapshot_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static size_t left(const struct snapshot_reader *reader)
{
	return (size_t)(reader->end - reader->at);
}

static void fail(struct snapshot_reader *reader, int error)
{
	if (reader->error == 0)
		reader->error = error;
	reader->at = reader->end;
}

static uint64_t get(struct snapshot_reader *reader, size_t size)
{
	uint64_t value = 0;

	if (left(reader) < size) {
		fail(reader, -EBADMSG);
		return 0;
	}
	for (size_t i = 0; i < size; i++)
		value |= (uint64_t)reader->at[i] << (8 * i);
	reader->at += size;
	return value;
}

uint8_t snapshot_get8(struct snapshot_reader *reader)
{
	return (uint8_t)get(reader, 1);
}

uint32_t snapshot_get32(struct snapshot_reader *reader)
{
	return (uint32_t)get(reader, 4);
}

uint64_t snapshot_get64(struct snapshot_reader *reader)
{
	return get(reader, 8);
}

const uint8_t *snapshot_get_bytes(struct snapshot_reader *reader, size_t *ret_size)
{
	size_t size = snapshot_get32(reader);
	const uint8_t *bytes = reader->at;

	*ret_size = 0;
	if (size == 0)
		return NULL;
	size--;
	if (left(reader) < size) {
		fail(reader, -EBADMSG);
		return NULL;
	}
	reader->at += size;
	*ret_size = size;
	return bytes;
}

char *snapshot_get_string(struct snapshot_reader *reader, size_t *ret_size)
{
	const uint8_t *bytes = snapshot_get_bytes(reader, ret_size);
	char *copy;

	if (!bytes)
		return NULL;
	copy = malloc(*ret_size + 1);
	if (!copy) {
		fail(reader, -ENOMEM);
		return NULL;
	}
	memcpy(copy, bytes, *ret_size);
	copy[*ret_size] = '\0';
	return copy;
}

char *snapshot_get_text(struct snapshot_reader *reader)
{
	size_t size;
	char *text = snapshot_get_string(reader, &size);

	if (text && strlen(text) == size)
		return text;
	free(text);
	fail(reader, -EBADMSG);
	return NULL;
}

struct snapshot_reader snapshot_get_record(struct snapshot_reader *reader)
{
	size_t size = snapshot_get32(reader);
	struct snapshot_reader record = { .at = reader->at };

	if (left(reader) < size) {
		fail(reader, -EBADMSG);
		size = 0;
	}
	record.end = record.at + size;
	record.error = reader->error;
	reader->at += size;
	return record;
}

size_t snapshot_get_count(struct snapshot_reader *reader)
{
	size_t count = snapshot_get32(reader);

	/* Each begins with a length or is a number of four bytes. */
	if (count <= left(reader) / 4)
		return count;
	fail(reader, -EBADMSG);
	return 0;
}

enum view_kind snapshot_get_kind(struct snapshot_reader *reader)
{
	uint8_t kind = snapshot_get8(reader);

	if (kind <= VIEW_CONTENT)
		return (enum view_kind)kind;
	fail(reader, -EBADMSG);
	return VIEW_DIRECTORY;
}
