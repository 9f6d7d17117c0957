/* SPDX-License-Identifier: MIT */
/* Chests for tests, full of files that hold their own number. */
#pragma once

#include "../compat/cmocka.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "chest.h"
#include "util.h"

enum { MESSAGE = 208, ID_MAX = 32768 };

static inline size_t count_open(void)
{
	DIR *dir = opendir("/proc/self/fd");
	size_t count = 0;

	assert_non_null(dir);
	while (readdir(dir))
		count++;
	closedir(dir);
	return count;
}

/* A file that holds its id. */
static inline int make_file(uint64_t id)
{
	int fd = memfd_create("chest", MFD_CLOEXEC);

	if (fd >= 0 && pwrite(fd, &id, sizeof(id), 0) == sizeof(id))
		return fd;
	abort();
}

/* Puts files `first` … in. Returns as chest_put. */
static inline int put(struct chest *chest, uint64_t first, size_t count, size_t *ret_put)
{
	struct chest_item items[MESSAGE];
	size_t done;
	int error = 0;

	*ret_put = 0;
	for (size_t n; error == 0 && count > 0; first += n, count -= n) {
		n = count < MESSAGE ? count : MESSAGE;
		for (size_t i = 0; i < n; i++)
			items[i] = (struct chest_item){ first + i, make_file(first + i) };
		error = chest_put(chest, items, n, &done);
		*ret_put += done;
		for (size_t i = 0; i < n; i++)
			close(items[i].fd);
	}
	return error;
}

static inline void put_all(struct chest *chest, uint64_t first, size_t count)
{
	size_t done;

	assert_int_equal(put(chest, first, count, &done), 0);
	assert_int_equal(done, count);
}

struct seen {
	unsigned times[ID_MAX];
	size_t count;
	size_t wrong; /* not the file of that id, or not close-on-exec */
};

static inline void take(void *context, uint64_t id, int fd)
{
	struct seen *seen = context;
	uint64_t content;

	if (pread(fd, &content, sizeof(content), 0) != sizeof(content) || content != id ||
		fcntl(fd, F_GETFD) != FD_CLOEXEC || id >= ID_MAX)
		seen->wrong++;
	else
		seen->times[id]++;
	seen->count++;
	close(fd);
}

/* What lies in the chest; overwritten by the next call. */
static inline const struct seen *look(struct chest *chest)
{
	static struct seen seen;

	memset(&seen, 0, sizeof(seen));
	assert_int_equal(chest_look(chest, take, &seen), 0);
	assert_int_equal(seen.wrong, 0);
	return &seen;
}

static inline size_t count_messages(const struct chest *chest)
{
	uint64_t ids[256];
	int offset = 0;
	size_t count = 0;

	assert_return_code(
		setsockopt(chest->out, SOL_SOCKET, SO_PEEK_OFF, &offset, sizeof(offset)), errno);
	while (recv(chest->out, ids, sizeof(ids), MSG_PEEK | MSG_DONTWAIT) > 0)
		count++;
	offset = -1;
	assert_return_code(
		setsockopt(chest->out, SOL_SOCKET, SO_PEEK_OFF, &offset, sizeof(offset)), errno);
	return count;
}

/* Every so many-th id is not kept; 1: none is, 0: all are. */
static inline bool keep(void *context, uint64_t id)
{
	unsigned drop = *(const unsigned *)context;

	return drop == 0 || id % drop != 0;
}
