/* SPDX-License-Identifier: MIT */
/* policy: what several files, profiles and the override mean together. */
#include "../compat/cmocka.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy.h"

#define FILES_MAX 4

struct input {
	const char *files[FILES_MAX]; /* "f1", "f2" … */
	const char *override;         /* "o" */
	const char *profile;
	bool user;
	bool system; /* the first file is of /etc */
};

static struct ini_file *parse(const char *name, const char *text)
{
	_cleanup_(diag_clear) struct diag_list diags = { 0 };
	struct ini_file *file = NULL;

	if (inifile_parse(name, text, strlen(text), &file, &diags) < 0)
		fail_msg("%s: %s", text, diags.items[0].text);
	return file;
}

static int build(const struct input *input, struct policy **ret_policy, struct diag_list *diags)
{
	static const char *const names[FILES_MAX] = { "f1", "f2", "f3", "f4" };
	struct ini_file *files[FILES_MAX];
	struct ini_file *override = input->override ? parse("o", input->override) : NULL;
	struct policy_input in = { .files = (const struct ini_file *const *)files,
		.override = override,
		.profile = input->profile,
		.user = input->user };
	int r;

	for (; in.n_files < FILES_MAX && input->files[in.n_files]; in.n_files++)
		files[in.n_files] = parse(names[in.n_files], input->files[in.n_files]);
	if (in.n_files)
		files[0]->system = input->system;
	r = policy_build(&in, ret_policy, diags);
	for (size_t i = 0; i < in.n_files; i++)
		ini_file_free(files[i]);
	ini_file_free(override);
	return r;
}

static void print_list(FILE *out, const char *key, const struct policy_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		fprintf(out, " %s=%s@%s:%u", key, list->items[i].text,
			list->items[i].file ? list->items[i].file : "-", list->items[i].line);
}

static void print_value(FILE *out, const char *key, const struct policy_value *value)
{
	const struct policy_list list = { .items = (struct policy_value *)value, .count = 1 };

	if (value->text)
		print_list(out, key, &list);
}

/* Everything that is not at its default. */
static char *dump(const struct policy *policy)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (policy->mountpoint)
		fprintf(out, "mountpoint %s\n", policy->mountpoint);
	if (policy->present != PRESENT_AUTO)
		fprintf(out, "present %s\n", policy_present_name(policy->present));
	if (policy->machine != policy_machine_native())
		fprintf(out, "machine %s\n", policy_machine_name(policy->machine));
	if (strcmp(policy->runpath, "pin") != 0)
		fprintf(out, "runpath %s\n", policy->runpath);
	if (policy->allow_other != -1)
		fprintf(out, "allow-other %d\n", policy->allow_other);
	if (!policy->watch || policy->driver_probe)
		fprintf(out, "watch %d probe %d\n", policy->watch, policy->driver_probe);
	if (policy->profile)
		fprintf(out, "profile %s\n", policy->profile);
	if (policy->compat_mode_from.text)
		fprintf(out, "mode %s", compat_mode_name(policy->compat_mode));
	print_value(out, "from", &policy->compat_mode_from);
	if (policy->compat_mode_from.text)
		fprintf(out, "\n");
	if (policy->compat_unknown)
		fprintf(out, "on-unknown on\n");
	for (size_t i = 0; i < policy->n_layers; i++) {
		const struct policy_layer *layer = &policy->layers[i];

		fprintf(out, "layer %s@%s:%u %s %d", layer->name, layer->file ? layer->file : "-",
			layer->line, layer_role_name(layer->role), layer->order);
		fprintf(out, "%s%s%s", layer->optional ? " optional" : "",
			layer->trust ? " trust" : "", layer->under ? " under" : "");
		print_list(out, "dir", &layer->dirs);
		print_list(out, "tree", &layer->trees);
		print_list(out, "include", &layer->includes);
		print_list(out, "exclude", &layer->excludes);
		print_value(out, "root", &layer->root);
		print_value(out, "cuda", &layer->cuda);
		fprintf(out, "\n");
	}
	fclose(out);
	return text;
}

#define HOST      "[layer host]\ndir = /h\n"
#define HOST_DUMP "layer host@f1:1 host 30 dir=/h@f1:2\n"

struct good_case {
	const char *title;
	struct input input;
	const char *policy;
};

static const struct good_case values[] = {
	{ "every key",
		{ { "[gldriverfs]\nversion = 1\nmountpoint = /run/x\npresent = symlink\n"
		    "machine = armhf\nrunpath = $ORIGIN:/x y\nallow-other = no\nwatch = no\n"
		    "driver-probe = no\n[compat]\nmode = on\non-unknown = on\n[layer mine]\n"
		    "role = tegra\norder = -5\nenabled = yes\ndir = /a b\ncuda = 12.2\ntree = /t\n"
		    "under = yes\nroot = /r\ninclude = libdrm.so.2\nexclude = libx*\n"
		    "optional = yes\ntrust = yes\n" } },
		"mountpoint /run/x\npresent symlink\nmachine armhf\nrunpath $ORIGIN:/x "
		"y\nallow-other 0\nwatch 0 probe 0\n"
		"mode on from=on@f1:11\non-unknown on\n"
		"layer mine@f1:13 tegra -5 optional trust under dir=/a b@f1:17 tree=/t@f1:19 "
		"include=libdrm.so.2@f1:22 exclude=libx*@f1:23 root=/r@f1:21 cuda=12.2@f1:18\n" },
	{ "mountpoints are normalised",
		{ { HOST "[gldriverfs]\nmountpoint = //run///gl/..x/.y//\n" } },
		"mountpoint /run/gl/..x/.y\n" HOST_DUMP },
	{ "native", { { HOST "[gldriverfs]\nmachine = native\nallow-other = yes\n" } },
		"allow-other 1\n" HOST_DUMP },
	{ "roles by name, orders by role, as written within an order",
		{ { "[layer extra]\ndir = /e\n[layer host]\ndir = /h\n[layer tegra]\ndir = /t\n"
		    "[layer compat]\ndir = /c\n[layer h2]\nrole = host\ndir = /h2\n"
		    "[layer last]\nrole = compat\norder = 99\ndir = /l\n" } },
		"layer compat@f1:7 compat 10 dir=/c@f1:8\nlayer tegra@f1:5 tegra 20 dir=/t@f1:6\n"
		"layer host@f1:3 host 30 dir=/h@f1:4\nlayer h2@f1:9 host 30 dir=/h2@f1:11\n"
		"layer extra@f1:1 extra 40 dir=/e@f1:2\nlayer last@f1:12 compat 99 "
		"dir=/l@f1:15\n" },
	{ "disabled layers are dropped", { { HOST "[layer extra]\nenabled = no\ndir = /e\n" } },
		HOST_DUMP },
};

static const struct good_case merges[] = {
	{ "a later single value, a later list",
		{ { "[layer host]\ndir = /a\ndir = /b\ninclude = x\norder = 5\n[gldriverfs]\n"
		    "present = file\n",
			"[layer host]\ndir = /c\norder = 6\n[gldriverfs]\npresent = symlink\n" } },
		"present symlink\nlayer host@f2:1 host 6 dir=/c@f2:2 include=x@f1:4\n" },
	{ "a layer in two sections of a file",
		{ { "[layer host]\ndir = /a\n[compat]\nmode = off\n[layer host]\ndir = /b\n" } },
		"mode off from=off@f1:4\nlayer host@f1:5 host 30 dir=/a@f1:2 dir=/b@f1:6\n" },
	{ "a drop-in disables",
		{ { HOST "[layer extra]\ndir = /e\n", "[layer extra]\nenabled = no\n" } },
		HOST_DUMP },
	{ "a user's mount is not where /etc says",
		{ { HOST "[gldriverfs]\nmountpoint = /run/x\n" }, .user = true, .system = true },
		HOST_DUMP },
	{ "but where his own file says",
		{ { HOST "[gldriverfs]\nmountpoint = /run/x\n" }, .user = true },
		"mountpoint /run/x\n" HOST_DUMP },
	{ "the system's is where /etc says",
		{ { HOST "[gldriverfs]\nmountpoint = /run/x\n" }, .system = true },
		"mountpoint /run/x\n" HOST_DUMP },
};

#define PROFILES                                                                                   \
	HOST "[profile native]\ncompat.mode = off\nlayer host.dir = /p\n"                          \
	     "[profile other]\ngldriverfs.present = file\n"

static const struct good_case profiles[] = {
	{ "not active", { { PROFILES } }, HOST_DUMP },
	{ "active", { { PROFILES "[gldriverfs]\nprofile = native\n" } },
		"profile native\nmode off from=off@f1:4\n"
		"layer host@f1:1 host 30 dir=/p@f1:5\n" },
	{ "wins over later files",
		{ { PROFILES, "[gldriverfs]\nprofile = native\n[compat]\nmode = on\n" } },
		"profile native\nmode off from=off@f1:4\nlayer host@f1:1 host 30 dir=/p@f1:5\n" },
	{ "chosen by the override",
		{ { PROFILES "[gldriverfs]\nprofile = native\n" },
			.override = "[gldriverfs]\nprofile = other\n" },
		"present file\nprofile other\n" HOST_DUMP },
	{ "the override wins over the active one",
		{ { PROFILES "[gldriverfs]\nprofile = native\n" },
			.override = "[compat]\nmode = auto\n" },
		"profile native\nmode auto from=auto@o:2\nlayer host@f1:1 host 30 dir=/p@f1:5\n" },
	{ "the wanted one wins over the override and leaves the active one out",
		{ { PROFILES "[gldriverfs]\nprofile = other\n" },
			.override = "[compat]\nmode = on\n", .profile = "native" },
		"profile native\nmode off from=off@f1:4\nlayer host@f1:1 host 30 dir=/p@f1:5\n" },
	{ "a wanted one that says nothing of compat keeps the override",
		{ { PROFILES }, .override = "[compat]\nmode = on\n", .profile = "other" },
		"present file\nprofile other\nmode on from=on@o:2\n" HOST_DUMP },
	{ "compat-on is built in", { { HOST }, .profile = "compat-on" },
		"profile compat-on\nmode on from=on@profile compat-on:0\n" HOST_DUMP },
	{ "compat-off is built in",
		{ { HOST "[gldriverfs]\nprofile = compat-off\n[compat]\nmode = on\n" } },
		"profile compat-off\nmode off from=off@profile compat-off:0\n" HOST_DUMP },
	{ "profiles merge over files, list by list",
		{ { HOST "[profile p]\nlayer host.dir = /1\nlayer host.include = a\n",
			  "[profile p]\nlayer host.dir = /2\nlayer host.dir = /3\n" },
			.profile = "p" },
		"profile p\nlayer host@f1:1 host 30 dir=/2@f2:2 dir=/3@f2:3 include=a@f1:5\n" },
	{ "a layer's name may have dots",
		{ { "[layer a.b c]\nrole = host\ndir = /h\n[profile p]\nlayer a.b c.dir = /p\n" },
			.profile = "p" },
		"profile p\nlayer a.b c@f1:1 host 30 dir=/p@f1:5\n" },
	{ "an empty override", { { HOST }, .override = "# nothing\n" }, HOST_DUMP },
};

static void check_good(const struct good_case *cases, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		_cleanup_(diag_clear) struct diag_list diags = { 0 };
		_cleanup_(policy_freep) struct policy *policy = NULL;
		_cleanup_(freep) char *text = NULL;

		if (build(&cases[i].input, &policy, &diags) != 0)
			fail_msg("%s: %s", cases[i].title, diag_first_error(&diags));
		text = dump(policy);
		if (strcmp(text, cases[i].policy) != 0)
			fail_msg("%s: got\n%sexpected\n%s", cases[i].title, text, cases[i].policy);
		if (diags.count)
			fail_msg("%s: %s", cases[i].title, diags.items[0].text);
	}
}

static void test_values(void **state)
{
	(void)state;
	check_good(values, ARRAY_SIZE(values));
}

static void test_merges(void **state)
{
	(void)state;
	check_good(merges, ARRAY_SIZE(merges));
}

static void test_profiles(void **state)
{
	(void)state;
	check_good(profiles, ARRAY_SIZE(profiles));
}

/* Errors that one file alone cannot have; those of one file are in tests/bad. */
static void test_bad(void **state)
{
	static const struct {
		struct input input;
		const char *error;
	} cases[] = {
		{ { { HOST }, .profile = "compat-onn" },
			"there is no profile 'compat-onn'; did you mean 'compat-on'?" },
		{ { { HOST }, .profile = "zzz" }, "there is no profile 'zzz'" },
		{ { { HOST }, .override = "[gldriverfs]\nprofile = zzz\n" },
			"o:2: there is no profile 'zzz'" },
		{ { { HOST "[gldriverfs]\nprofile = zzz\n" }, .profile = "compat-on" },
			"f1:4: there is no profile 'zzz'" },
		{ { { HOST }, .override = "[compat]\nmode = of\n" },
			"o:2: mode: 'of' is not auto, on or off" },
		{ { { HOST }, .override = "[compat]\non-unknown = on\n" },
			"o:2: 'on-unknown' in [compat]: the runtime override has only" },
		{ { { HOST }, .override = "[layer x]\ndir = /y\n" },
			"o:2: 'dir' in [layer x]: the runtime override has only" },
		{ { { HOST, "[layer hots]\nenabled = no\n" } }, "f2:1: [layer hots] has no role" },
		{ { { HOST, "[gldriverfs]\nmountpoint = x\n" }, .user = true },
			"f2:2: mountpoint: 'x' is not an absolute path" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_(diag_clear) struct diag_list diags = { 0 };
		struct policy *policy = NULL;
		_cleanup_(freep) char *error = NULL;

		assert_int_equal(build(&cases[i].input, &policy, &diags), -EINVAL);
		assert_null(policy);
		error = diag_first_error(&diags);
		if (!string_has_prefix(error, cases[i].error))
			fail_msg("got\n%s\nexpected\n%s", error, cases[i].error);
	}
}

static void test_errors_are_capped(void **state)
{
	_cleanup_(diag_clear) struct diag_list diags = { 0 };
	struct policy *policy = NULL;
	char text[4096] = HOST "[compat]\n";

	(void)state;
	for (size_t i = 0; i < 50; i++)
		strcat(text, "nothing = x\n");
	assert_int_equal(build(&(struct input){ .files = { text } }, &policy, &diags), -EINVAL);
	assert_int_equal(diags.count, 21);
	assert_int_equal(diags.items[20].line, 24);
	assert_string_equal(diags.items[20].text, "there are more errors from here on");
}

static void test_no_warnings(void **state)
{
	static const char *const cases[] = {
		"[gldriverfs]\nrunpath = none\n",
		"[gldriverfs]\nrunpath = $ORIGIN:${ORIGIN}/..:/x y\n",
		"[gldriverfs]\nwatch = no\n",
		"[gldriverfs]\ndriver-probe = yes\n",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_(diag_clear) struct diag_list diags = { 0 };
		_cleanup_(policy_freep) struct policy *policy = NULL;

		assert_int_equal(
			build(&(struct input){ .files = { cases[i] } }, &policy, &diags), 0);
		assert_int_equal(diags.count, 0);
	}
}

static void test_builtin(void **state)
{
	_cleanup_(diag_clear) struct diag_list diags = { 0 };
	_cleanup_(policy_freep) struct policy *policy = NULL;
	const struct policy_list *dirs;

	(void)state;
	assert_int_equal(
		build(&(struct input){ .files = { "[compat]\nmode = off\n" } }, &policy, &diags),
		0);
	assert_int_equal(diags.count, 0);
	assert_int_equal(policy->n_layers, 2);
	assert_string_equal(policy->layers[0].name, "compat");
	assert_string_equal(policy->layers[1].name, "host");
	assert_null(policy->layers[0].file);
	assert_true(policy->layers[0].optional && policy->layers[1].optional);
	assert_true(string_list_has(&policy->profiles, "compat-on"));
	assert_true(string_list_has(&policy->profiles, "compat-off"));
	assert_int_equal(policy->compat_mode, COMPAT_OFF);
	dirs = &policy->layers[0].dirs;
	assert_string_equal(dirs->items[0].text, "/usr/local/cuda/compat_orin");
	assert_string_equal(dirs->items[dirs->count - 1].text, "/usr/local/cuda/compat");
	assert_int_equal(policy->layers[1].discover, DISCOVER_AUTO);
	assert_int_equal(policy->layers[1].dirs.count, 0);
	for (size_t i = 2; i + 1 < dirs->count; i++) /* highest version first */
		assert_true(strverscmp(dirs->items[i - 1].text, dirs->items[i].text) > 0);
}

static void test_nothing_at_all(void **state)
{
	_cleanup_(diag_clear) struct diag_list diags = { 0 };
	_cleanup_(policy_freep) struct policy *policy = NULL;

	(void)state;
	assert_int_equal(policy_build(&(struct policy_input){ 0 }, &policy, &diags), 0);
	assert_int_equal(policy->n_layers, 2);
	assert_null(policy->mountpoint);
	assert_null(policy->profile);
	assert_null(policy->compat_mode_from.text);
	assert_string_equal(policy->runpath, "pin");
	assert_int_equal(policy->allow_other, -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_merges),
		cmocka_unit_test(test_profiles),
		cmocka_unit_test(test_bad),
		cmocka_unit_test(test_errors_are_capped),
		cmocka_unit_test(test_no_warnings),
		cmocka_unit_test(test_builtin),
		cmocka_unit_test(test_nothing_at_all),
	};

	return cmocka_run_group_tests_name("policy", tests, NULL, NULL);
}
