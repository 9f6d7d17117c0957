/* SPDX-License-Identifier: MIT */
/* For tests that change what a process cannot take back: they run in a child. */
#pragma once

#include "../compat/cmocka.h"

#include <errno.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

/* The child exits with a number made of the line that failed. */
#define CHECK(condition)                                                                           \
	do {                                                                                       \
		if (!(condition))                                                                  \
			_exit(__LINE__ % 255 + 1);                                                 \
	} while (0)

static inline void in_child(void (*body)(const void *context), const void *context)
{
	pid_t pid = fork();
	int status;

	assert_return_code(pid, errno);
	if (pid == 0) {
		body(context);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (WIFEXITED(status) && WEXITSTATUS(status) != 0)
		print_error("a CHECK failed: its line %% 255 is %d\n", WEXITSTATUS(status) - 1);
	assert_int_equal(status, 0);
}
