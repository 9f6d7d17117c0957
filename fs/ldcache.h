/* SPDX-License-Identifier: MIT */
/* ldcache: what /etc/ld.so.cache lists for one machine, from its bytes (glibc's
 * sysdeps/generic/dl-cache.h: "ld.so-1.7.0", perhaps with the new table behind it, and
 * "glibc-ld.so.cache1.1"). Core. */
#pragma once

#include "policy.h"
#include "util.h"

/* Appends the paths of the machine's libraries in the loader's order: the file name of each is the
 * one that it asks for. Entries for hardware capabilities, and paths that are not absolute, are
 * left out. The file may be of either byte order. Returns 0, -EINVAL: it is no such cache or its
 * table does not lie inside it, or -ENOMEM. */
int ldcache_parse(
	const void *data, size_t size, enum policy_machine machine, struct string_list *ret_paths);
