/* SPDX-License-Identifier: MIT */
/* stale: path walks that a publish overtook. A walk that has read a link of the old view comes to a
 * name that the new view no longer has: that is not an absent name, the walk must start again. Not
 * thread-safe: its owner `tree` has the lock. Edge.
 *
 * A lookup that fails with ESTALE makes the kernel walk the whole path once more and ask for every
 * component anew (fs/namei.c: LOOKUP_REVAL), so that the link's new text is followed. A second walk
 * that comes to a lost name over no link meant it: it is absent. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct stale;

/* What lies in `memory` (STALE_MEMORY bytes, zeros at first, of the caller's) outlives the process:
 * a successor that did not know a thread's first walk would send its second one back as well. NULL:
 * it is not to outlive it. Returns NULL without memory. */
enum { STALE_MEMORY = 40 * 1024 };
struct stale *stale_new(void *memory);
/* Accepts NULL, returns NULL. */
struct stale *stale_free(struct stale *stale);

/* A publish removed this name, which stood for node `ino`. The latest few hundred are remembered.
 */
void stale_note(struct stale *stale, uint32_t parent, const char *name, uint32_t ino);

enum stale_answer {
	STALE_ABSENT, /* nobody can have a link to it, or the second walk meant the name itself */
	STALE_ABSENT_NOW, /* the same, not to be remembered: the name went a moment ago */
	STALE_AGAIN,      /* ESTALE */
	/* This second walk, or one a moment ago, was overtaken as well: *ret_ino, not to be
	 * remembered. */
	STALE_SERVE,
};

/* The node of a name that a publish removed, 0: it is none. */
uint32_t stale_ino(struct stale *stale, uint32_t parent, const char *name);
/* Thread `thread` (0: not known) looks up a name that the published view does not have, in the
 * request `unique` (0: not known): a successor that handles it again gives the same answer.
 * `known`: the kernel may hold the name's node. */
enum stale_answer stale_ask(struct stale *stale, pid_t thread, uint64_t unique, uint32_t parent,
	const char *name, bool known, uint32_t *ret_ino);
/* The thread's walk has come to a directory. */
void stale_restarted(struct stale *stale, pid_t thread);
/* The thread's walk has come to a link that the published view has, or to its end. */
void stale_followed(struct stale *stale, pid_t thread);
void stale_arrived(struct stale *stale, pid_t thread);
