/* SPDX-License-Identifier: MIT */
/* state: the shared memory that outlives a worker (DESIGN 6: resume state): what the kernel was
 * told at first, the requests under way, the published view as a snapshot, how far its telling got,
 * and how often restarts failed. With it goes the chest of descriptors. Edge. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "chest.h"

/* Of the layout below and of the chest's numbers. A newer one cannot be read. */
#define STATE_VERSION 1

enum {
	STATE_SLOTS = 16,
	/* A request as read(2) from /dev/fuse asks for: max_write and the headers. Only the pages
	 * that a request fills exist. */
	STATE_REQUEST_MAX = 128 * 1024 + 4096,
	STATE_INIT_MAX = 256,
	STATE_NAME_MAX = 256,
	STATE_PATH_MAX = 4096,
	/* Replays after which a request that crashes its worker is answered with EIO, and reloads
	 * of a successor's own after which it makes none. */
	STATE_POISON = 3,
	/* Failed restarts in a row after which there are no more. */
	STATE_FAILURES_MAX = 5,
};

/* Numbers in the chest; sources' descriptors begin at CHEST_FIRST_PIN. */
enum { CHEST_FUSE = 1, CHEST_UNDER = 2, CHEST_LISTENER = 3, CHEST_FIRST_PIN = 16 };

/* How far an instance has come. */
enum state_stage {
	STATE_FRESH,    /* nothing is mounted */
	STATE_MOUNTING, /* a mount may be there */
	STATE_MOUNTED,
	STATE_STOPPING, /* it is to be unmounted: nobody resumes */
	STATE_DETACHED, /* as mounted, but for those only who use it still: nobody stops or reloads
			   it */
	STATE_ENDED,    /* it is unmounted: exit_status is what the keeper ends with */
};

/* One request under way: its bytes, the first four of which (its length) are 0 when there is none.
 */
struct state_slot {
	atomic_uint crashes; /* workers that crashed by themselves in its handler */
	uint8_t padding[4096 - sizeof(atomic_uint)];
	union {
		atomic_uint length;
		uint8_t bytes[STATE_REQUEST_MAX];
	} request;
};

struct state_memory {
	char magic[8];
	uint32_t version;
	uint32_t reserved;
	atomic_int stage; /* enum state_stage */
	atomic_int exit_status;
	atomic_int keeper;    /* pid; 0: none, a service manager keeps */
	atomic_int worker;    /* pid */
	atomic_uint handover; /* the worker ended on purpose, for its successor */
	atomic_uint crashed;  /* the worker crashed or ended by itself */
	atomic_uint replied;  /* it has answered a request */
	atomic_uint failures; /* failed restarts in a row */
	atomic_uint reloading;
	atomic_uint reload_crashes; /* in a row */
	/* (place + 1) << 1, and 1 where the kernel was told all that this publish changed; 0: none
	 * is published. */
	atomic_uint published;
	atomic_uint init_size;
	uint64_t snapshot_size[2];
	atomic_ullong last_pin;
	uint64_t device; /* of the mount */
	uint32_t mount_id;
	uint32_t reserved_too;
	uint64_t socket_device; /* of the control socket */
	uint64_t socket_inode;
	char name[STATE_NAME_MAX];
	char mountpoint[STATE_PATH_MAX];
	uint8_t init[STATE_INIT_MAX]; /* the INIT request */
	uint8_t padding[4096];        /* for later versions: zeros */
	struct state_slot slots[STATE_SLOTS] __attribute__((aligned(4096)));
};

struct state {
	int fd;
	struct state_memory *memory;
	struct chest chest;
};

/* Fresh state of an instance. Returns 0 or -errno. */
int state_new(const char *name, const char *mountpoint, struct state **ret_state);
/* Takes over the three descriptors of an earlier process (closed on failure too). Returns 0;
 * -EPROTO: another version made it; -EBADMSG: it is none; or -errno. */
int state_open(int fd, int chest_in, int chest_out, struct state **ret_state);
/* Lets go; the memory lives on as long as somebody else has it. Accepts NULL, returns NULL. */
struct state *state_free(struct state *state);
/* Back to STATE_FRESH, with an empty chest: what was mounted is aborted. Returns 0 or -errno. */
int state_reset(struct state *state);

/* Keeps a copy of the descriptor under this number (below CHEST_FIRST_PIN), in place of what was
 * kept under it; fd -1: nothing. Returns 0 or -errno. */
int state_keep(struct state *state, uint64_t id, int fd);

static inline enum state_stage state_stage(const struct state *state)
{
	return (enum state_stage)atomic_load(&state->memory->stage);
}

/* A worker begins: accounts how the one before ended. `exited`: its keeper saw it exit without
 * having been asked to. Returns the number of failed restarts in a row. */
unsigned state_begin(struct state *state, bool exited);

/* Writes a snapshot to the place that is not published. Returns the place, -EFBIG, or -errno. */
int state_write(struct state *state, const uint8_t *bytes, size_t size);
/* The snapshot at that place is the published one, nothing of it is told yet. One store. */
void state_publish(struct state *state, int place);
/* The kernel has been told; the other place's memory is given back. */
void state_told(struct state *state);
bool state_is_told(const struct state *state);
/* Reads the published snapshot. Returns 0 with *ret_bytes (owned by the caller), -ENODATA: none is
 * published, or -errno. */
int state_read(const struct state *state, uint8_t **ret_bytes, size_t *ret_size);
