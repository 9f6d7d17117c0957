/* SPDX-License-Identifier: MIT */
/* driver_sandbox: the system calls that loading a library takes, and no others (seccomp). Part of
 * the probe child, where vendor code runs. Edge. */
#pragma once

/* From now on this process can read files, map memory and end; everything else fails with EPERM:
 * writing to files, making processes, network, signals to others, devices. Needs no_new_privs.
 * Returns 0 or -errno. */
int driver_sandbox_enter(void);
