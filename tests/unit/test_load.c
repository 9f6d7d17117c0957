/* SPDX-License-Identifier: MIT */
/* load: which files of which directories are read, in what order, and what is not a policy file. */
#include "../compat/cmocka.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "load.h"

#define LAYER(dir) "[layer host]\ndir = " dir "\n"

/* A file of the fake machine: text, or a link's target behind "->", or "fifo", "dir", "big". */
struct made {
	const char *path;
	const char *content;
};

struct load_case {
	const char *title;
	struct made made[8];
	const char *name; /* NULL: "gldriverfs" */
	const char *config;
	const char *override;
	bool user; /* with run/user and home/cfg of the fake machine */
	const char *files;
	const char *dir; /* of the policy's only layer, or the start of the error */
};

static char top[] = "/tmp/gldriverfs-load-XXXXXX";

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *walk)
{
	(void)st;
	(void)type;
	return walk->level ? remove(path) : 0;
}

static void clean(void)
{
	nftw(top, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static void make_one(const struct made *made)
{
	_cleanup_(freep) char *path = string_format("%s/%s", top, made->path);
	FILE *out;

	for (char *slash = path + strlen(top) + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		mkdir(path, 0755);
		*slash = '/';
	}
	if (string_has_prefix(made->content, "->")) {
		assert_int_equal(symlink(made->content + 2, path), 0);
		return;
	}
	if (strcmp(made->content, "fifo") == 0) {
		assert_int_equal(mkfifo(path, 0644), 0);
		return;
	}
	if (strcmp(made->content, "dir") == 0) {
		assert_int_equal(mkdir(path, 0755), 0);
		return;
	}
	out = fopen(path, "w");
	assert_non_null(out);
	if (strcmp(made->content, "big") == 0)
		assert_int_equal(ftruncate(fileno(out), 1024 * 1024 + 1), 0);
	else
		fputs(made->content, out);
	fclose(out);
}

/* The names without `top`, joined by spaces. */
static char *join(const struct string_list *files)
{
	char *text = strdup("");

	for (size_t i = 0; i < files->count; i++) {
		const char *name = files->items[i];
		char *longer;

		if (string_has_prefix(name, top))
			name += strlen(top);
		longer = string_format("%s%s%s", text, i ? " " : "", name);
		free(text);
		text = longer;
	}
	return text;
}

static char *inside(const char *path)
{
	return path ? string_format("%s/%s", top, path) : NULL;
}

static char *outcome(const struct load_result *result, const struct diag_list *diags, int r)
{
	_cleanup_(freep) char *error = NULL;

	if (r == 0)
		return strdup(result->policy->layers[0].dirs.items[0].text);
	error = diag_first_error(diags);
	assert_non_null(error);
	return strdup(string_has_prefix(error, top) ? error + strlen(top) : error);
}

static void run_case(const struct load_case *c)
{
	_cleanup_(freep) char *config = inside(c->config);
	_cleanup_(freep) char *override = inside(c->override);
	_cleanup_(freep) char *runtime = inside("run/user");
	_cleanup_(freep) char *home = inside("home/cfg");
	_cleanup_(freep) char *files = NULL;
	_cleanup_(freep) char *dir = NULL;
	_cleanup_(rootfs_unrefp) struct rootfs *root = NULL;
	_cleanup_(diag_clear) struct diag_list diags = { 0 };
	struct load_request request = { .name = c->name ? c->name : "gldriverfs",
		.config = config,
		.override = override,
		.user = c->user,
		.runtime_dir = runtime,
		.config_home = home };
	struct load_result result = { 0 };
	int r;

	for (size_t i = 0; i < ARRAY_SIZE(c->made) && c->made[i].path; i++)
		make_one(&c->made[i]);
	assert_int_equal(rootfs_open(top, &root), 0);
	request.root = root;
	r = load_policy(&request, NULL, &result, &diags);
	dir = outcome(&result, &diags, r);
	files = join(&result.files);
	if (!string_has_prefix(dir, c->dir) || strcmp(files, c->files ? c->files : "") != 0)
		fail_msg("%s: '%s' from '%s'", c->title, dir, files);
	load_result_clear(&result);
	clean();
}

static const struct load_case places[] = {
	{ "nothing: built in", .dir = "/usr/local/cuda/compat_orin" },
	{ "usr", { { "usr/lib/gldriverfs/gldriverfs.conf", LAYER("/u") } },
		.files = "/usr/lib/gldriverfs/gldriverfs.conf", .dir = "/u" },
	{ "etc before usr",
		{ { "usr/lib/gldriverfs/gldriverfs.conf", LAYER("/u") },
			{ "etc/gldriverfs/gldriverfs.conf", LAYER("/e") } },
		.files = "/etc/gldriverfs/gldriverfs.conf", .dir = "/e" },
	{ "run before etc",
		{ { "run/gldriverfs/gldriverfs.conf", LAYER("/r") },
			{ "etc/gldriverfs/gldriverfs.conf", LAYER("/e") } },
		.files = "/run/gldriverfs/gldriverfs.conf", .dir = "/r" },
	{ "by instance",
		{ { "etc/gldriverfs/gldriverfs.conf", LAYER("/e") },
			{ "etc/gldriverfs/mnt-x.conf", LAYER("/x") },
			{ "etc/gldriverfs/gldriverfs.conf.d/a.conf", LAYER("/d") } },
		.name = "mnt-x", .files = "/etc/gldriverfs/mnt-x.conf", .dir = "/x" },
	{ "drop-ins by file name over all directories",
		{ { "etc/gldriverfs/gldriverfs.conf", LAYER("/e") },
			{ "run/gldriverfs/gldriverfs.conf.d/10.conf", LAYER("/r10") },
			{ "etc/gldriverfs/gldriverfs.conf.d/30.conf", LAYER("/e30") },
			{ "usr/lib/gldriverfs/gldriverfs.conf.d/20.conf", LAYER("/u20") } },
		.files = "/etc/gldriverfs/gldriverfs.conf "
			 "/run/gldriverfs/gldriverfs.conf.d/10.conf "
			 "/usr/lib/gldriverfs/gldriverfs.conf.d/20.conf "
			 "/etc/gldriverfs/gldriverfs.conf.d/30.conf",
		.dir = "/e30" },
	{ "drop-ins alone, and what is none",
		{ { "etc/gldriverfs/gldriverfs.conf.d/a.conf", LAYER("/a") },
			{ "etc/gldriverfs/gldriverfs.conf.d/.b.conf", LAYER("/b") },
			{ "etc/gldriverfs/gldriverfs.conf.d/c.conf~", LAYER("/c") },
			{ "etc/gldriverfs/gldriverfs.conf.d/README", "text" } },
		.files = "/etc/gldriverfs/gldriverfs.conf.d/a.conf", .dir = "/a" },
	{ "a drop-in masks that of a later directory, an empty one too",
		{ { "usr/lib/gldriverfs/gldriverfs.conf.d/1.conf", LAYER("/u1") },
			{ "usr/lib/gldriverfs/gldriverfs.conf.d/2.conf", LAYER("/u2") },
			{ "usr/lib/gldriverfs/gldriverfs.conf.d/3.conf", LAYER("/u3") },
			{ "etc/gldriverfs/gldriverfs.conf.d/2.conf", "" },
			{ "run/gldriverfs/gldriverfs.conf.d/3.conf", "->null" },
			{ "run/gldriverfs/gldriverfs.conf.d/null", "" } },
		.files = "/usr/lib/gldriverfs/gldriverfs.conf.d/1.conf "
			 "/etc/gldriverfs/gldriverfs.conf.d/2.conf "
			 "/run/gldriverfs/gldriverfs.conf.d/3.conf",
		.dir = "/u1" },
	{ "links inside of the root, at any level",
		{ { "etc/gldriverfs", "->/etc/static/gldriverfs" }, { "etc/static", "->/nix/etc" },
			{ "nix/etc/gldriverfs/gldriverfs.conf", "->/nix/policy" },
			{ "nix/policy", LAYER("/n") } },
		.files = "/etc/gldriverfs/gldriverfs.conf", .dir = "/n" },
	{ "--config replaces all",
		{ { "etc/gldriverfs/gldriverfs.conf", LAYER("/e") },
			{ "etc/gldriverfs/gldriverfs.conf.d/a.conf", LAYER("/d") },
			{ "my.conf", LAYER("/m") }, { "my.conf.d/a.conf", LAYER("/x") } },
		.config = "my.conf", .files = "/my.conf", .dir = "/m" },
	{ "the override is read last",
		{ { "my.conf", LAYER("/m") "[profile p]\nlayer host.dir = /p\n" },
			{ "o.conf", "[gldriverfs]\nprofile = p\n" } },
		.config = "my.conf", .override = "o.conf", .files = "/my.conf /o.conf",
		.dir = "/p" },
	{ "no override", { { "my.conf", LAYER("/m") } }, .config = "my.conf", .override = "o.conf",
		.files = "/my.conf", .dir = "/m" },
};

static const struct load_case users[] = {
	{ "a user's own before the machine's, /run is not his",
		{ { "run/gldriverfs/gldriverfs.conf", LAYER("/r") },
			{ "etc/gldriverfs/gldriverfs.conf", LAYER("/e") },
			{ "home/cfg/gldriverfs/gldriverfs.conf", LAYER("/h") } },
		.user = true, .files = "/home/cfg/gldriverfs/gldriverfs.conf", .dir = "/h" },
	{ "runtime directory before home",
		{ { "run/user/gldriverfs/gldriverfs.conf", LAYER("/ru") },
			{ "home/cfg/gldriverfs/gldriverfs.conf", LAYER("/h") },
			{ "etc/gldriverfs/gldriverfs.conf.d/9.conf", "[compat]\nmode = on\n" },
			{ "home/cfg/gldriverfs/gldriverfs.conf.d/1.conf", LAYER("/h1") } },
		.user = true,
		.files = "/run/user/gldriverfs/gldriverfs.conf "
			 "/home/cfg/gldriverfs/gldriverfs.conf.d/1.conf "
			 "/etc/gldriverfs/gldriverfs.conf.d/9.conf",
		.dir = "/h1" },
	{ "a link to /dev/null masks",
		{ { "home/cfg/gldriverfs/gldriverfs.conf.d/1.conf", "->/dev/null" },
			{ "etc/gldriverfs/gldriverfs.conf.d/1.conf", LAYER("/e1") },
			{ "etc/gldriverfs/gldriverfs.conf.d/0.conf", LAYER("/e0") } },
		.user = true,
		.files = "/etc/gldriverfs/gldriverfs.conf.d/0.conf "
			 "/home/cfg/gldriverfs/gldriverfs.conf.d/1.conf",
		.dir = "/e0" },
	{ "the machine's as the last resort", { { "etc/gldriverfs/gldriverfs.conf", LAYER("/e") } },
		.user = true, .files = "/etc/gldriverfs/gldriverfs.conf", .dir = "/e" },
};

#define MAIN "etc/gldriverfs/gldriverfs.conf"

static const struct load_case bad[] = {
	{ "0 bytes", { { MAIN, "" } }, .dir = "/" MAIN ": the file is empty" },
	{ "0 bytes do not lead on",
		{ { MAIN, "" }, { "usr/lib/gldriverfs/gldriverfs.conf", LAYER("/u") } },
		.dir = "/" MAIN ": the file is empty" },
	{ "a directory", { { MAIN, "dir" } }, .dir = "/" MAIN ": is not a regular file" },
	{ "a FIFO", { { MAIN, "fifo" } }, .dir = "/" MAIN ": is not a regular file" },
	{ "over 1 MiB", { { MAIN, "big" } }, .dir = "/" MAIN ": is larger than 1 MiB" },
	{ "a link that leads nowhere", { { MAIN, "->/nowhere" } },
		.dir = "/" MAIN ": is a link that leads nowhere" },
	{ "a link to itself", { { MAIN, "->gldriverfs.conf" } },
		.dir = "/" MAIN ": cannot be reached: Too many levels" },
	{ "a bad drop-in", { { MAIN, LAYER("/e") }, { MAIN ".d/a.conf", "[compat]\nmod = on\n" } },
		.dir = "/" MAIN
		       ".d/a.conf:2: unknown key 'mod' in [compat]; did you mean 'mode'?" },
	{ "a drop-in that is a FIFO", { { MAIN ".d/a.conf", "fifo" } },
		.dir = "/" MAIN ".d/a.conf: is not a regular file" },
	{ "a drop-in directory that is a file", { { MAIN ".d", LAYER("/e") } },
		.dir = "/" MAIN ".d: cannot be opened: Not a directory" },
	{ "--config missing", .config = "my.conf", .override = "o.conf",
		.dir = "/my.conf: cannot be opened: No such file or directory" },
	{ "--config 0 bytes", { { "my.conf", "" } }, .config = "my.conf",
		.dir = "/my.conf: the file is empty" },
	{ "--config a FIFO", { { "my.conf", "fifo" } }, .config = "my.conf",
		.dir = "/my.conf: is not a regular file" },
	{ "--config a directory", { { "my.conf", "dir" } }, .config = "my.conf",
		.dir = "/my.conf: is not a regular file" },
	{ "--config too large", { { "my.conf", "big" } }, .config = "my.conf",
		.dir = "/my.conf: is larger than 1 MiB" },
	{ "a bad override", { { "o.conf", "[gldriverfs]\npresent = file\n" } },
		.override = "o.conf", .dir = "/o.conf:2: 'present' in [gldriverfs]: the runtime" },
};

static void test_places(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(places); i++)
		run_case(&places[i]);
}

static void test_users(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(users); i++)
		run_case(&users[i]);
}

static void test_bad(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		run_case(&bad[i]);
}

static void test_user_ignores_mountpoint_of_etc(void **state)
{
	const struct made made = { MAIN, LAYER("/e") "[gldriverfs]\nmountpoint = /run/x\n" };
	_cleanup_(rootfs_unrefp) struct rootfs *root = NULL;

	(void)state;
	make_one(&made);
	assert_int_equal(rootfs_open(top, &root), 0);
	for (int user = 0; user <= 1; user++) {
		_cleanup_(diag_clear) struct diag_list diags = { 0 };
		_cleanup_(load_result_clear) struct load_result result = { 0 };
		struct load_request request = { .root = root, .name = "gldriverfs", .user = user };

		assert_int_equal(load_policy(&request, NULL, &result, &diags), 0);
		if (user)
			assert_null(result.policy->mountpoint);
		else
			assert_string_equal(result.policy->mountpoint, "/run/x");
	}
	clean();
}

static void test_profile_is_handed_on(void **state)
{
	_cleanup_(rootfs_unrefp) struct rootfs *root = NULL;
	_cleanup_(diag_clear) struct diag_list diags = { 0 };
	_cleanup_(load_result_clear) struct load_result result = { 0 };
	struct load_request request = { .name = "gldriverfs" };

	(void)state;
	assert_int_equal(rootfs_open(top, &root), 0);
	request.root = root;
	assert_int_equal(load_policy(&request, "compat-on", &result, &diags), 0);
	assert_int_equal(result.policy->compat_mode, COMPAT_ON);
}

static int setup(void **state)
{
	(void)state;
	return mkdtemp(top) ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	clean();
	return rmdir(top);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_places),
		cmocka_unit_test(test_users),
		cmocka_unit_test(test_bad),
		cmocka_unit_test(test_user_ignores_mountpoint_of_etc),
		cmocka_unit_test(test_profile_is_handed_on),
	};

	return cmocka_run_group_tests_name("load", tests, setup, teardown);
}
