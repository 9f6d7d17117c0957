/* SPDX-License-Identifier: MIT */
/* policy_keys: the table of keys, the guesses at misspelt words, and that conf/gldriverfs.conf
 * tells the truth about both. */
#include "../compat/cmocka.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy.h"
#include "policy_keys.h"

/* The source directory as the compiler was given it (relative: tests run where make runs). */
static char *source_path(const char *path)
{
	return string_format("%.*s../../%s", (int)(path_base(__FILE__) - __FILE__), __FILE__, path);
}

static char *read_text(const char *path)
{
	_cleanup_(freep) char *full = source_path(path);
	FILE *in = fopen(full, "r");
	char *text = calloc(1, 65536);

	if (!in)
		fail_msg("%s cannot be opened", full);
	assert_true(fread(text, 1, 65535, in) > 0);
	fclose(in);
	return text;
}

/* The table is grouped by section and has no key twice. */
static void test_key_table(void **state)
{
	(void)state;
	for (size_t i = 0; i < POLICY_KEY_COUNT; i++) {
		const struct policy_key *key = &policy_keys[i];

		assert_non_null(key->name);
		assert_ptr_equal(policy_key_find(key->section, key->name), key);
		assert_true(i == 0 || policy_keys[i - 1].section <= key->section);
		assert_true((key->check == CHECK_WORD) == (key->words != NULL));
	}
	assert_null(policy_key_find(SECTION_COMPAT, "present"));
}

static void test_guesses(void **state)
{
	static const struct {
		const char *word;
		const char *guess; /* among the keys of all sections */
	} cases[] = {
		{ "mountpiont", "mountpoint" },
		{ "Mountpoint", "mountpoint" },
		{ "includes", "include" },
		{ "mod", "mode" },
		{ "dirs", "dir" },
		{ "allow_other", "allow-other" },
		{ "zzz", NULL },
		{ "something-completely-different-and-long", NULL },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct policy_guess guess = { .word = cases[i].word };

		for (size_t j = 0; j < POLICY_KEY_COUNT; j++)
			policy_guess_try(&guess, policy_keys[j].name);
		if (!string_equal(guess.best, cases[i].guess))
			fail_msg("%s: %s", cases[i].word, guess.best ? guess.best : "nothing");
	}
}

static void test_mode_words(void **state)
{
	enum compat_mode mode;

	(void)state;
	for (int i = COMPAT_AUTO; i <= COMPAT_OFF; i++) {
		assert_int_equal(
			compat_mode_parse(compat_mode_name((enum compat_mode)i), &mode), 0);
		assert_int_equal(mode, i);
	}
	assert_int_equal(compat_mode_parse("ON", &mode), -EINVAL);
	assert_string_equal(layer_role_name(ROLE_EXTRA), "extra");
	assert_string_equal(policy_present_name(PRESENT_SYMLINK), "symlink");
	assert_string_equal(policy_machine_name(MACHINE_AARCH64), "aarch64");
}

/* Builds the policy of one file's text. */
static struct policy *build(const char *name, const char *text)
{
	_cleanup_(diag_clear) struct diag_list diags = { 0 };
	_cleanup_(ini_file_freep) struct ini_file *file = NULL;
	struct policy *policy = NULL;

	if (inifile_parse(name, text, strlen(text), &file, &diags) == 0) {
		const struct ini_file *const files[] = { file };

		policy_build(
			&(struct policy_input){ .files = files, .n_files = 1 }, &policy, &diags);
	}
	if (diags.count)
		fail_msg("%s:%u: %s", name, diags.items[0].line, diags.items[0].text);
	return policy;
}

/* As a user does it who wants to change every key: removes the '#' of lines that are settings. */
static void uncomment(char *text)
{
	char *out = text;

	for (char *in = text; *in;) {
		size_t size = strcspn(in, "\n") + 1;

		if (in[0] == '#' && in[1] != ' ' && in[1] != '\n')
			*in = ' ';
		memmove(out, in, size);
		out += size;
		in += size;
	}
	*out = '\0';
}

static void test_shipped_policy(void **state)
{
	_cleanup_(freep) char *text = read_text("conf/gldriverfs.conf");
	_cleanup_(policy_freep) struct policy *as_shipped = build("as shipped", text);
	_cleanup_(policy_freep) struct policy *builtin = NULL, *all = NULL;
	_cleanup_(diag_clear) struct diag_list diags = { 0 };

	(void)state;
	for (size_t i = 0; i < POLICY_KEY_COUNT; i++) {
		_cleanup_(freep) char *line = string_format("\n#%s = ", policy_keys[i].name);

		if (!strstr(text, line))
			fail_msg("%s is not in conf/gldriverfs.conf", policy_keys[i].name);
	}
	assert_int_equal(policy_build(&(struct policy_input){ 0 }, &builtin, &diags), 0);
	assert_int_equal(as_shipped->n_layers, builtin->n_layers);
	uncomment(text);
	all = build("uncommented", text);
	assert_int_equal(all->present, builtin->present);
	assert_int_equal(all->machine, builtin->machine);
	assert_string_equal(all->runpath, builtin->runpath);
	assert_string_equal(all->profile, "native");
	assert_int_equal(all->compat_mode, COMPAT_OFF); /* the profile says so */
	assert_int_equal(all->compat_unknown, builtin->compat_unknown);
	assert_int_equal(all->watch, builtin->watch);
	assert_int_equal(all->driver_probe, builtin->driver_probe);
}

static void test_examples(void **state)
{
	static const char *const names[] = { "jetson-nixos", "jetson-ubuntu-jp5",
		"jetson-ubuntu-jp6", "server" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		_cleanup_(freep) char *path = string_format("conf/examples/%s.conf", names[i]);
		_cleanup_(freep) char *text = read_text(path);
		_cleanup_(policy_freep) struct policy *policy = build(path, text);

		assert_int_equal(policy->n_layers, 2);
		assert_int_equal(policy->layers[0].role, ROLE_COMPAT);
		assert_int_equal(policy->layers[1].role, ROLE_HOST);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_key_table),
		cmocka_unit_test(test_guesses),
		cmocka_unit_test(test_mode_words),
		cmocka_unit_test(test_shipped_policy),
		cmocka_unit_test(test_examples),
	};

	return cmocka_run_group_tests_name("policy_keys", tests, NULL, NULL);
}
