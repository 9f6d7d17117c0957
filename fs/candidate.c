/* SPDX-License-Identifier: MIT */
#include "candidate.h"

#include <fnmatch.h>
#include <string.h>

#include "soname.h"
#include "util.h"

const char *candidate_library(const struct candidate *candidate)
{
	const char *name = candidate->path + 4;

	if (!candidate->source->is_elf || !string_has_prefix(candidate->path, "lib/") ||
		strchr(name, '/'))
		return NULL;
	return name;
}

const char *candidate_key(const struct candidate *candidate)
{
	const char *name = candidate_library(candidate);

	return name && candidate->source->elf.soname ? candidate->source->elf.soname : name;
}

const char *candidate_version(const struct candidate *candidate)
{
	const char *name = path_base(candidate->path);
	const char *file = path_base(candidate->source->path);
	const char *version = soname_version(name);

	if (soname_same_stem(name, file) &&
		version_parts(soname_version(file)) > version_parts(version))
		return soname_version(file);
	return version;
}

bool candidate_is_same(const struct candidate *a, const struct candidate *b)
{
	const struct file_identity *left = &a->source->identity;
	const struct file_identity *right = &b->source->identity;

	if (a->source == b->source || memcmp(left, right, sizeof(*left)) == 0)
		return true;
	return left->build_id_size > 0 && left->build_id_size == right->build_id_size &&
	       left->size == right->size &&
	       memcmp(left->build_id, right->build_id, left->build_id_size) == 0;
}

bool candidate_is_compat(const struct policy_layer *policy, const struct candidate *candidate)
{
	const char *key = candidate_key(candidate);
	const char *name = path_base(candidate->path);

	if (key && (soname_is_cuda_set(key) || soname_is_compat_extra(key)))
		return true;
	for (size_t i = 0; i < policy->includes.count; i++) {
		const char *pattern = policy->includes.items[i].text;

		if (fnmatch(pattern, name, 0) == 0 || (key && fnmatch(pattern, key, 0) == 0))
			return true;
	}
	return false;
}
