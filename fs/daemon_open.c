/* SPDX-License-Identifier: MIT */
#include "daemon_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ctlsocket.h"

/* Names the instance by its --name, its mountpoint argument or its --config file's mountpoint. */
static enum daemon_exit name_instance(
	struct daemon *daemon, const char *mountpoint, struct diag_list *diags)
{
	struct names_input input = {
		.user = daemon->user,
		.name = daemon->options.name,
		.mountpoint = mountpoint,
		.runtime_dir = getenv("XDG_RUNTIME_DIR"),
		.config_home = getenv("XDG_CONFIG_HOME"),
		.home = getenv("HOME"),
	};
	int error = names_make(&input, &daemon->names);

	if (error == 0)
		return DAEMON_DONE;
	if (error == -ENOKEY)
		diag_add(diags, DIAG_ERROR, NULL, 0,
			"XDG_RUNTIME_DIR is not set: it holds a user's socket and mount; a login "
			"session sets it, else export it as a directory of yours with mode 0700");
	else
		diag_add(diags, DIAG_ERROR, NULL, 0, "no instance can be named for %s: %s",
			input.name ? input.name : mountpoint, strerror(-error));
	return DAEMON_POLICY;
}

static void fill_load_request(struct daemon *daemon)
{
	daemon->pipeline.load = (struct load_request){
		.root = daemon->root,
		.config = daemon->options.config,
		.name = daemon->names.name,
		.user = daemon->user,
		.config_home = daemon->names.config_home,
		.runtime_dir = daemon->user ? getenv("XDG_RUNTIME_DIR") : NULL,
		.override = daemon->names.override,
	};
}

/* The mountpoint that the policy gives, and the names that follow from it. */
static enum daemon_exit find_mountpoint(
	struct daemon *daemon, char **ret_path, struct diag_list *diags)
{
	_cleanup_(load_result_clear) struct load_result loaded = { 0 };
	const char *given = daemon->options.mountpoint;
	enum daemon_exit failed;

	if (!given && daemon->options.config) {
		fill_load_request(daemon);
		daemon->pipeline.load.override = NULL;
		if (load_policy(&daemon->pipeline.load, NULL, &loaded, diags) < 0)
			return DAEMON_POLICY;
		given = loaded.policy->mountpoint;
	}
	failed = name_instance(daemon, given, diags);
	if (failed)
		return failed;
	fill_load_request(daemon);
	if (!given) {
		load_result_clear(&loaded);
		if (load_policy(&daemon->pipeline.load, NULL, &loaded, diags) < 0)
			return DAEMON_POLICY;
		given = loaded.policy->mountpoint ? loaded.policy->mountpoint
						  : daemon->names.default_mountpoint;
	}
	*ret_path = strdup(given);
	return *ret_path ? DAEMON_DONE : DAEMON_MOUNT_FAILED;
}

/* Whether a daemon answers under the instance's name. */
static bool is_running(const struct daemon *daemon)
{
	_cleanup_(closep) int fd = ctlsocket_connect(daemon->names.socket);

	return fd >= 0 || fd == -EAGAIN;
}

static enum daemon_exit open_mountpoint(
	struct daemon *daemon, const char *path, struct diag_list *diags)
{
	bool make = strcmp(path, daemon->names.default_mountpoint) == 0;
	int error, fd;

	if (is_running(daemon)) {
		diag_add(diags, DIAG_ERROR, NULL, 0,
			"the instance %s is already running (%s answers); --name gives another one",
			daemon->names.name, daemon->names.socket);
		return DAEMON_SERVED;
	}
	error = mountpoint_open(path, make, &daemon->point, diags);
	if (error < 0)
		return error == -EBUSY ? DAEMON_SERVED : DAEMON_MOUNT_FAILED;
	fd = fcntl(daemon->point.fd, F_DUPFD_CLOEXEC, 3);
	error = fd < 0 ? -errno
		       : rootfs_from_fd(fd, daemon->point.path, daemon->root, &daemon->under);
	if (error < 0) {
		diag_add(diags, DIAG_ERROR, NULL, 0, "%s: %s", path, strerror(-error));
		return DAEMON_MOUNT_FAILED;
	}
	return DAEMON_DONE;
}

/* Without a mountpoint. NULL with an error in diags. */
static struct daemon *make(const struct daemon_options *options, struct diag_list *diags)
{
	const char *root = options->root ? options->root : "/";
	struct daemon *daemon = calloc(1, sizeof(*daemon));
	int error;

	if (!daemon)
		return NULL;
	daemon->options = *options;
	daemon->user = geteuid() != 0;
	daemon->point.fd = -1;
	daemon_forget(daemon);
	error = rootfs_open(root, &daemon->root);
	if (error == 0)
		return daemon;
	diag_add(diags, DIAG_ERROR, NULL, 0, "--root %s: %s", root, strerror(-error));
	return daemon_free(daemon);
}

enum daemon_exit daemon_new(
	const struct daemon_options *options, struct daemon **ret_daemon, struct diag_list *diags)
{
	struct daemon *daemon = make(options, diags);
	_cleanup_(freep) char *path = NULL;
	enum daemon_exit failed = daemon ? DAEMON_DONE : DAEMON_POLICY;

	if (!failed)
		failed = find_mountpoint(daemon, &path, diags);
	if (!failed)
		failed = open_mountpoint(daemon, path, diags);
	if (failed) {
		daemon_free(daemon);
		return failed;
	}
	*ret_daemon = daemon;
	return DAEMON_DONE;
}

enum daemon_exit daemon_adopt(const struct daemon_options *options, struct state *state,
	struct daemon **ret_daemon, struct diag_list *diags)
{
	struct daemon_options named = *options;
	struct daemon *daemon;
	enum daemon_exit failed;

	named.name = state->memory->name;
	named.mountpoint = state->memory->mountpoint;
	daemon = make(&named, diags);
	if (!daemon) {
		state_free(state);
		return DAEMON_POLICY;
	}
	daemon->state = state;
	failed = name_instance(daemon, named.mountpoint, diags);
	daemon->point.path = strdup(named.mountpoint);
	if (failed || !daemon->point.path) {
		state_free(state);
		daemon->state = NULL;
		daemon_free(daemon);
		return failed ? failed : DAEMON_MOUNT_FAILED;
	}
	fill_load_request(daemon);
	*ret_daemon = daemon;
	return DAEMON_DONE;
}

int daemon_make_state(struct daemon *daemon)
{
	return state_new(daemon->names.name, daemon->point.path, &daemon->state);
}

struct state *daemon_state(const struct daemon *daemon)
{
	return daemon->state;
}

const char *daemon_name(const struct daemon *daemon)
{
	return daemon->names.name;
}

const char *daemon_mountpoint(const struct daemon *daemon)
{
	return daemon->point.path;
}
