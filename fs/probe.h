/* SPDX-License-Identifier: MIT */
/* probe: facts of the machine through a root: /etc/nv_tegra_release, the device tree, the kernel
 * driver, dpkg, the GPUs (FACTS.md 4). Edge. */
#pragma once

#include "facts.h"
#include "rootfs.h"
#include "tables.h"

/* The one of the files that tells of a change (inotify): the others are of /proc, /sys, or
 * rewritten with every package. */
#define PROBE_RELEASE "/etc/nv_tegra_release"

/* Probes. What is absent or unreadable is an unknown fact whose source says which, not an error.
 * Facts of the layers (host and compat) are left empty. Returns 0 or -ENOMEM. */
int probe(struct rootfs *root, const struct tables *tables, struct facts *ret_facts);
