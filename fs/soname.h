/* SPDX-License-Identifier: MIT */
/* soname: knowledge about library names: which are the driver's, which never leave the host, which
 * form the CUDA set, how versions in names compare. Tables with sources. Core. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum soname_class {
	SONAME_DRIVER, /* a driver library (FACTS.md 5) */
	SONAME_ASK,    /* served only when an include names it without a wildcard */
	SONAME_NEVER,  /* the libc family: never, even if asked */
	SONAME_OTHER,  /* not a driver library: served when included */
};

/* Classifies a file name or SONAME ("libcuda.so.1.1"). */
enum soname_class soname_classify(const char *name);
/* Of the families that must come from one layer: libcuda, libcudadebugger, ptxjitcompiler … */
bool soname_is_cuda_set(const char *name);
/* What a compat layer may give beside the CUDA set: libnvcudla. */
bool soname_is_compat_extra(const char *name);
/* libnvrm*, libnvos and their kin: matched to the kernel, the tegra layer's first. */
bool soname_is_tegra(const char *name);
/* Temporary and leftover names: *.dpkg-new, *~, .#*, *.bak, *.gz … */
bool soname_is_temporary(const char *name);
/* Looks like a shared library: "lib….so" or "….so.N…". */
bool soname_is_library(const char *name);
/* Length of the part before ".so" ("libcuda" of "libcuda.so.1": 7); 0 where there is no ".so". */
size_t soname_stem(const char *name);
/* Both have a ".so" and the same stem. */
bool soname_same_stem(const char *a, const char *b);
/* The version behind ".so." ("535.129.03", "1.1", "1"), or NULL. Points into name. */
const char *soname_version(const char *name);
/* Compares dotted versions numerically part by part, as <0, 0, >0; missing parts are lower. */
int version_compare(const char *a, const char *b);
/* Number of dotted parts; 0 for NULL or "". */
size_t version_parts(const char *version);
/* Of the form that NVIDIA's drivers have: three digits, a dot, digits (535.129.03, 550.120). */
bool version_is_driver(const char *version);
