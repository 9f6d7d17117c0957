/* SPDX-License-Identifier: MIT */
/* mountinfo: the mounts of this thread's namespace, from /proc/thread-self/mountinfo (proc(5)).
 * Reads no mount itself. Edge. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "util.h"

struct mountinfo_entry {
	unsigned id;  /* of the mount, as long as it lives */
	dev_t device; /* as st_dev */
	char *mountpoint;
	char *source; /* "gldriverfs:NAME" */
	bool is_fuse; /* whoever's */
	bool shared;  /* has a peer group: copies of it get what is mounted below it */
	uid_t owner;  /* user_id= of a FUSE mount; 0 for others */
};

struct mountinfo {
	struct mountinfo_entry *entries; /* a later one on the same mountpoint lies above */
	size_t count;
	size_t capacity;
};

/* Reads all. Returns 0 or -errno. */
int mountinfo_read(struct mountinfo *ret_info);
/* Parses text of that format. Lines that do not fit it are passed over. Returns 0 or -ENOMEM. */
int mountinfo_parse(const char *text, struct mountinfo *ret_info);
void mountinfo_clear(struct mountinfo *info);
/* The topmost mount at exactly this path, or NULL. */
const struct mountinfo_entry *mountinfo_at(const struct mountinfo *info, const char *path);
/* The instance's name where the mount is one of ours, else NULL. Points into the entry. */
const char *mountinfo_instance(const struct mountinfo_entry *entry);
