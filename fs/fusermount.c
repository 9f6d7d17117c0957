/* SPDX-License-Identifier: MIT */
#include "fusermount.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* NixOS has it among its setuid wrappers, which a service's PATH may lack; others in the usual
 * places. */
static const char *const directories[] = {
	"/run/wrappers/bin",
	"/usr/bin",
	"/bin",
	"/usr/local/bin",
};

/* The first executable of that name in PATH, then in the known directories; NULL: none. */
static char *find_helper(struct diag_list *diags)
{
	_cleanup_(freep) char *search = strdup(getenv("PATH") ?: "");
	char *rest = search, *directory;

	while (search && (directory = strsep(&rest, ":"))) {
		_cleanup_(freep) char *path = NULL;

		if (directory[0] != '/')
			continue;
		path = string_format("%s/fusermount3", directory);
		if (path && access(path, X_OK) == 0)
			return steal_pointer(path);
	}
	for (size_t i = 0; i < ARRAY_SIZE(directories); i++) {
		_cleanup_(freep) char *path = string_format("%s/fusermount3", directories[i]);

		if (path && access(path, X_OK) == 0)
			return steal_pointer(path);
	}
	if (diags)
		diag_add(diags, DIAG_ERROR, NULL, 0,
			"fusermount3 was not found in PATH, /run/wrappers/bin, /usr/bin, /bin or "
			"/usr/local/bin: install the package fuse3");
	return NULL;
}

char *fusermount_escape(const char *text)
{
	char *escaped = malloc(strlen(text) * 2 + 1), *out = escaped;

	if (!escaped)
		return NULL;
	for (; *text; text++) {
		if (*text == ',' || *text == '\\')
			*out++ = '\\';
		*out++ = *text;
	}
	*out = '\0';
	return escaped;
}

/* Receives one descriptor. Returns it, or -errno. */
static int receive_descriptor(int socket)
{
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = { 0 };
	char byte;
	struct iovec vector = { .iov_base = &byte, .iov_len = 1 };
	struct msghdr message = {
		.msg_iov = &vector,
		.msg_iovlen = 1,
		.msg_control = control.bytes,
		.msg_controllen = sizeof(control.bytes),
	};
	struct cmsghdr *header;
	ssize_t got;
	int fd;

	do
		got = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		return -errno;
	header = got > 0 ? CMSG_FIRSTHDR(&message) : NULL;
	if (!header || header->cmsg_type != SCM_RIGHTS || header->cmsg_len != CMSG_LEN(sizeof(int)))
		return -EIO;
	memcpy(&fd, CMSG_DATA(header), sizeof(fd));
	return fd;
}

/* In the child: runs the helper. Its standard error goes to `error_fd`. */
static void run_helper(const char *helper, char *const arguments[], int comm_fd, int error_fd)
{
	char number[16];
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (comm_fd >= 0) {
		fcntl(comm_fd, F_SETFD, 0);
		snprintf(number, sizeof(number), "%d", comm_fd);
		setenv("_FUSE_COMMFD", number, 1);
	}
	if (error_fd >= 0)
		dup2(error_fd, STDERR_FILENO);
	execv(helper, arguments);
	_exit(127);
}

static int wait_for(pid_t child)
{
	int status;

	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -EPERM;
}

/* Says what the helper said, and what to do where its words tell. */
static void explain(int error_fd, const char *helper, struct diag_list *diags)
{
	char text[1024];
	ssize_t got = read(error_fd, text, sizeof(text) - 1);
	const char *advice = "";

	text[got > 0 ? got : 0] = '\0';
	for (char *end = text + strlen(text); end > text && end[-1] == '\n'; end--)
		end[-1] = '\0';
	if (strstr(text, "mount failed: Permission denied"))
		advice = "; AppArmor may confine fusermount3 to $HOME, /mnt, /media, /tmp and "
			 "/run/user";
	else if (strstr(text, "/dev/fuse: Permission denied"))
		advice = "; the administrator must let you: chmod 666 /dev/fuse";
	else if (strstr(text, "fuse device not found") || strstr(text, "/dev/fuse: No such"))
		advice = "; the kernel module must be there: modprobe fuse";
	diag_add(diags, DIAG_ERROR, NULL, 0, "%s failed: %s%s", helper,
		text[0] ? text : "it said nothing", advice);
}

int fusermount_mount(const char *path, const char *options, struct diag_list *diags)
{
	_cleanup_(freep) char *helper = find_helper(diags);
	_cleanup_(closep) int ours = -1, theirs = -1, error_read = -1, error_write = -1;
	int sockets[2], pipes[2], fd;
	pid_t child;

	if (!helper)
		return -ENOENT;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) < 0)
		return -errno;
	ours = sockets[0];
	theirs = sockets[1];
	if (pipe2(pipes, O_CLOEXEC) < 0)
		return -errno;
	error_read = pipes[0];
	error_write = pipes[1];
	child = fork();
	if (child < 0)
		return -errno;
	if (child == 0) {
		char *arguments[] = { helper, (char[]){ "-o" }, (char *)options, (char[]){ "--" },
			(char *)path, NULL };

		run_helper(helper, arguments, theirs, error_write);
	}
	close(steal_fd(&theirs));
	close(steal_fd(&error_write));
	fd = receive_descriptor(ours);
	if (wait_for(child) < 0 || fd < 0) {
		closep(&fd);
		explain(error_read, helper, diags);
		return -EPERM;
	}
	return fd;
}

int fusermount_unmount(const char *path, bool lazy)
{
	_cleanup_(freep) char *helper = find_helper(NULL);
	_cleanup_(closep) int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	pid_t child;

	if (!helper)
		return -ENOENT;
	child = fork();
	if (child < 0)
		return -errno;
	if (child == 0) {
		char *arguments[] = { helper, (char[]){ "-u" },
			lazy ? (char[]){ "-z" } : (char[]){ "-q" }, (char[]){ "--" }, (char *)path,
			NULL };

		run_helper(helper, arguments, -1, null);
	}
	return wait_for(child) < 0 ? -EBUSY : 0;
}
