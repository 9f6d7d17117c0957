/* SPDX-License-Identifier: MIT */
/* launch: how the daemon's processes come to be: paths made absolute, descriptors, the background.
 * Edge. */
#pragma once

#include "daemon.h"

/* An absolute path without "." and "..", the last component not followed: a link there is to be
 * refused, not resolved. Owned by the caller; NULL with errno. */
char *launch_absolute_path(const char *path);
/* The same file from any working directory: the background process leaves this one. Links are not
 * followed, they are at each load. Owned by the caller; NULL with errno. */
char *launch_absolute_file(const char *path);
/* The path of the program that runs: where a new version of it will be. Returns 0 or -errno. */
int launch_program(char *path, size_t size);
/* ps shows the mountpoint as the last argument (DESIGN 6): starts this program again with it behind
 * the n_options first arguments. Returns only on failure. */
void launch_again(
	const char *program, char **argv, int n_options, const char *name, const char *mountpoint);
/* A standard stream that the caller closed would be the next file that is opened. */
void launch_open_streams(void);
/* A caller's pipe that the background process kept would never end for its reader. */
void launch_close_inherited(void);
/* Forks; the parent waits until the child's mount answers and exits with what the child sends.
 * Returns the descriptor for that in the child, or -1. */
int launch_background(const char *mountpoint);
/* Nothing of the caller's terminal is used any more; messages go to syslog. */
void launch_leave_terminal(void);
/* Tells the waiting parent. */
void launch_tell(int pipe, enum daemon_exit status);
