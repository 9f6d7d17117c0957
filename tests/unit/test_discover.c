/* SPDX-License-Identifier: MIT */
/* discover, csv and cdi layers. What releases look like is in tests/golden. */
#include "../compat/cmocka.h"

#include "discover_fixture.h"

static const struct discover_case cases[] = {
	{ .what = "a directory that the release file names, anywhere",
		.made = { TEXT("etc/nv_tegra_release",
				  R36 "TARGET_USERSPACE_LIB_DIR_PATH=opt/nv/lib\n"),
			ELF("opt/nv/lib/libcuda.so.1.1"), ELF("opt/nv/lib/libnvrm_gpu.so"),
			ELF("opt/nv/tegra-egl/libEGL_nvidia.so.0"),
			ELF(ARM "nvidia/libcuda.so.1.1"), ELF(ARM "nvidia/libnvrm_gpu.so") },
		.discover = DISCOVER_AUTO,
		.expected = "lib/libcuda.so.1.1 = /opt/nv/lib/libcuda.so.1.1\n"
			    "lib/libnvrm_gpu.so = /opt/nv/lib/libnvrm_gpu.so\n"
			    "lib/libEGL_nvidia.so.0 = /opt/nv/tegra-egl/libEGL_nvidia.so.0\n"
			    "+ /opt/nv/lib\n+ /opt/nv/tegra-egl\n" },
	{ .what = "the complete one wins over the one with libnvrm only; an empty libcuda is none",
		.made = { TEXT("etc/nv_tegra_release", R36), ELF(ARM "nvidia/libnvrm_gpu.so"),
			TEXT(ARM "nvidia/libcuda.so.1.1", ""), ELF(ARM "tegra/libcuda.so.1.1"),
			ELF(ARM "tegra/libnvrm.so") },
		.discover = DISCOVER_L4T,
		.expected = "lib/libcuda.so.1.1 = /" ARM "tegra/libcuda.so.1.1\n"
			    "lib/libnvrm.so = /" ARM "tegra/libnvrm.so\n"
			    "+ /" ARM "tegra\n" },
	{ .what = "what the release file names wins over the complete one of another JetPack",
		.made = { TEXT("etc/nv_tegra_release",
				  R36 "TARGET_USERSPACE_LIB_DIR_PATH=" ARM "nvidia\n"),
			ELF(ARM "nvidia/libnvrm_gpu.so"), ELF(ARM "tegra/libcuda.so.1.1"),
			ELF(ARM "tegra/libnvrm_gpu.so") },
		.discover = DISCOVER_L4T,
		.expected = "lib/libnvrm_gpu.so = /" ARM "nvidia/libnvrm_gpu.so\n"
			    "+ /" ARM "nvidia\n" },
	{ .what = "what it names has nothing of L4T",
		.made = { TEXT("etc/nv_tegra_release", R36 "TARGET_USERSPACE_LIB_DIR_PATH=x\n"),
			ELF("x/libcuda.so.1.1"), ELF(ARM "nvidia/libnvrm_gpu.so") },
		.discover = DISCOVER_L4T,
		.expected = "lib/libnvrm_gpu.so = /" ARM "nvidia/libnvrm_gpu.so\n"
			    "+ /" ARM "nvidia\n" },
	{ .what = "it names a directory of the root: plug-ins are beside it",
		.made = { TEXT("etc/nv_tegra_release", R36 "TARGET_USERSPACE_LIB_DIR_PATH=x\n"),
			ELF("x/libnvrm_gpu.so"), ELF("gbm/tegra_gbm.so"),
			ELF("tegra-egl/libEGL_nvidia.so.0") },
		.discover = DISCOVER_L4T,
		.expected = "lib/libnvrm_gpu.so = /x/libnvrm_gpu.so\n"
			    "lib/libEGL_nvidia.so.0 = /tegra-egl/libEGL_nvidia.so.0\n"
			    "lib/gbm/tegra_gbm.so = /gbm/tegra_gbm.so\n"
			    "+ /x\n+ /tegra-egl\n+ /\n" },
	{ .what = "tegra as a link is taken once",
		.made = { ELF(ARM "nvidia/libnvrm_gpu.so"), LINK(ARM "tegra", "nvidia"),
			LINK(ARM "tegra-egl", "tegra") },
		.discover = DISCOVER_AUTO,
		.expected = "lib/libnvrm_gpu.so = /" ARM "nvidia/libnvrm_gpu.so\n"
			    "+ /" ARM "nvidia\n" },
	{ .what = "R39's GPU libraries and no SoC",
		.made = { ELF(ARM "nvidia/libnvrm_gpu.so"), ELF(GPU "nvgpu/libcuda.so.1.1"),
			ELF(GPU "openrm/libcuda.so.1.1") },
		.discover = DISCOVER_AUTO,
		.expected =
			"lib/libnvrm_gpu.so = /" ARM "nvidia/libnvrm_gpu.so\n"
			"+ /" ARM "nvidia\n"
			"/proc/device-tree/compatible: warning: layer test: it names no SoC, so "
			"neither /opt/nvidia/l4t-gpu-libs/nvgpu nor "
			"/opt/nvidia/l4t-gpu-libs/openrm is taken\n" },
	{ .what = "R39's GPU libraries, only one is there",
		.made = { ELF(ARM "nvidia/libnvrm_gpu.so"), ELF(GPU "openrm/libcuda.so.1.1") },
		.discover = DISCOVER_AUTO,
		.expected = "lib/libcuda.so.1.1 = /" GPU "openrm/libcuda.so.1.1\n"
			    "lib/libnvrm_gpu.so = /" ARM "nvidia/libnvrm_gpu.so\n"
			    "+ /" GPU "openrm\n+ /" ARM "nvidia\n" },
	{ .what = "another machine's root; the SoC is this one's",
		.made = { ELF("jetson/" ARM "nvidia/libnvrm_gpu.so"),
			ELF("jetson/" GPU "nvgpu/libcuda.so.1.1"),
			ELF("jetson/" GPU "openrm/libcuda.so.1.1"),
			TEXT("proc/device-tree/compatible", "nvidia,tegra264") },
		.discover = DISCOVER_AUTO,
		.root = "/jetson",
		.expected = "lib/libcuda.so.1.1 = /jetson/" GPU "openrm/libcuda.so.1.1\n"
			    "lib/libnvrm_gpu.so = /jetson/" ARM "nvidia/libnvrm_gpu.so\n"
			    "+ /" GPU "openrm\n+ /" ARM "nvidia\n" },
	{ .what = "a cache: the first libcuda's directory first, no compat, no other machine's",
		.made = { ELF("b/libcuda.so.1"), ELF("b/libz.so.1"), ELF("a/libnvidia-ml.so.1"),
			ELF("compat/libcuda.so.1"), ELF("compat/lib/libcuda.so.1"),
			ELF("arm/libcuda.so.1"), ELF("z/libz.so.1"), ELF("compatible/libnvdc.so") },
		.discover = DISCOVER_LDCACHE,
		.cache = { .endian = 2,
			.entries = { { "/z/libz.so.1", LDCACHE_X86_64, 0 },
				{ "/a/libnvidia-ml.so.1", LDCACHE_X86_64, 0 },
				{ "/compatible/libnvdc.so", LDCACHE_X86_64, 0 },
				{ "/compat/libcuda.so.1", LDCACHE_X86_64, 0 },
				{ "/compat/lib/libcuda.so.1", LDCACHE_X86_64, 0 },
				{ "/b/libcuda.so.1", LDCACHE_X86_64, 0 },
				{ "/arm/libcuda.so.1", LDCACHE_AARCH64, 0 } } },
		.expected = "lib/libcuda.so.1 = /b/libcuda.so.1\n"
			    "lib/libnvidia-ml.so.1 = /a/libnvidia-ml.so.1\n"
			    "lib/libnvdc.so = /compatible/libnvdc.so\n"
			    "+ /b\n+ /a\n+ /compatible\n" },
	{ .what = "no cache: the usual directories",
		.made = { ELF("usr/lib64/libcuda.so.1"),
			ELF("usr/lib/x86_64-linux-gnu/nvidia/current/libcuda.so.1"),
			TEXT("usr/share/vulkan/icd.d/nvidia_icd.json", "{}"),
			TEXT("usr/share/vulkan/icd.d/x.json", "{}"),
			TEXT("usr/share/vulkan/icd.d/y.json", "{}"),
			TEXT("etc/OpenCL/vendors/nvidia.icd", "libnvidia-opencl.so.1") },
		.discover = DISCOVER_AUTO,
		.includes = { VALUE("y.json") },
		.excludes = { VALUE("nvidia.icd") },
		.expected = "lib/libcuda.so.1 = "
			    "/usr/lib/x86_64-linux-gnu/nvidia/current/libcuda.so.1\n"
			    "lib/libcuda.so.1 = /usr/lib64/libcuda.so.1\n"
			    "share/vulkan/icd.d/nvidia_icd.json = "
			    "/usr/share/vulkan/icd.d/nvidia_icd.json\n"
			    "share/vulkan/icd.d/y.json = /usr/share/vulkan/icd.d/y.json\n"
			    "+ /usr/lib/x86_64-linux-gnu/nvidia/current\n+ /usr/lib64\n"
			    "+ /usr/share/vulkan/icd.d\n" },
	{ .what = "nothing, where it may be missing",
		.discover = DISCOVER_LDCACHE,
		.optional = true,
		.expected = "- discover = ldcache\n" },
	{ .what = "nothing, where it may not",
		.discover = DISCOVER_L4T,
		.result = -ENOENT,
		.expected = "error: layer test: discover = l4t finds no L4T driver directory\n" },
	{ .what = "wildcards: in directories, of names that have some, hidden ones",
		.made = { ELF("a/one/libnvos.so"), ELF("a/two/libnvdc.so"),
			ELF("a/.three/libnvvic.so"), ELF("a/one/libnvmm*.so"),
			ELF("a/one/libnvmm[1].so"), ELF("a/two/libnvmm1.so"),
			TEXT("l.csv", "lib, /a/*//libnv*.so\nlib, /a/two/libnv??.so\n"
				      "lib, /none/*/x.so\nlib, /a/*/\nlib, /*\n") },
		.csvs = { VALUE("/l.csv") },
		.expected = "lib/libnvdc.so = /a/two/libnvdc.so\n"
			    "lib/libnvmm*.so = /a/one/libnvmm*.so\n"
			    "lib/libnvmm1.so = /a/two/libnvmm1.so\n"
			    "lib/libnvmm[1].so = /a/one/libnvmm[1].so\n"
			    "lib/libnvos.so = /a/one/libnvos.so\n"
			    "+ /l.csv\n" },
	{ .what = "wildcards deeper than there are descriptors",
		.made = { ELF(EIGHT(EIGHT("d")) "/libnvos.so"),
			TEXT("l.csv", "lib, /" EIGHT(EIGHT("*")) "/libnv*.so\n") },
		.csvs = { VALUE("/l.csv") },
		.descriptors = 24,
		.expected = "lib/libnvos.so = /" EIGHT(EIGHT("d")) "/libnvos.so\n+ /l.csv\n" },
	{ .what = "two files for one place: the first; a link's target under its own name",
		.made = { ELF("a/libnvidia-ml.so.550.1"), ELF("b/libnvos.so", .soname = "x"),
			ELF("a/libnvos.so"), LINK("a/libnvidia-ml.so.1", "libnvidia-ml.so.550.1"),
			TEXT("lists/1.csv", "lib, /a/libnvos.so\nsym, /a/libnvidia-ml.so.1\n"),
			TEXT("lists/2.csv", "lib, /b/libnvos.so\nlib, /a/libnvidia-ml.so.550.1"),
			TEXT("lists/3.csv~", "lib, /c"), LINK("lists/4.csv", "none") },
		.csvs = { VALUE("/lists") },
		.expected =
			"lib/libnvidia-ml.so.1 -> libnvidia-ml.so.550.1 = "
			"/a/libnvidia-ml.so.550.1\n"
			"lib/libnvidia-ml.so.550.1 = /a/libnvidia-ml.so.550.1\n"
			"lib/libnvos.so = /a/libnvos.so\n"
			"! /b/libnvos.so: another file of the list has its place: /a/libnvos.so\n"
			"+ /lists\n" },
	{ .what = "lists are inside the layer's root",
		.made = { ELF("libnvos.so"), ELF("jetson/usr/libnvdc.so"),
			LINK("jetson/usr/libnvvic.so", "/../../libnvos.so"),
			TEXT("jetson/l.csv", "lib, /usr/*.so\nlib, /libnvos.so\n") },
		.csvs = { VALUE("/l.csv") },
		.root = "/jetson",
		.expected = "lib/libnvdc.so = /jetson/usr/libnvdc.so\n"
			    "! /jetson/usr/libnvvic.so: it is a link to /../../libnvos.so, which "
			    "leads nowhere inside /jetson\n"
			    "+ /l.csv\n" },
	{ .what = "a list that is missing",
		.csvs = { VALUE_AT("/none.csv", "x.conf", 3) },
		.result = -ENOENT,
		.expected = "x.conf:3: error: layer test: /none.csv does not exist\n" },
	{ .what = "a list that is no file is a warning, never fatal",
		.made = { FIFO("l.csv") },
		.csvs = { VALUE_AT("/l.csv", "x.conf", 3) },
		.expected = "+ /l.csv\n/l.csv: warning: it cannot be read: it is not a regular "
			    "file\n" },
	{ .what = "a spec in YAML",
		.made = { TEXT("n.yaml", "cdiVersion: 0.5.0\n") },
		.cdis = { VALUE_AT("/n.yaml", "x.conf", 3) },
		.optional = true,
		.expected = "+ /n.yaml\nx.conf:3: warning: layer test: /n.yaml: it is not JSON; a "
			    "CDI spec in YAML is not read (nvidia-ctk cdi generate --format=json "
			    "writes JSON)\n" },
};

static void test_cases(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		discover_run_case(&cases[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cases),
	};

	return cmocka_run_group_tests_name("discover", tests, NULL, NULL);
}
