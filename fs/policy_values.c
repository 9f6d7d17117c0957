/* SPDX-License-Identifier: MIT */
/* The checks of policy_keys: one function per kind of value. */
#include "policy_keys.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "policy.h"

#define FORMAT_VERSION 1
#define INTEGER_MAX    1000000

static int refuse(char **ret_why, char *why)
{
	if (!why)
		return -ENOMEM;
	*ret_why = why;
	return -EINVAL;
}

/* "'x' is not a, b or c; did you mean 'a'?" */
static int refuse_word(const struct policy_word *words, const char *text, char **ret_why)
{
	struct policy_guess guess = { .word = text };
	_cleanup_(freep) char *list = strdup("");
	_cleanup_(freep) char *hint = NULL;

	for (const struct policy_word *word = words; list && word->text; word++) {
		const char *join = word == words ? "" : word[1].text ? ", " : " or ";
		char *longer = string_format("%s%s%s", list, join, word->text);

		policy_guess_try(&guess, word->text);
		free(list);
		list = longer;
	}
	hint = policy_guess_text(&guess);
	if (!list || !hint)
		return -ENOMEM;
	return refuse(ret_why, string_format("'%s' is not %s%s", text, list, hint));
}

/* Each returns 0 with *ret_number or *ret_text set, -EINVAL with *ret_why, or -ENOMEM. */

static int check_word(
	const struct policy_word *words, const char *text, int *ret_number, char **ret_why)
{
	for (const struct policy_word *word = words; word->text; word++) {
		if (strcmp(word->text, text) == 0) {
			*ret_number = word->number;
			return 0;
		}
	}
	return refuse_word(words, text, ret_why);
}

static int check_integer(const char *text, int *ret_number, char **ret_why)
{
	char *end;
	long number;

	errno = 0;
	number = strtol(text, &end, 10);
	if (errno || *end || end == text || number < -INTEGER_MAX || number > INTEGER_MAX)
		return refuse(ret_why, string_format("'%s' is not a whole number from -%d to %d",
					       text, INTEGER_MAX, INTEGER_MAX));
	*ret_number = (int)number;
	return 0;
}

bool policy_version_is_newer(const char *text)
{
	size_t digits = strspn(text, "0123456789");

	return !text[digits] && *text != '0' && (digits > 6 || atoi(text) > FORMAT_VERSION);
}

static int check_version(const char *text, int *ret_number, char **ret_why)
{
	if (policy_version_is_newer(text))
		return refuse(ret_why,
			string_format(
				"version %s of the policy format is newer than this gldriverfs, "
				"which understands version %d",
				text, FORMAT_VERSION));
	if (text[strspn(text, "0123456789")] || *text == '0')
		return refuse(ret_why,
			string_format("'%s' is not a version of the policy format: 1, 2 …", text));
	*ret_number = atoi(text);
	return 0;
}

static int check_path(const char *text, char **ret_text, char **ret_why)
{
	if (*text != '/')
		return refuse(ret_why,
			string_format(
				"'%s' is not an absolute path: it has to start with '/'", text));
	if (strlen(text) >= PATH_MAX)
		return refuse(
			ret_why, string_format("the path is longer than %d bytes", PATH_MAX - 1));
	*ret_text = strdup(text);
	return *ret_text ? 0 : -ENOMEM;
}

/* Without double slashes and a slash at the end; "." and ".." are refused, not resolved: with links
 * on the way they would not mean what they seem to. */
static int check_mountpoint(const char *text, char **ret_text, char **ret_why)
{
	_cleanup_(freep) char *path = NULL;
	char *out;
	int r = check_path(text, &path, ret_why);

	if (r < 0)
		return r;
	out = path;
	for (const char *in = text; *in;) {
		size_t size;

		in += strspn(in, "/");
		size = strcspn(in, "/");
		if (size == 0)
			break;
		if (size <= 2 && strspn(in, ".") >= size)
			return refuse(ret_why, string_format("'%s' has a '.' or '..' in it", text));
		*out++ = '/';
		memcpy(out, in, size);
		out += size;
		in += size;
	}
	*out = '\0';
	if (out == path)
		return refuse(ret_why, string_format("'%s' is the root directory", text));
	*ret_text = steal_pointer(path);
	return 0;
}

static int check_pattern(const char *text, char **ret_text, char **ret_why)
{
	if (strchr(text, '/'))
		return refuse(ret_why,
			string_format("'%s' has a '/': the pattern is for file names", text));
	*ret_text = strdup(text);
	return *ret_text ? 0 : -ENOMEM;
}

static int check_cuda(const char *text, char **ret_text, char **ret_why)
{
	size_t major = strspn(text, "0123456789");
	size_t minor = text[major] == '.' ? strspn(text + major + 1, "0123456789") : 0;

	if (major < 1 || major > 3 || minor < 1 || minor > 3 || text[major + 1 + minor])
		return refuse(ret_why, string_format("'%s' is not MAJOR.MINOR, as in 12.2", text));
	*ret_text = strdup(text);
	return *ret_text ? 0 : -ENOMEM;
}

/* A directory of a RUNPATH: absolute, or from where the library is. A relative one would be the
 * current directory's. */
static bool is_runpath_directory(const char *text, size_t length)
{
	static const char *const starts[] = { "/", "$ORIGIN", "${ORIGIN}" };

	for (size_t i = 0; i < ARRAY_SIZE(starts); i++) {
		size_t start = strlen(starts[i]);

		if (length >= start && strncmp(text, starts[i], start) == 0)
			return i == 0 || length == start || text[start] == '/';
	}
	return false;
}

static int check_runpath(const char *text, char **ret_text, char **ret_why)
{
	static const char *const words[] = { "pin", "origin", "none" };
	const char *rest = text;
	bool word = false;

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		word = word || strcmp(text, words[i]) == 0;
	while (!word) {
		size_t length = strcspn(rest, ":");

		if (!is_runpath_directory(rest, length))
			return refuse(ret_why,
				string_format("'%s' is neither pin, origin, none nor a RUNPATH: "
					      "directories that begin with '/' or $ORIGIN, ':' "
					      "between them",
					text));
		if (!rest[length])
			break;
		rest += length + 1;
	}
	*ret_text = strdup(text);
	return *ret_text ? 0 : -ENOMEM;
}

const char *policy_profile_name_problem(const char *name)
{
	if (strcmp(name, "none") == 0)
		return "'none' stands for no profile";
	if (*name == '.')
		return "the name of a profile cannot start with '.'";
	if (strchr(name, '/'))
		return "the name of a profile cannot have a '/' in it";
	if (strlen(name) > NAME_MAX)
		return "the name of a profile is too long";
	return NULL;
}

static int check_name(const char *text, char **ret_text, char **ret_why)
{
	const char *problem = policy_profile_name_problem(text);

	if (problem)
		return refuse(ret_why, strdup(problem));
	*ret_text = strdup(text);
	return *ret_text ? 0 : -ENOMEM;
}

int policy_value_parse(const struct policy_key *key, const char *text,
	struct policy_parsed *ret_parsed, char **ret_why)
{
	switch (key->check) {
	case CHECK_WORD:
		return check_word(key->words, text, &ret_parsed->number, ret_why);
	case CHECK_INTEGER:
		return check_integer(text, &ret_parsed->number, ret_why);
	case CHECK_VERSION:
		return check_version(text, &ret_parsed->number, ret_why);
	case CHECK_PATH:
		return check_path(text, &ret_parsed->text, ret_why);
	case CHECK_MOUNTPOINT:
		return check_mountpoint(text, &ret_parsed->text, ret_why);
	case CHECK_PATTERN:
		return check_pattern(text, &ret_parsed->text, ret_why);
	case CHECK_CUDA:
		return check_cuda(text, &ret_parsed->text, ret_why);
	case CHECK_NAME:
		return check_name(text, &ret_parsed->text, ret_why);
	case CHECK_RUNPATH:
		return check_runpath(text, &ret_parsed->text, ret_why);
	}
	return -EINVAL;
}
