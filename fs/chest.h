/* SPDX-License-Identifier: MIT */
/* chest: descriptors that outlive the process (DESIGN 6: resume state). They lie in the receive
 * queue of a socket pair: as long as any process, or systemd's fd store, holds both ends, the
 * kernel keeps them open, and putting one in is one sendmsg(2). Not thread-safe. Edge. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct chest {
	int in;           /* SOCK_SEQPACKET pair: descriptors are sent here … */
	int out;          /* … and wait there; they are looked at (MSG_PEEK), not taken */
	unsigned partial; /* messages that are not full, as far as this process knows */
};

/* Fills the chest with a new pair, close-on-exec, non-blocking, with as much room as the process
 * may ask for (SO_SNDBUFFORCE, else SO_SNDBUF). Returns 0 or -errno. */
int chest_new(struct chest *ret_chest);
void chest_clear(struct chest *chest);

/* One descriptor and the number (not 0) that it is kept under. */
struct chest_item {
	uint64_t id;
	int fd;
};

/* Puts copies in, a few hundred per message; compacts when there are many messages that are not
 * full (to look at n of them takes n² steps). What chest_compact needs stays free. Returns 0;
 * -EAGAIN: no room, -ETOOMANYREFS: more than the user may have under way (RLIMIT_NOFILE; root: any
 * number); or -errno. Those before are in, *ret_put of them. */
int chest_put(struct chest *chest, const struct chest_item *items, size_t count, size_t *ret_put);

/* Gives a copy (close-on-exec) of each descriptor to `take`, which owns it; all stay in the chest.
 * An id that was put in twice comes twice until it is compacted. Returns 0 or -errno (-EMFILE: as
 * many as fit were given).
 */
int chest_look(
	struct chest *chest, void (*take)(void *context, uint64_t id, int fd), void *context);

/* Removes what `keep` does not want and packs the rest into full messages; of those under one
 * number the last put in stays. At each moment every kept descriptor lies in the chest at least
 * once: the process may die in between. Opens the descriptors of two messages at a time.
 * Returns 0 or -errno with nothing lost. */
int chest_compact(struct chest *chest, bool (*keep)(void *context, uint64_t id), void *context);
