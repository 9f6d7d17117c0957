/* SPDX-License-Identifier: MIT */
/* names: what an instance is called and where its socket, override and policy lie (DESIGN 4, 7).
 * Core: the environment is handed in. */
#pragma once

#include <stdbool.h>

#include "util.h"

#define NAMES_DEFAULT          "gldriverfs"
#define NAMES_SYSTEM_MOUNT     "/run/opengl-driver"
#define NAMES_SYSTEM_DIRECTORY "/run/gldriverfs"
/* Longest name: with every suffix ("….override.conf.new") it is still a file name. */
#define NAMES_MAX 200

struct names_input {
	bool user;        /* not root's */
	const char *name; /* --name, NULL */
	/* Absolute: the argument or the --config file's key; NULL: neither. */
	const char *mountpoint;
	const char *runtime_dir; /* $XDG_RUNTIME_DIR, NULL; needed where user is true */
	const char *config_home; /* $XDG_CONFIG_HOME, NULL */
	const char *home;        /* $HOME, NULL */
};

/* All owned strings. */
struct names {
	char *name;
	char *default_mountpoint; /* for a policy that gives none */
	char *directory;          /* of the socket and the override: "/run/gldriverfs" */
	char *socket;             /* directory/NAME.sock */
	char *override;           /* directory/NAME.override.conf */
	char *config_home;        /* users: absolute; NULL: root, or not known */
	/* Where --persist writes: …/NAME.conf.d/99-gldriverctl.conf; NULL as config_home for
	 * users. */
	char *persist;
};

/* Returns 0, -EINVAL: name or mountpoint is none, -ENAMETOOLONG, -ENOKEY: a user without
 * $XDG_RUNTIME_DIR, or -ENOMEM. */
int names_make(const struct names_input *input, struct names *ret_names);
void names_clear(struct names *names);

/* Whether name can be an instance's: no '/', no control character, no '.' at first, 1 to NAMES_MAX
 * bytes. */
bool names_valid(const char *name);
/* A path as `systemd-escape -p` writes it ("/run/opengl-driver" → "run-opengl\x2ddriver"), from the
 * rules in systemd's man page systemd.unit(5). Returns 0, -EINVAL: not absolute or has "..", or
 * -ENOMEM. */
int names_escape(const char *path, char **ret_escaped);
/* The socket of an instance in a directory, owned by the caller; NULL without memory. */
char *names_socket(const char *directory, const char *name);
