/* SPDX-License-Identifier: MIT */
#include "policy.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "policy_merge.h"

enum policy_machine policy_machine_native(void)
{
#if defined(__x86_64__)
	return MACHINE_X86_64;
#elif defined(__i386__)
	return MACHINE_I386;
#elif defined(__aarch64__)
	return MACHINE_AARCH64;
#elif defined(__arm__)
	return MACHINE_ARMHF;
#else
#error "not a machine that NVIDIA has drivers for"
#endif
}

/* Each profile is applied to a policy of its own, so that its errors are found though it may never
 * be used. */
static int try_profiles(const struct policy_text *text, const struct policy_merge *base)
{
	for (size_t i = 0; i < text->n_profiles; i++) {
		_cleanup_(policy_merge_clear) struct policy_merge trial = { 0 };
		int r = policy_merge_init(&trial, base->errors);

		trial.known = base;
		if (r == 0)
			r = policy_merge_apply(&trial, &text->profiles[i].settings, 0);
		if (r < 0)
			return r;
		policy_merge_check_trial(&trial);
	}
	return 0;
}

/* *ret_profile is NULL, with an error, where there is none of that name. */
static int find_profile(const struct policy_text *text, const struct policy_value *wanted,
	struct policy_errors *errors, const struct policy_profile **ret_profile)
{
	struct policy_guess guess = { .word = wanted->text };
	_cleanup_(freep) char *hint = NULL;

	*ret_profile = policy_text_profile(text, wanted->text);
	if (*ret_profile)
		return 0;
	for (size_t i = 0; i < text->n_profiles; i++)
		policy_guess_try(&guess, text->profiles[i].name);
	hint = policy_guess_text(&guess);
	if (!hint)
		return -ENOMEM;
	policy_error(errors, wanted->file, wanted->line, "there is no profile '%s'%s", wanted->text,
		hint);
	return 0;
}

/* The active profile's name and who said it: the override, else the files; text NULL: none. */
static struct policy_value active_profile(
	const struct policy_text *text, const struct policy_merge *base)
{
	const struct policy_key *key = policy_key_find(SECTION_GENERAL, "profile");
	const struct policy_origin *origin = &base->origins[policy_key_index(key)];

	for (size_t i = 0; i < text->override.count; i++) {
		const struct policy_setting *setting = &text->override.items[i];

		if (setting->key == key)
			return (struct policy_value){ (char *)setting->text, (char *)setting->file,
				setting->line };
	}
	return (struct policy_value){ base->policy->profile, (char *)origin->file, origin->line };
}

/* lib/ is files, active profile, override; the view of a wanted profile is files, override, and
 * then that one (DESIGN 4). */
static int apply_profiles(struct policy_merge *merge, const struct policy_text *text,
	const char *wanted_name, unsigned stages)
{
	const struct policy_value wanted = { .text = (char *)wanted_name };
	const struct policy_profile *active = NULL, *last = NULL;
	struct policy_value name = active_profile(text, merge);
	char *copy = NULL;
	int r = 0;

	if (name.text)
		r = find_profile(text, &name, merge->errors, &active);
	if (r == 0 && wanted_name)
		r = find_profile(text, &wanted, merge->errors, &last);
	if (r == 0 && active && !wanted_name)
		r = policy_merge_apply(merge, &active->settings, stages);
	if (r == 0)
		r = policy_merge_apply(merge, &text->override, 2 * stages);
	if (r == 0 && last)
		r = policy_merge_apply(merge, &last->settings, 3 * stages);
	if (r < 0 || !last)
		return r;
	copy = strdup(last->name);
	if (!copy)
		return -ENOMEM;
	free(merge->policy->profile);
	merge->policy->profile = copy;
	return 0;
}

static int list_profiles(struct policy *policy, const struct policy_text *text)
{
	for (size_t i = 0; i < text->n_profiles; i++)
		if (string_list_add(&policy->profiles, text->profiles[i].name) < 0)
			return -ENOMEM;
	return 0;
}

int policy_build(
	const struct policy_input *input, struct policy **ret_policy, struct diag_list *diags)
{
	_cleanup_(ini_file_freep) struct ini_file *builtin = NULL;
	_cleanup_(policy_text_clear) struct policy_text text = { 0 };
	_cleanup_(policy_merge_clear) struct policy_merge merge = { 0 };
	struct policy_errors errors = { .diags = diags };
	unsigned stages = (unsigned)input->n_files + 3;
	int r;

	r = inifile_parse("built-in policy", policy_builtin_text, strlen(policy_builtin_text),
		&builtin, diags);
	if (r < 0)
		return r;
	r = policy_read(input, builtin, &text, &errors);
	if (r == 0)
		r = policy_merge_init(&merge, &errors);
	if (r == 0)
		r = policy_merge_apply(&merge, &text.base, 0);
	if (r < 0)
		return r;
	policy_merge_check(&merge);
	r = try_profiles(&text, &merge);
	if (r == 0)
		r = apply_profiles(&merge, &text, input->profile, stages);
	if (r == 0)
		r = list_profiles(merge.policy, &text);
	if (r == 0)
		r = policy_merge_finish(&merge, ret_policy);
	if (r < 0)
		return r;
	return errors.count ? -EINVAL : 0;
}
