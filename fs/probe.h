/* SPDX-License-Identifier: MIT */
/* probe: facts of the machine from /proc and /sys through a root. Edge. */
#pragma once

#include "facts.h"
#include "rootfs.h"

/* Probes. What is absent or unreadable is an unknown fact whose source says so, not an error.
 * Returns 0 or -ENOMEM. */
int probe(struct rootfs *root, struct facts *ret_facts);
