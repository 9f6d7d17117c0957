/* SPDX-License-Identifier: MIT */
/* libsearch: whether a library finds what it needs by its own RUNPATH, outside the layers. Edge. */
#pragma once

#include "layer.h"
#include "rootfs.h"

struct libsearch {
	const char *mountpoint;           /* of the driver directory; or NULL */
	const struct rootfs_avoid *avoid; /* or NULL */
};

/* Whether a directory of the source's RUNPATH (else RPATH) has a file of this name; context is a
 * struct libsearch. The driver directory does not count: what it shows is what is being decided. A
 * directory with $LIB or $PLATFORM is believed to have it. */
bool libsearch_finds(void *context, const struct source *source, const char *needed);
