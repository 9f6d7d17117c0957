/* SPDX-License-Identifier: MIT */
/* libFuzzer: any bytes as policy files. A 0x1e byte (record separator) ends one file; of several,
 * the last is also tried as the runtime override. Checked beside crashes: an error has a message,
 * and what is accepted keeps its promises. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "policy.h"

#define FILES_MAX 4
#define SEPARATOR 0x1e

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition)
{
	if (!condition)
		abort();
}

static void check_layer(const struct policy_layer *layer)
{
	require(layer->name && *layer->name && layer->enabled);
	require(layer_role_name(layer->role));
	require(layer->dirs.count || layer->trees.count || layer->csvs.count || layer->cdis.count ||
		layer->discover || layer->under);
	for (size_t i = 0; i < layer->dirs.count; i++)
		require(layer->dirs.items[i].text[0] == '/');
	for (size_t i = 0; i < layer->includes.count; i++)
		require(!strchr(layer->includes.items[i].text, '/'));
}

static void check_policy(const struct policy *policy)
{
	require(policy_present_name(policy->present) && policy_machine_name(policy->machine));
	require(compat_mode_name(policy->compat_mode) && policy->runpath);
	require(!policy->mountpoint ||
		(policy->mountpoint[0] == '/' && policy->mountpoint[1] &&
			!strstr(policy->mountpoint, "//") && !strstr(policy->mountpoint, "/../") &&
			!string_has_suffix(policy->mountpoint, "/")));
	require(policy->profiles.count >= 2);
	require(!policy->profile || string_list_has(&policy->profiles, policy->profile));
	for (size_t i = 0; i < policy->n_layers; i++) {
		check_layer(&policy->layers[i]);
		require(i == 0 || policy->layers[i - 1].order <= policy->layers[i].order);
	}
}

static void build(const struct policy_input *input, struct policy **ret_policy)
{
	_cleanup_(diag_clear) struct diag_list diags = { 0 };
	int r = policy_build(input, ret_policy, &diags);

	require(r == 0 || r == -EINVAL);
	require((r == 0) == (diag_count(&diags, DIAG_ERROR) == 0));
	if (r == 0)
		check_policy(*ret_policy);
}

static void build_all(const struct ini_file *const *files, size_t n_files)
{
	struct policy_input input = { .files = files, .n_files = n_files };
	_cleanup_(policy_freep) struct policy *policy = NULL;
	_cleanup_(policy_freep) struct policy *overridden = NULL;

	build(&input, &policy);
	for (size_t i = 0; policy && i < policy->profiles.count && i < 4; i++) {
		_cleanup_(policy_freep) struct policy *profile = NULL;

		input.profile = policy->profiles.items[i];
		build(&input, &profile);
		require(profile && strcmp(profile->profile, input.profile) == 0);
	}
	if (n_files < 2)
		return;
	input.profile = NULL;
	input.user = true;
	input.n_files--;
	input.override = files[n_files - 1];
	build(&input, &overridden);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ini_file *files[FILES_MAX];
	size_t n_files = 0;

	for (bool more = true; more && n_files < FILES_MAX;) {
		_cleanup_(diag_clear) struct diag_list diags = { 0 };
		const uint8_t *end = size ? memchr(data, SEPARATOR, size) : NULL;
		size_t length = end ? (size_t)(end - data) : size;
		/* A copy of its own: reading beyond its end is seen. */
		_cleanup_(freep) char *copy = malloc(length ? length : 1);
		int r;

		if (length)
			memcpy(copy, data, length);
		r = inifile_parse("fuzz", copy, length, &files[n_files], &diags);
		require(r == 0 || r == -EINVAL);
		require((r == 0) == (diags.count == 0));
		n_files += r == 0;
		more = end != NULL;
		data += end ? length + 1 : length;
		size -= end ? length + 1 : length;
	}
	build_all((const struct ini_file *const *)files, n_files);
	for (size_t i = 0; i < n_files; i++)
		ini_file_free(files[i]);
	return 0;
}
