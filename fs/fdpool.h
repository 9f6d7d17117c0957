/* SPDX-License-Identifier: MIT */
/* fdpool: descriptors that pin host files: who has a replaced file open keeps its old bytes (DESIGN
 * 2). Bounded: under a low RLIMIT_NOFILE the least recently used are closed, those that no program
 * has seen first, and a file is opened again for a read. Thread-safe. Edge. */
#pragma once

#include <stdatomic.h>

#include "chest.h"
#include "layer.h"

struct fdpool;

/* Raises RLIMIT_NOFILE to its hard limit. Returns how many descriptors a pool may hold beside what
 * the process needs for itself, at least 8. */
size_t fdpool_raise_limit(void);

/* A pool that holds at most `limit` descriptors. NULL without memory. */
struct fdpool *fdpool_new(size_t limit);
/* All sources that were offered or acquired must be gone. Accepts NULL, returns NULL. */
struct fdpool *fdpool_free(struct fdpool *pool);

/* Takes an open descriptor of the source; it is closed where there is one already, or no room. Fits
 * scan_request.offer: `context` is the pool. */
void fdpool_offer(void *context, struct source *source, int fd);

/* A descriptor for pread(2) that stays open until fdpool_release: the held one, else the file
 * opened again and compared with the source's identity. Returns the descriptor; -ESTALE: another
 * file stands there now; or -errno. The caller holds a reference of the source. */
int fdpool_acquire(struct fdpool *pool, struct source *source);
void fdpool_release(struct fdpool *pool, struct source *source, int fd);

/* Puts the held descriptors of these sources into the chest (resume state), each once; numbers are
 * counted up in *last. Returns how many of them could not be put in for want of room or rights:
 * they would be lost in a crash; or -errno. The chest is compacted when half of it is of sources
 * that are gone, numbers below CHEST_FIRST_PIN excepted. */
int fdpool_keep(struct fdpool *pool, struct chest *chest, atomic_ullong *last,
	struct source *const *sources, size_t count);
/* The number that the source's descriptor is kept under, 0: it is not. Fits snapshot.pin_of with
 * the pool as context. */
uint64_t fdpool_kept_as(void *context, const struct source *source);
/* In a process that takes over: as fdpool_offer, with the number that it is kept under. */
void fdpool_restore(struct fdpool *pool, struct source *source, int fd, uint64_t kept_as);

/* The kernel may hold the source's file from now on (or has forgotten it): its descriptor is closed
 * last. Allocates nothing. One that was not offered (of a Nix store) needs no descriptor to stay
 * what it is. */
void fdpool_reveal(struct fdpool *pool, struct source *source, bool revealed);

struct fdpool_counts {
	size_t held;
	size_t limit;
	size_t unpinned; /* revealed, outside a Nix store, without a descriptor */
};
void fdpool_count(struct fdpool *pool, struct fdpool_counts *ret_counts);
