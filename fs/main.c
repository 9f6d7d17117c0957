/* SPDX-License-Identifier: MIT */
/* main: gldriverfs' command line: options, the background, the exit status. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statfs.h>
#include <syslog.h>
#include <unistd.h>

#include "daemon.h"
#include "log.h"

static const char usage[] =
	"Usage: gldriverfs [OPTION]... [MOUNTPOINT]\n"
	"Mounts a directory of GPU driver libraries, resolved from layers by a policy.\n"
	"\n"
	"      --config FILE   this policy file and no other\n"
	"      --root DIR      take the machine's files from DIR\n"
	"      --name NAME     the instance's name\n"
	"      --foreground    stay in the foreground, log to standard error\n"
	"      --no-cache      let each operation reach the daemon (for tests)\n"
	"      --help\n"
	"      --version\n"
	"\n"
	"MOUNTPOINT: the policy's, else /run/opengl-driver (users: "
	"$XDG_RUNTIME_DIR/opengl-driver).\n"
	"SIGHUP reloads, SIGTERM unmounts; gldriverctl asks and steers a running gldriverfs.\n"
	"\n"
	"Exit status: 0 the mount answers (or has ended, in the foreground), 1 mounting failed,\n"
	"2 the policy or the command line is wrong, 3 the mountpoint is already served.\n";

enum {
	OPTION_CONFIG = 1,
	OPTION_ROOT,
	OPTION_NAME,
	OPTION_FOREGROUND,
	OPTION_NO_CACHE,
	OPTION_HELP,
	OPTION_VERSION
};

static const struct option long_options[] = {
	{ "config", required_argument, NULL, OPTION_CONFIG },
	{ "root", required_argument, NULL, OPTION_ROOT },
	{ "name", required_argument, NULL, OPTION_NAME },
	{ "foreground", no_argument, NULL, OPTION_FOREGROUND },
	{ "no-cache", no_argument, NULL, OPTION_NO_CACHE },
	{ "help", no_argument, NULL, OPTION_HELP },
	{ "version", no_argument, NULL, OPTION_VERSION },
	{ 0 },
};

/* Returns -1 to go on, else the exit status. */
static int parse(int argc, char **argv, struct daemon_options *options, bool *ret_foreground)
{
	int option;

	*options = (struct daemon_options){ 0 };
	*ret_foreground = false;
	while ((option = getopt_long(argc, argv, "", long_options, NULL)) != -1) {
		switch (option) {
		case OPTION_CONFIG:
			options->config = optarg;
			break;
		case OPTION_ROOT:
			options->root = optarg;
			break;
		case OPTION_NAME:
			options->name = optarg;
			break;
		case OPTION_FOREGROUND:
			*ret_foreground = true;
			break;
		case OPTION_NO_CACHE:
			options->no_cache = true;
			break;
		case OPTION_HELP:
			fputs(usage, stdout);
			return 0;
		case OPTION_VERSION:
			puts("gldriverfs " GLDRIVERFS_VERSION);
			return 0;
		default:
			fprintf(stderr, "see gldriverfs --help\n");
			return DAEMON_POLICY;
		}
	}
	if (argc - optind > 1) {
		fprintf(stderr, "gldriverfs: one mountpoint at most; see gldriverfs --help\n");
		return DAEMON_POLICY;
	}
	options->mountpoint = argv[optind];
	return -1;
}

/* An absolute path without "." and "..", the last component not followed: a link there is to be
 * refused, not resolved. NULL with errno. */
static char *absolute_path(const char *path)
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
static char *absolute_file(const char *path)
{
	_cleanup_(freep) char *here = path[0] == '/' ? NULL : getcwd(NULL, 0);

	if (path[0] == '/')
		return strdup(path);
	return here ? string_format("%s/%s", here, path) : NULL;
}

/* ps shows the mountpoint as the last argument (DESIGN 6): starts this program again with it behind
 * the n_options first arguments. Returns only on failure. */
static void execute_again(char **argv, int n_options, const struct daemon *daemon)
{
	size_t n = (size_t)n_options;
	char **arguments = calloc(n + 4, sizeof(char *));
	char self[PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (!arguments || length < 0) {
		free(arguments);
		return;
	}
	self[length] = '\0';
	/* The name goes first: an option may be "--". */
	arguments[0] = argv[0];
	arguments[1] = (char[]){ "--name" };
	arguments[2] = (char *)daemon_name(daemon);
	memcpy(arguments + 3, argv + 1, (n - 1) * sizeof(char *));
	arguments[n + 2] = (char *)daemon_mountpoint(daemon);
	execv(self, arguments);
	free(arguments);
}

/* A standard stream that the caller closed would be the next file that is opened. */
static void open_standard_streams(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDWR);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		close(fd);
}

/* A caller's pipe that the background process kept would never end for its reader. */
static void close_inherited(void)
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
static int go_to_background(const char *mountpoint)
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

/* Tells the waiting parent, and lets go of the terminal when all is well. */
static void tell_parent(int pipe, enum daemon_exit status)
{
	unsigned char byte = (unsigned char)status;
	int null;

	if (status == DAEMON_DONE) {
		null = open("/dev/null", O_RDWR | O_CLOEXEC);
		if (null >= 0) {
			dup2(null, STDIN_FILENO);
			dup2(null, STDOUT_FILENO);
			dup2(null, STDERR_FILENO);
			close(null);
		}
		log_to_syslog();
		(void)chdir("/");
	}
	while (write(pipe, &byte, 1) < 0 && errno == EINTR)
		;
	close(pipe);
}

static void print_and_clear(struct diag_list *diags, enum daemon_exit status)
{
	log_diags(diags);
	if (status != DAEMON_DONE && diag_count(diags, DIAG_ERROR) == 0)
		log_message(LOG_ERR, "cannot start: memory or descriptors are short");
	diag_clear(diags);
}

int main(int argc, char **argv)
{
	_cleanup_(diag_clear) struct diag_list diags = { 0 };
	_cleanup_(freep) char *mountpoint = NULL, *config = NULL;
	struct daemon_options options;
	struct daemon *daemon = NULL;
	const char *last = argc > 0 ? argv[argc - 1] : ""; /* getopt moves the operands */
	bool foreground;
	enum daemon_exit status;
	int parent = -1, done;

	open_standard_streams();
	log_open();
	done = parse(argc, argv, &options, &foreground);
	if (done >= 0)
		return done;
	if (options.mountpoint) {
		mountpoint = absolute_path(options.mountpoint);
		if (!mountpoint) {
			log_message(LOG_ERR, "the mountpoint %s: %s", options.mountpoint,
				errno == ENOENT ? "its parent does not exist; make the directory "
						  "first"
						: strerror(errno));
			return DAEMON_MOUNT_FAILED;
		}
		options.mountpoint = mountpoint;
	}
	if (options.config) {
		config = absolute_file(options.config);
		if (!config) {
			log_message(LOG_ERR, "--config %s: %s", options.config, strerror(errno));
			return DAEMON_POLICY;
		}
		options.config = config;
	}
	if (!foreground)
		close_inherited();
	status = daemon_new(&options, &daemon, &diags);
	print_and_clear(&diags, status);
	if (status)
		return status;
	if (!mountpoint || strcmp(last, mountpoint) != 0)
		execute_again(argv, optind, daemon);
	if (!foreground) {
		parent = go_to_background(daemon_mountpoint(daemon));
		if (parent < 0) {
			log_message(LOG_ERR, "cannot go to the background: %s", strerror(errno));
			daemon_free(daemon);
			return DAEMON_MOUNT_FAILED;
		}
	}
	status = daemon_start(daemon, &diags);
	print_and_clear(&diags, status);
	if (status)
		daemon = daemon_free(daemon); /* who waits finds nothing of it */
	if (parent >= 0)
		tell_parent(parent, status);
	else if (status == DAEMON_DONE)
		log_message(LOG_INFO, "%s answers", daemon_mountpoint(daemon));
	if (status == DAEMON_DONE && daemon_run(daemon) < 0)
		status = DAEMON_MOUNT_FAILED;
	daemon_free(daemon);
	return status;
}
