/* SPDX-License-Identifier: MIT */
/* discover, csv and cdi layers of a system mount: what others than root can write is not read, not
 * served, and chooses nothing. */
#include "../compat/cmocka.h"

#include "discover_fixture.h"

static const struct discover_case cases[] = {
	{ .what = "who can write the list decides what is served",
		.made = { ELF("a/libnvos.so"), TEXT("l.csv", "lib, /a/libnvos.so\n") },
		.csvs = { VALUE("/l.csv") },
		.open_file = "l.csv",
		.check_trust = true,
		.expected = "+ /l.csv\n/l.csv: warning: it is not read: /l.csv can be changed by "
			    "others than root (trust = yes in the layer reads it)\n" },
	{ .what = "a file that a list names",
		.made = { ELF("a/libnvos.so"), TEXT("l.csv", "lib, /a/libnvos.so\n") },
		.csvs = { VALUE("/l.csv") },
		.open_file = "a/libnvos.so",
		.check_trust = true,
		.expected = "! /a/libnvos.so: it could be replaced by another user: /a/libnvos.so "
			    "can be changed by others than root (trust = yes in the layer serves "
			    "it)\n+ /l.csv\n" },
	{ .what = "what may not be served makes no directory the complete one",
		.made = { TEXT("etc/nv_tegra_release", R36), ELF(ARM "nvidia/libnvrm_gpu.so"),
			ELF(ARM "nvidia/libcuda.so.1.1"), ELF(ARM "tegra/libcuda.so.1.1"),
			ELF(ARM "tegra/libnvrm.so") },
		.discover = DISCOVER_L4T,
		.open_file = ARM "nvidia/libcuda.so.1.1",
		.check_trust = true,
		.expected = "lib/libcuda.so.1.1 = /" ARM "tegra/libcuda.so.1.1\n"
			    "lib/libnvrm.so = /" ARM "tegra/libnvrm.so\n"
			    "+ /" ARM "tegra\n" },
	{ .what = "of two GPU directories and no SoC the one that may be served",
		.made = { ELF(ARM "nvidia/libnvrm_gpu.so"), ELF(GPU "nvgpu/libcuda.so.1.1"),
			ELF(GPU "openrm/libcuda.so.1.1") },
		.discover = DISCOVER_L4T,
		.open_file = GPU "nvgpu/libcuda.so.1.1",
		.check_trust = true,
		.expected = "lib/libcuda.so.1.1 = /" GPU "openrm/libcuda.so.1.1\n"
			    "lib/libnvrm_gpu.so = /" ARM "nvidia/libnvrm_gpu.so\n"
			    "+ /" GPU "openrm\n+ /" ARM "nvidia\n" },
	{ .what = "who can write the SoC's name chooses no GPU directory",
		.made = { ELF(ARM "nvidia/libnvrm_gpu.so"), ELF(GPU "nvgpu/libcuda.so.1.1"),
			ELF(GPU "openrm/libcuda.so.1.1"),
			TEXT("proc/device-tree/compatible", "nvidia,tegra264") },
		.discover = DISCOVER_L4T,
		.open_file = "proc/device-tree/compatible",
		.check_trust = true,
		.expected =
			"lib/libnvrm_gpu.so = /" ARM "nvidia/libnvrm_gpu.so\n"
			"! /proc/device-tree/compatible: it is not read: "
			"/proc/device-tree/compatible can be changed by others than root (trust = "
			"yes in the layer reads it)\n"
			"+ /" ARM "nvidia\n"
			"/proc/device-tree/compatible: warning: layer test: it names no SoC, so "
			"neither /opt/nvidia/l4t-gpu-libs/nvgpu nor "
			"/opt/nvidia/l4t-gpu-libs/openrm is taken\n" },
	{ .what = "where nothing else is there it says why",
		.made = { ELF(ARM "nvidia/libnvrm_gpu.so") },
		.discover = DISCOVER_L4T,
		.open_file = ARM "nvidia/libnvrm_gpu.so",
		.check_trust = true,
		.expected = "! /" ARM "nvidia/libnvrm_gpu.so: it could be replaced by another "
			    "user: /" ARM "nvidia/libnvrm_gpu.so can be changed by others than "
			    "root (trust = yes in the layer serves it)\n"
			    "+ /" ARM "nvidia\n" },
	{ .what = "a manifest is not read in order to know whose it is",
		.made = { ELF(ARM "nvidia/libnvrm_gpu.so"),
			TEXT("usr/share/vulkan/icd.d/x.json",
				"{\"ICD\":{\"library_path\":\"libvulkan_x.so\"}}"),
			TEXT("usr/share/vulkan/icd.d/y.json",
				"{\"ICD\":{\"library_path\":\"libvulkan_y.so\"}}") },
		.discover = DISCOVER_L4T,
		.open_file = "usr/share/vulkan/icd.d/x.json",
		.check_trust = true,
		.expected = "lib/libnvrm_gpu.so = /" ARM "nvidia/libnvrm_gpu.so\n"
			    "! /usr/share/vulkan/icd.d/x.json: it could be replaced by another "
			    "user: /usr/share/vulkan/icd.d/x.json can be changed by others than "
			    "root (trust = yes in the layer serves it)\n"
			    "+ /" ARM "nvidia\n+ /usr/share/vulkan/icd.d\n" },
	{ .what = "the cache",
		.made = { ELF("a/libcuda.so.1") },
		.discover = DISCOVER_LDCACHE,
		.cache = { .entries = { { "/a/libcuda.so.1", LDCACHE_X86_64, 0 } } },
		.open_file = "etc/ld.so.cache",
		.optional = true,
		.check_trust = true,
		.expected = "! /etc/ld.so.cache: it is not read: /etc/ld.so.cache can be changed "
			    "by others than root (trust = yes in the layer reads it)\n"
			    "- discover = ldcache\n" },
};

static void test_cases(void **state)
{
	(void)state;
	if (geteuid() != 0)
		skip();
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		discover_run_case(&cases[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cases),
	};

	return cmocka_run_group_tests_name("discover_trust", tests, NULL, NULL);
}
