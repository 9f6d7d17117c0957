/* SPDX-License-Identifier: MIT */
#include "driver_child.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "util.h"

#define OUTPUT_MAX 256

static _printf_(2, 3) void set_unknown(struct driver_answer *answer, const char *format, ...)
{
	va_list arguments;

	answer->cuda[0] = '\0';
	va_start(arguments, format);
	vsnprintf(answer->why, sizeof(answer->why), format, arguments);
	va_end(arguments);
	for (char *c = answer->why; *c; c++)
		if ((unsigned char)*c < 0x20 || *c == 0x7f)
			*c = '?';
}

char *driver_child_find(void)
{
	static const char *const places[] = { "", "../libexec/gldriverfs/" };
	char self[PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *slash;

	if (length < 0)
		return NULL;
	self[length] = '\0';
	slash = strrchr(self, '/');
	if (!slash)
		return NULL;
	slash[1] = '\0';
	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		char *path = string_format("%s%sgldriverfs-probe", self, places[i]);

		if (!path || access(path, X_OK) == 0)
			return path;
		free(path);
	}
	return NULL;
}

/* cuDriverGetVersion gives 1000 * major + 10 * minor. Returns whether the text is such a number of
 * a CUDA that there is or may be. */
static bool parse_version(const char *text, unsigned *ret_major, unsigned *ret_minor)
{
	char *end;
	unsigned long version;

	if (*text < '1' || *text > '9')
		return false;
	errno = 0;
	version = strtoul(text, &end, 10);
	if (errno != 0 || *end || version < 5000 || version > 99990 || version % 10 != 0 ||
		version % 1000 > 990)
		return false;
	*ret_major = (unsigned)(version / 1000);
	*ret_minor = (unsigned)(version % 1000 / 10);
	return true;
}

void driver_child_judge(const char *output, size_t size, unsigned late_ms, int wait_status,
	struct driver_answer *ret_answer)
{
	char text[OUTPUT_MAX + 1];
	unsigned major, minor;

	*ret_answer = (struct driver_answer){ 0 };
	size = size > OUTPUT_MAX ? OUTPUT_MAX : size;
	memcpy(text, output, size);
	text[size] = '\0';
	if (late_ms > 0)
		set_unknown(ret_answer, "it did not answer within %g s", late_ms / 1000.0);
	else if (WIFSIGNALED(wait_status) && WTERMSIG(wait_status) == SIGXCPU)
		set_unknown(ret_answer, "it did not answer within %d s of the processor",
			DRIVER_TIME_MS / 1000);
	else if (WIFSIGNALED(wait_status))
		set_unknown(ret_answer, "it crashed when it was loaded (signal %d, %s)",
			WTERMSIG(wait_status), strsignal(WTERMSIG(wait_status)));
	else if (WEXITSTATUS(wait_status) != 0)
		set_unknown(ret_answer, "it ended the child with status %d and told nothing",
			WEXITSTATUS(wait_status));
	else if (size == 0)
		set_unknown(ret_answer, "it ended the child and told nothing");
	else if (text[0] == 'e' && text[1])
		set_unknown(ret_answer, "%s", text + 1);
	else if (text[0] == 'v' && parse_version(text + 1, &major, &minor))
		snprintf(ret_answer->cuda, sizeof(ret_answer->cuda), "%u.%u", major, minor);
	else
		set_unknown(ret_answer, "it told nonsense (%.40s)", text);
}

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Reads to the end, or to the deadline: then *ret_late. */
static size_t read_output(int fd, unsigned time_ms, char output[OUTPUT_MAX], bool *ret_late)
{
	int64_t deadline = now_ms() + time_ms;
	size_t size = 0;

	*ret_late = false;
	for (;;) {
		int64_t left = deadline - now_ms();
		struct pollfd wait = { .fd = fd, .events = POLLIN };
		int ready = left > 0 ? poll(&wait, 1, (int)left) : 0;
		char sink[OUTPUT_MAX];
		ssize_t got;

		if (ready < 0 && errno == EINTR)
			continue;
		if (ready <= 0) {
			*ret_late = true;
			return size;
		}
		got = read(fd, sink, sizeof(sink));
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return size;
		if ((size_t)got > OUTPUT_MAX - size)
			got = (ssize_t)(OUTPUT_MAX - size);
		memcpy(output + size, sink, (size_t)got);
		size += (size_t)got;
	}
}

/* The child's attributes: a session of its own, no blocked or ignored signals. */
static int set_attributes(posix_spawnattr_t *attributes)
{
	sigset_t none, all;
	int error;

	sigemptyset(&none);
	sigfillset(&all);
	error = posix_spawnattr_setsigmask(attributes, &none);
	if (error == 0)
		error = posix_spawnattr_setsigdefault(attributes, &all);
	if (error == 0)
		error = posix_spawnattr_setflags(attributes,
			POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
	return error;
}

/* /dev/null on 0, 1, 2; the given descriptors (all above 2) stay open under their numbers. */
static int set_actions(
	posix_spawn_file_actions_t *actions, int answer_fd, const int *fds, size_t count)
{
	int error = 0;

	for (int fd = 0; error == 0 && fd <= STDERR_FILENO; fd++)
		error = posix_spawn_file_actions_addopen(actions, fd, "/dev/null", O_RDWR, 0);
	if (error == 0)
		error = posix_spawn_file_actions_adddup2(actions, answer_fd, answer_fd);
	for (size_t i = 0; error == 0 && i < count; i++)
		error = posix_spawn_file_actions_adddup2(actions, fds[i], fds[i]);
	return error;
}

/* Returns 0 and the child's pid, or a positive errno. */
static int spawn_with(const char *helper, char *const arguments[], int answer_fd, const int *fds,
	size_t count, pid_t *ret_child)
{
	char *const environment[] = { NULL };
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	int error = posix_spawn_file_actions_init(&actions);

	if (error != 0)
		return error;
	error = posix_spawnattr_init(&attributes);
	if (error == 0) {
		error = set_attributes(&attributes);
		if (error == 0)
			error = set_actions(&actions, answer_fd, fds, count);
		if (error == 0)
			error = posix_spawn(
				ret_child, helper, &actions, &attributes, arguments, environment);
		posix_spawnattr_destroy(&attributes);
	}
	posix_spawn_file_actions_destroy(&actions);
	return error;
}

static int spawn(const char *helper, int answer_fd, const int *fds, size_t count, pid_t *ret_child)
{
	_cleanup_(freep) char **arguments = calloc(count + 4, sizeof(*arguments));
	_cleanup_(freep) char(*numbers)[12] = calloc(count + 2, sizeof(*numbers));

	if (!arguments || !numbers)
		return ENOMEM;
	snprintf(numbers[0], sizeof(numbers[0]), "%d", getpid());
	snprintf(numbers[1], sizeof(numbers[1]), "%d", answer_fd);
	for (size_t i = 0; i < count; i++)
		snprintf(numbers[i + 2], sizeof(numbers[i + 2]), "%d", fds[i]);
	arguments[0] = (char[]){ "gldriverfs-probe" };
	for (size_t i = 0; i < count + 2; i++)
		arguments[i + 1] = numbers[i];
	return spawn_with(helper, arguments, answer_fd, fds, count, ret_child);
}

void driver_child_ask(const char *helper, const int *fds, size_t count, unsigned time_ms,
	struct driver_answer *ret_answer)
{
	_cleanup_(closep) int reader = -1;
	_cleanup_(closep) int writer = -1;
	char output[OUTPUT_MAX];
	int pipes[2], error, status = 0;
	size_t size;
	bool late;
	pid_t child;

	if (pipe2(pipes, O_CLOEXEC) < 0) {
		set_unknown(ret_answer, "no child could be made: %s", strerror(errno));
		return;
	}
	reader = pipes[0];
	writer = pipes[1];
	error = spawn(helper, writer, fds, count, &child);
	if (error != 0) {
		set_unknown(ret_answer, "%s could not be run: %s", helper, strerror(error));
		return;
	}
	closep(&writer);
	writer = -1;
	size = read_output(reader, time_ms, output, &late);
	/* Not reaped yet: the number is still the child's, and its group's. */
	if (late)
		kill(child, SIGKILL);
	kill(-child, SIGKILL);
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	driver_child_judge(output, size, late ? time_ms : 0, status, ret_answer);
}
