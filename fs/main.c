/* SPDX-License-Identifier: MIT */
/* main: gldriverfs' command line: options, the background, the exit status. */
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <syslog.h>
#include <unistd.h>

#include "launch.h"
#include "life.h"
#include "log.h"
#include "util.h"

static const char usage[] =
	"Usage: gldriverfs [OPTION]... [MOUNTPOINT]\n"
	"Mounts a directory of GPU driver libraries, resolved from layers by a policy.\n"
	"\n"
	"      --config FILE   this policy file and no other\n"
	"      --root DIR      take the machine's files from DIR\n"
	"      --name NAME     the instance's name\n"
	"      --foreground    stay in the foreground, log to standard error\n"
	"      --fd-store      the service manager keeps the descriptors, no process of ours\n"
	"      --no-cache      let each operation reach the daemon (for tests)\n"
	"      --help\n"
	"      --version\n"
	"\n"
	"MOUNTPOINT: the policy's, else /run/opengl-driver (users: "
	"$XDG_RUNTIME_DIR/opengl-driver).\n"
	"SIGHUP reloads, SIGTERM unmounts; gldriverctl asks and steers a running gldriverfs.\n"
	"\n"
	"Exit status: 0 the mount answers (or has ended, in the foreground), 1 mounting failed,\n"
	"2 the policy or the command line is wrong, 3 the mountpoint is already served,\n"
	"4 an earlier process' mount could not be taken over this time (--fd-store).\n";

enum {
	OPTION_CONFIG = 1,
	OPTION_ROOT,
	OPTION_NAME,
	OPTION_FOREGROUND,
	OPTION_FD_STORE,
	OPTION_NO_CACHE,
	OPTION_HELP,
	OPTION_VERSION
};

static const struct option long_options[] = {
	{ "config", required_argument, NULL, OPTION_CONFIG },
	{ "root", required_argument, NULL, OPTION_ROOT },
	{ "name", required_argument, NULL, OPTION_NAME },
	{ "foreground", no_argument, NULL, OPTION_FOREGROUND },
	{ "fd-store", no_argument, NULL, OPTION_FD_STORE },
	{ "no-cache", no_argument, NULL, OPTION_NO_CACHE },
	{ "help", no_argument, NULL, OPTION_HELP },
	{ "version", no_argument, NULL, OPTION_VERSION },
	{ 0 },
};

/* Returns -1 to go on, else the exit status. */
static int parse(int argc, char **argv, struct life *life)
{
	struct daemon_options *options = &life->options;
	int option;

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
			life->background = false;
			break;
		case OPTION_FD_STORE:
			life->stored = true;
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

/* Returns -1 to go on, else the exit status. */
static int make_paths_absolute(struct daemon_options *options, char **ret_point, char **ret_config)
{
	if (options->mountpoint) {
		*ret_point = launch_absolute_path(options->mountpoint);
		if (!*ret_point) {
			log_message(LOG_ERR, "the mountpoint %s: %s", options->mountpoint,
				errno == ENOENT ? "its parent does not exist; make the directory "
						  "first"
						: strerror(errno));
			return DAEMON_MOUNT_FAILED;
		}
		options->mountpoint = *ret_point;
	}
	if (options->config) {
		*ret_config = launch_absolute_file(options->config);
		if (!*ret_config) {
			log_message(LOG_ERR, "--config %s: %s", options->config, strerror(errno));
			return DAEMON_POLICY;
		}
		options->config = *ret_config;
	}
	return -1;
}

int main(int argc, char **argv)
{
	_cleanup_(diag_clear) struct diag_list diags = { 0 };
	_cleanup_(freep) char *mountpoint = NULL, *config = NULL;
	struct life life = { .parent = -1, .background = true };
	const char *last = argc > 0 ? argv[argc - 1] : ""; /* getopt moves the operands */
	char program[PATH_MAX];
	enum daemon_exit status;
	int done;

	launch_open_streams();
	log_open();
	done = parse(argc, argv, &life);
	if (done < 0)
		done = make_paths_absolute(&life.options, &mountpoint, &config);
	if (done < 0 && launch_program(program, sizeof(program)) < 0)
		done = DAEMON_MOUNT_FAILED;
	if (done >= 0)
		return done;
	life.program = program;
	life.arguments = argv;
	done = life_take_over(&life);
	if (done >= 0)
		return done;
	if (life.background)
		launch_close_inherited();
	status = daemon_new(&life.options, &life.daemon, &diags);
	life_print(&diags, status);
	if (status)
		return status;
	if (!mountpoint || strcmp(last, mountpoint) != 0)
		launch_again(program, argv, optind, daemon_name(life.daemon),
			daemon_mountpoint(life.daemon));
	return life_begin(&life);
}
