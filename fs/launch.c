/* SPDX-License-Identifier: MIT */
#include "launch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "log.h"
#include "util.h"

/* An absolute path without "." and "..", the last component not followed: a link there is to be
 * refused, not resolved. NULL with errno. */
char *launch_absolute_path(const char *path)
{
	_cleanup_(freep) char *copy = strdup(path);
	_cleanup_(freep) char *parent = NULL;
	char *slash, *name;

	if (!copy)
		return NULL;
	for (size_t length = strlen(copy); length > 1 && copy[length - 1] == '/'; length--)
		copy[length - 1] = '\0';
	slash = strrchr(copy, '/');
	name = slash ? slash + 1 : copy;
	if (name[0] == '\0' || strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
		return realpath(copy, NULL);
	if (slash)
		*slash = '\0';
	parent = realpath(!slash ? "." : slash == copy ? "/" : copy, NULL);
	if (!parent)
		return NULL;
	return string_format("%s/%s", strcmp(parent, "/") == 0 ? "" : parent, name);
}

/* The same file from any working directory: the background process leaves this one. Links are not
 * followed, they are at each load. NULL with errno. */
char *launch_absolute_file(const char *path)
{
	_cleanup_(freep) char *here = path[0] == '/' ? NULL : getcwd(NULL, 0);

	if (path[0] == '/')
		return strdup(path);
	return here ? string_format("%s/%s", here, path) : NULL;
}

int launch_program(char *path, size_t size)
{
	ssize_t length = readlink("/proc/self/exe", path, size - 1);

	if (length < 0)
		return -errno;
	path[length] = '\0';
	return 0;
}

void launch_again(
	const char *program, char **argv, int n_options, const char *name, const char *mountpoint)
{
	size_t n = (size_t)n_options;
	char **arguments = calloc(n + 4, sizeof(char *));

	if (!arguments)
		return;
	/* The name goes first: an option may be "--". */
	arguments[0] = argv[0];
	arguments[1] = (char[]){ "--name" };
	arguments[2] = (char *)name;
	memcpy(arguments + 3, argv + 1, (n - 1) * sizeof(char *));
	arguments[n + 2] = (char *)mountpoint;
	execv(program, arguments);
	free(arguments);
}

/* A standard stream that the caller closed would be the next file that is opened. */
void launch_open_streams(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDWR);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		close(fd);
}

/* A caller's pipe that the background process kept would never end for its reader. */
void launch_close_inherited(void)
{
	DIR *directory = opendir("/proc/self/fd");
	struct dirent *entry;

	while (directory && (entry = readdir(directory))) {
		int fd = atoi(entry->d_name);

		if (fd > STDERR_FILENO && fd != dirfd(directory))
			close(fd);
	}
	if (directory)
		closedir(directory);
}

/* A daemon that came too late may still be taking off its own mount above ours: a moment's
 * patience. */
static bool mount_answers(const char *mountpoint)
{
	struct statfs fs;

	for (unsigned tries = 0; tries < 50; tries++) {
		if (statfs(mountpoint, &fs) == 0 || errno == EACCES)
			return true;
		if (errno != ENOTCONN && errno != ECONNABORTED)
			return false;
		usleep(10 * 1000);
	}
	return false;
}

/* Forks; the parent waits until the child's mount answers and exits with what the child sends.
 * Returns the descriptor for that in the child, or -1. */
int launch_background(const char *mountpoint)
{
	unsigned char status = DAEMON_MOUNT_FAILED;
	int pipes[2];
	pid_t child;

	if (pipe2(pipes, O_CLOEXEC) < 0)
		return -1;
	child = fork();
	if (child < 0)
		return -1;
	if (child == 0) {
		close(pipes[0]);
		setsid();
		return pipes[1];
	}
	close(pipes[1]);
	while (read(pipes[0], &status, 1) < 0 && errno == EINTR)
		;
	if (status == DAEMON_DONE && !mount_answers(mountpoint)) {
		fprintf(stderr, "gldriverfs: %s does not answer: %s\n", mountpoint,
			strerror(errno));
		status = DAEMON_MOUNT_FAILED;
	}
	_exit(status);
}

void launch_leave_terminal(void)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (null >= 0) {
		dup2(null, STDIN_FILENO);
		dup2(null, STDOUT_FILENO);
		dup2(null, STDERR_FILENO);
		close(null);
	}
	log_to_syslog();
	(void)chdir("/");
}

void launch_tell(int pipe, enum daemon_exit status)
{
	unsigned char byte = (unsigned char)status;

	while (write(pipe, &byte, 1) < 0 && errno == EINTR)
		;
	close(pipe);
}
