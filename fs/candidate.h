/* SPDX-License-Identifier: MIT */
/* candidate: questions about one candidate of a layer that decide and resolve both ask. Core. */
#pragma once

#include "layer.h"

/* The name of an ELF file directly in lib/, NULL for any other place. Points into the path. */
const char *candidate_library(const struct candidate *candidate);
/* What owns the library: its SONAME, else its name; NULL where it is no library. */
const char *candidate_key(const struct candidate *candidate);
/* The version in its file name, or in that of the file it leads to where that tells more
 * ("535.129.03" for a link libcuda.so.1); NULL: none. */
const char *candidate_version(const struct candidate *candidate);
/* One file, or copies of one: equal identities, or equal sizes and build-ids. */
bool candidate_is_same(const struct candidate *a, const struct candidate *b);
/* Whether a compat layer gives it: of the CUDA set, libnvcudla, or named by an include. */
bool candidate_is_compat(const struct policy_layer *policy, const struct candidate *candidate);
