/* SPDX-License-Identifier: MIT */
/* mounts: the mounts of gldriverfs as the kernel lists them (source "gldriverfs:NAME"). */
#pragma once

#include <stddef.h>
#include <sys/types.h>

#include "util.h"

struct mounts_entry {
	char *name;	  /* of the instance */
	char *mountpoint; /* in this process' name space */
	uid_t owner;	  /* user_id= of the mount */
};

/* In the kernel's order: a later entry covers an earlier one at the same place. */
struct mounts {
	struct mounts_entry *items;
	size_t count;
	size_t capacity;
};

/* Parses the text of /proc/self/mountinfo, proc(5). Lines that are no mounts of ours are skipped.
 * Returns 0 or -ENOMEM. */
int mounts_parse(const char *text, struct mounts *ret_mounts);
/* Reads this process' own. Returns 0 or -errno. */
int mounts_read(struct mounts *ret_mounts);
void mounts_clear(struct mounts *mounts);
