/* SPDX-License-Identifier: MIT */
/* driver_child: runs gldriverfs-probe, the only process that executes vendor code, and judges its
 * answer. Edge. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define DRIVER_CUDA_SIZE 16
#define DRIVER_WHY_SIZE  256
#define DRIVER_TIME_MS   2000

struct driver_answer {
	char cuda[DRIVER_CUDA_SIZE]; /* "12.2"; "": not told */
	char why[DRIVER_WHY_SIZE];   /* cuda is "": why, the end of a sentence */
};

/* The path of gldriverfs-probe (owned by the caller): beside this program, else in
 * ../libexec/gldriverfs. NULL: there is none, or no memory. */
char *driver_child_find(void);
/* Asks the libcuda whose descriptor is the last one; those before are what it needs. Waits time_ms
 * (DRIVER_TIME_MS but in tests) at most; the child is gone afterwards. What goes wrong is an
 * answer, too. */
void driver_child_ask(const char *helper, const int *fds, size_t count, unsigned time_ms,
	struct driver_answer *ret_answer);
/* The answer that the child's output and end make; late_ms: it has not ended within that time; 0:
 * it has. wait_status as of waitpid(2). */
void driver_child_judge(const char *output, size_t size, unsigned late_ms, int wait_status,
	struct driver_answer *ret_answer);
