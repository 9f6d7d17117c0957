/* SPDX-License-Identifier: MIT */
#include "state.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util.h"

#define MAGIC "gldrvfs"

/* Where the two snapshots lie in the file, and how large one may be. What is not written takes no
 * memory. */
#define PLACE_SIZE ((off_t)64 * 1024 * 1024)

static off_t place_offset(int place)
{
	return (off_t)sizeof(struct state_memory) + PLACE_SIZE * place;
}

static int state_map(struct state *state)
{
	void *memory = mmap(NULL, sizeof(struct state_memory), PROT_READ | PROT_WRITE, MAP_SHARED,
		state->fd, 0);

	if (memory == MAP_FAILED)
		return -errno;
	state->memory = memory;
	return 0;
}

static int state_make(const char *name, const char *mountpoint, struct state *state)
{
	int error;

	if (strlen(name) >= STATE_NAME_MAX || strlen(mountpoint) >= STATE_PATH_MAX)
		return -ENAMETOOLONG;
	state->fd = memfd_create("gldriverfs", MFD_CLOEXEC);
	if (state->fd < 0 || ftruncate(state->fd, place_offset(0)) < 0)
		return -errno;
	error = state_map(state);
	if (error == 0)
		error = chest_new(&state->chest);
	if (error < 0)
		return error;
	memcpy(state->memory->magic, MAGIC, sizeof(MAGIC));
	state->memory->version = STATE_VERSION;
	memcpy(state->memory->name, name, strlen(name) + 1);
	memcpy(state->memory->mountpoint, mountpoint, strlen(mountpoint) + 1);
	atomic_store(&state->memory->last_pin, CHEST_FIRST_PIN);
	return 0;
}

static struct state *state_alloc(void)
{
	struct state *state = calloc(1, sizeof(*state));

	if (state) {
		state->fd = -1;
		state->chest = (struct chest){ .in = -1, .out = -1 };
	}
	return state;
}

int state_new(const char *name, const char *mountpoint, struct state **ret_state)
{
	struct state *state = state_alloc();
	int error = state ? state_make(name, mountpoint, state) : -ENOMEM;

	if (error < 0) {
		state_free(state);
		return error;
	}
	*ret_state = state;
	return 0;
}

/* Whether the file can be mapped and is of this version. Returns 0, -EPROTO, -EBADMSG or -errno. */
static int state_check(struct state *state)
{
	struct stat st;
	char magic[sizeof(MAGIC)];
	uint32_t version;
	int error;

	if (fstat(state->fd, &st) < 0)
		return -errno;
	if (pread(state->fd, magic, sizeof(magic), 0) != sizeof(magic) ||
		memcmp(magic, MAGIC, sizeof(magic)) != 0 ||
		pread(state->fd, &version, sizeof(version),
			offsetof(struct state_memory, version)) != sizeof(version))
		return -EBADMSG;
	if (version == 0 || version > STATE_VERSION)
		return -EPROTO;
	if (st.st_size < place_offset(0))
		return -EBADMSG;
	error = state_map(state);
	if (error < 0)
		return error;
	if (!memchr(state->memory->name, '\0', STATE_NAME_MAX) ||
		!memchr(state->memory->mountpoint, '\0', STATE_PATH_MAX) ||
		atomic_load(&state->memory->init_size) > STATE_INIT_MAX)
		return -EBADMSG;
	return 0;
}

int state_open(int fd, int chest_in, int chest_out, struct state **ret_state)
{
	struct state *state = state_alloc();
	int error = -ENOMEM;

	if (state) {
		state->fd = fd;
		state->chest = (struct chest){ .in = chest_in, .out = chest_out };
		error = fd < 0 || chest_in < 0 || chest_out < 0 ? -EBADMSG : state_check(state);
	} else {
		closep(&fd);
		closep(&chest_in);
		closep(&chest_out);
	}
	if (error < 0) {
		state_free(state);
		return error;
	}
	*ret_state = state;
	return 0;
}

struct state *state_free(struct state *state)
{
	if (!state)
		return NULL;
	if (state->memory)
		munmap(state->memory, sizeof(*state->memory));
	closep(&state->fd);
	chest_clear(&state->chest);
	free(state);
	return NULL;
}

static bool is_other(void *context, uint64_t id)
{
	const uint64_t *gone = context;

	return id != *gone;
}

int state_keep(struct state *state, uint64_t id, int fd)
{
	const struct chest_item item = { .id = id, .fd = fd };
	size_t put;
	int error = chest_compact(&state->chest, is_other, &id);

	return error < 0 || fd < 0 ? error : chest_put(&state->chest, &item, 1, &put);
}

static bool keep_nothing(void *context, uint64_t id)
{
	(void)context;
	(void)id;
	return false;
}

int state_reset(struct state *state)
{
	struct state_memory *memory = state->memory;

	atomic_store(&memory->stage, STATE_FRESH);
	atomic_store(&memory->published, 0);
	atomic_store(&memory->init_size, 0);
	memory->device = 0;
	for (size_t i = 0; i < STATE_SLOTS; i++) {
		atomic_store(&memory->slots[i].request.length, 0);
		atomic_store(&memory->slots[i].crashes, 0);
	}
	return chest_compact(&state->chest, keep_nothing, NULL);
}

unsigned state_begin(struct state *state, bool exited)
{
	struct state_memory *memory = state->memory;
	bool replied = atomic_exchange(&memory->replied, 0) != 0;
	bool crashed = atomic_exchange(&memory->crashed, 0) != 0 || exited;

	if (replied)
		atomic_store(&memory->failures, 0);
	else if (crashed)
		atomic_fetch_add(&memory->failures, 1);
	atomic_store(&memory->handover, 0);
	return atomic_load(&memory->failures);
}

static int published_place(const struct state *state)
{
	return (int)(atomic_load(&state->memory->published) >> 1) - 1;
}

int state_write(struct state *state, const uint8_t *bytes, size_t size)
{
	int place = published_place(state) == 0 ? 1 : 0;
	size_t written = 0;

	if (size > (size_t)PLACE_SIZE)
		return -EFBIG;
	while (written < size) {
		ssize_t n = pwrite(state->fd, bytes + written, size - written,
			place_offset(place) + (off_t)written);

		if (n < 0 && errno != EINTR)
			return -errno;
		written += n > 0 ? (size_t)n : 0;
	}
	state->memory->snapshot_size[place] = size;
	return place;
}

void state_publish(struct state *state, int place)
{
	atomic_store(&state->memory->published, (unsigned)(place + 1) << 1);
}

void state_told(struct state *state)
{
	int place = published_place(state);

	atomic_fetch_or(&state->memory->published, 1U);
	(void)fallocate(state->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
		place_offset(place == 0 ? 1 : 0), PLACE_SIZE);
}

bool state_is_told(const struct state *state)
{
	return atomic_load(&state->memory->published) & 1U;
}

int state_read(const struct state *state, uint8_t **ret_bytes, size_t *ret_size)
{
	_cleanup_(freep) uint8_t *bytes = NULL;
	int place = published_place(state);
	size_t size, done = 0;

	if (place < 0)
		return -ENODATA;
	size = state->memory->snapshot_size[place];
	if (size > (size_t)PLACE_SIZE)
		return -EBADMSG;
	bytes = malloc(size ? size : 1);
	if (!bytes)
		return -ENOMEM;
	while (done < size) {
		ssize_t n = pread(
			state->fd, bytes + done, size - done, place_offset(place) + (off_t)done);

		if (n == 0)
			return -EBADMSG;
		if (n < 0 && errno != EINTR)
			return -errno;
		done += n > 0 ? (size_t)n : 0;
	}
	*ret_bytes = steal_pointer(bytes);
	*ret_size = size;
	return 0;
}
