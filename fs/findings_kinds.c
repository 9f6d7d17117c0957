/* SPDX-License-Identifier: MIT */
/* findings: the kinds, as a table. The CUDA errors are FACTS.md 7's (cuda.h, CUresult). */
#include <stdlib.h>
#include <string.h>

#include "findings.h"

/* Sorted by id. */
static const struct finding_kind kinds[] = {
	{ "compat-device", "CUDA programs fail with error 804 (compat not supported on device)",
		"set compat.mode = auto or off, or take the compat package that is made for this "
		"machine" },
	{ "compat-jetpack", "CUDA programs fail with error 801 (not supported)",
		"take a compat package whose CUDA version this JetPack supports, or set "
		"compat.mode = auto" },
	{ "compat-older", "CUDA programs fail with error 803 (driver mismatch)",
		"set compat.mode = auto or off: the host's own driver is the better one" },
	{ "compat-unknown",
		"CUDA programs that need a newer CUDA than the host's may fail with error 35 "
		"(insufficient driver), or with 803 if compat is on",
		"write 'cuda = MAJOR.MINOR' into the host's and the compat layer, or set "
		"driver-probe = yes, or compat.mode to on or off" },
	{ "cuda-load",
		"no CUDA program can load libcuda: 'cannot open shared object file', which many "
		"show as error 100 (no device) or 35 (insufficient driver)",
		"add the directory that has the library to a layer of role host or tegra" },
	{ "dangling-link", "the name is not served",
		"install the package that has the link's target again, or remove the link" },
	{ "driver-probe", "the CUDA version is taken from names, notes and tables only",
		"write 'cuda = MAJOR.MINOR' into the layer if the version is not known otherwise" },
	{ "duplicate", "none: one layer gives the library, as intended",
		"nothing; 'gldriverctl explain NAME' tells which file is served and why" },
	{ "duplicate-role",
		"which file programs get depends on the order of two layers of one role; a mix of "
		"drivers gives errors 803 (driver mismatch), 221 or 222",
		"set 'order' in both layers, or 'exclude' the libraries in one of them" },
	{ "gpu-stack", "CUDA programs fail with error 100 (no device)",
		"give the host layer the directory of the GPU stack that this SoC needs" },
	{ "kernel-mismatch",
		"CUDA programs fail with error 803 (driver mismatch) where they meet the libraries "
		"that are not of the loaded kernel module",
		"reboot, so that the kernel module of the installed driver is loaded, or remove "
		"the other version's libraries" },
	{ "layer-unread", "what the layer has beyond that is not served",
		"see to the directory, or narrow the layer" },
	{ "link-loop", "the name is not served", "remove the link, or make it lead to a file" },
	{ "manifest-outside",
		"whoever reads the file looks for the library outside the mount, and may find none "
		"or another driver's",
		"add the directory that has the library to a layer, or 'exclude' the file" },
	{ "missing-libnvrm",
		"CUDA programs fail when they load it: 'cannot open shared object file' or error "
		"100 (no device)",
		"install nvidia-l4t-core, or add the directory that has it to a layer of role host "
		"or tegra" },
	{ "missing-library",
		"a program that loads the library that needs it fails: 'cannot open shared object "
		"file'",
		"add the directory that has it to a layer, or 'exclude' the library that needs "
		"it" },
	{ "no-compat",
		"CUDA programs that need a newer CUDA than the host's fail with error 35 "
		"(insufficient driver)",
		"install a cuda_compat package, or set compat.mode = auto" },
	{ "no-libcuda", "CUDA programs do not find libcuda.so.1",
		"install the driver, or name its directory in a layer" },
	{ "note-invalid", "the package's own word on which hosts it runs on is not heard",
		"report it to whoever made the package; compat.mode = on or off decides" },
	{ "policy", "the policy is not used: what was served before stays",
		"correct the file at the line that is named" },
	{ "program-library", "none, if the program brings it, as programs do",
		"where a program fails to load it: 'include' it by name in the layer that has it" },
	{ "reflexive-link", "the name is not served",
		"remove the link, or make it lead to a file" },
	{ "sets", "a program that runs since long may fail to load more of its driver",
		"restart the programs that use the GPU" },
	{ "several-versions", "only one version of each library is served",
		"remove the other version's files, or 'exclude' them" },
	{ "tables", "an installed table is not used: older knowledge stays in force",
		"correct the file at the line that is named, or remove it" },
	{ "unwatched", "changes there are not followed: they are seen at the next reload",
		"raise the limit that is named (sysctl) and reload, or reload after changes" },
};

static int compare(const void *id, const void *kind)
{
	return strcmp(id, ((const struct finding_kind *)kind)->id);
}

const struct finding_kind *finding_kind(const char *id)
{
	return bsearch(id, kinds, ARRAY_SIZE(kinds), sizeof(kinds[0]), compare);
}

const struct finding_kind *finding_kinds(size_t *ret_count)
{
	*ret_count = ARRAY_SIZE(kinds);
	return kinds;
}
