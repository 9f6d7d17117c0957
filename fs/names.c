/* SPDX-License-Identifier: MIT */
#include "names.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

bool names_valid(const char *name)
{
	size_t length = strlen(name);

	if (length == 0 || length > NAMES_MAX || name[0] == '.')
		return false;
	for (const char *c = name; *c; c++)
		if (*c == '/' || (unsigned char)*c < 0x20 || *c == 0x7f)
			return false;
	return true;
}

static void escape_byte(char **out, unsigned char c)
{
	static const char digits[] = "0123456789abcdef";

	*(*out)++ = '\\';
	*(*out)++ = 'x';
	*(*out)++ = digits[c >> 4];
	*(*out)++ = digits[c & 15];
}

/* One component, escaped; '.' is kept except as the first byte of all. */
static void escape_component(char **out, const char *component, size_t length, bool first)
{
	for (size_t i = 0; i < length; i++) {
		unsigned char c = (unsigned char)component[i];
		bool plain = (c < 0x80 && isalnum(c)) || c == ':' || c == '_' ||
			     (c == '.' && !(first && i == 0));

		if (plain)
			*(*out)++ = (char)c;
		else
			escape_byte(out, c);
	}
}

int names_escape(const char *path, char **ret_escaped)
{
	char *escaped, *out;

	if (path[0] != '/')
		return -EINVAL;
	escaped = out = malloc(strlen(path) * 4 + 2);
	if (!escaped)
		return -ENOMEM;
	while (*path) {
		size_t length = strcspn(path, "/");

		if (length == 2 && path[0] == '.' && path[1] == '.') {
			free(escaped);
			return -EINVAL;
		}
		if (length > 0 && !(length == 1 && path[0] == '.')) {
			bool first = out == escaped;

			if (!first)
				*out++ = '-';
			escape_component(&out, path, length, first);
		}
		path += length;
		path += *path == '/';
	}
	if (out == escaped)
		*out++ = '-';
	*out = '\0';
	*ret_escaped = escaped;
	return 0;
}

char *names_socket(const char *directory, const char *name)
{
	return string_format("%s/%s.sock", directory, name);
}

static int pick_directory(const struct names_input *input, struct names *names)
{
	if (!input->user) {
		names->directory = strdup(NAMES_SYSTEM_DIRECTORY);
		names->default_mountpoint = strdup(NAMES_SYSTEM_MOUNT);
	} else {
		if (!input->runtime_dir || input->runtime_dir[0] != '/')
			return -ENOKEY;
		names->directory = string_format("%s/gldriverfs", input->runtime_dir);
		names->default_mountpoint = string_format("%s/opengl-driver", input->runtime_dir);
	}
	return names->directory && names->default_mountpoint ? 0 : -ENOMEM;
}

static int pick_name(const struct names_input *input, struct names *names)
{
	_cleanup_(freep) char *mountpoint = NULL;
	_cleanup_(freep) char *standard = NULL;
	int r;

	if (input->name) {
		names->name = strdup(input->name);
	} else if (!input->mountpoint) {
		names->name = strdup(NAMES_DEFAULT);
	} else {
		r = names_escape(input->mountpoint, &mountpoint);
		if (r < 0)
			return r;
		r = names_escape(names->default_mountpoint, &standard);
		if (r < 0)
			return r;
		if (string_equal(mountpoint, standard))
			names->name = strdup(NAMES_DEFAULT);
		else
			names->name = steal_pointer(mountpoint);
	}
	if (!names->name)
		return -ENOMEM;
	if (strlen(names->name) > NAMES_MAX)
		return -ENAMETOOLONG;
	return names_valid(names->name) ? 0 : -EINVAL;
}

static int pick_config_home(const struct names_input *input, struct names *names)
{
	const char *etc = "/etc";

	if (input->user) {
		if (input->config_home && input->config_home[0] == '/')
			names->config_home = strdup(input->config_home);
		else if (input->home && input->home[0] == '/')
			names->config_home = string_format("%s/.config", input->home);
		else
			return 0;
		if (!names->config_home)
			return -ENOMEM;
		etc = names->config_home;
	}
	names->persist =
		string_format("%s/gldriverfs/%s.conf.d/99-gldriverctl.conf", etc, names->name);
	return names->persist ? 0 : -ENOMEM;
}

static int fill(const struct names_input *input, struct names *names)
{
	int r;

	r = pick_directory(input, names);
	if (r < 0)
		return r;
	r = pick_name(input, names);
	if (r < 0)
		return r;
	names->socket = names_socket(names->directory, names->name);
	names->override = string_format("%s/%s.override.conf", names->directory, names->name);
	if (!names->socket || !names->override)
		return -ENOMEM;
	return pick_config_home(input, names);
}

int names_make(const struct names_input *input, struct names *ret_names)
{
	struct names names = { 0 };
	int r = fill(input, &names);

	if (r < 0) {
		names_clear(&names);
		return r;
	}
	*ret_names = names;
	return 0;
}

void names_clear(struct names *names)
{
	free(names->name);
	free(names->default_mountpoint);
	free(names->directory);
	free(names->socket);
	free(names->override);
	free(names->config_home);
	free(names->persist);
	*names = (struct names){ 0 };
}
