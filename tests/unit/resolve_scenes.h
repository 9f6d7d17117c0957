/* SPDX-License-Identifier: MIT */
/* resolve_scenes: layers and the views that they must give. */
#pragma once

#include "fake.h"

#define END                                                                                        \
	{                                                                                          \
		NULL                                                                               \
	}

struct scene {
	const char *name;
	struct fake_layer layers[4]; /* up to one without a name */
	const char *kernel;
	const char *view; /* "path", "path > target"; sorted */
	int compat;       /* index of the compat layer that is used, -1: off */
	uint32_t set;
	enum policy_present present;
};

static const struct fake_file compat_files[] = {
	{ "lib/libcuda.so.1.1", NULL, "libcuda.so.1" },
	{ "lib/libcuda.so.1", "/compat/libcuda.so.1.1", "libcuda.so.1", .is_link = true },
	{ "lib/libcuda.so", "/compat/libcuda.so.1.1", "libcuda.so.1", .is_link = true },
	{ "lib/libnvidia-nvvm.so.535.1", NULL, "libnvidia-nvvm.so.4" },
	{ "lib/libnvidia-ml.so.535.1", NULL, "libnvidia-ml.so.1" },
	{ "lib/libnvrm_gpu.so", NULL, "libnvrm_gpu.so" },
	{ "lib/libnvcudla.so", NULL, "libnvcudla.so" },
	END,
};
static const struct fake_file host_files[] = {
	{ "lib/libcuda.so.470.1", NULL, "libcuda.so.1" },
	{ "lib/libcuda.so.1", "/host/libcuda.so.470.1", "libcuda.so.1", .is_link = true },
	{ "lib/libnvidia-nvvm.so.4.0.0", NULL, "libnvidia-nvvm.so.4" },
	{ "lib/libnvidia-ptxjitcompiler.so.470.1", NULL, "libnvidia-ptxjitcompiler.so.1" },
	{ "lib/libnvidia-ml.so.470.1", NULL, "libnvidia-ml.so.1" },
	{ "lib/libnvcudla.so", NULL, "libnvcudla.so" },
	{ "lib/libnvrm_gpu.so", NULL, "libnvrm_gpu.so" },
	END,
};
static const struct fake_file gl_files[] = {
	{ "lib/libcuda.so.550.1", NULL, "libcuda.so.1" },
	{ "lib/libGLX_nvidia.so.550.1", NULL, "libGLX_nvidia.so.0", "libnvidia-glcore.so.550.1" },
	{ "lib/libnvidia-glcore.so.550.1", NULL, "libnvidia-glcore.so.550.1",
		"libnvidia-gpucomp.so.550.1" },
	{ "lib/libnvidia-gpucomp.so.550.1", NULL, "libnvidia-gpucomp.so.550.1",
		"libnvidia-tileiras.so.550.1" },
	{ "lib/libnvidia-tileiras.so.550.1", NULL, "libnvidia-tileiras.so.550.1" },
	{ "lib/libnvidia-nvvm70.so.550.1", NULL, "libnvidia-nvvm70.so.550.1" },
	END,
};
static const struct fake_file just_cuda[] = { { "lib/libcuda.so.1.1", NULL, "libcuda.so.1" }, END };
static const struct fake_file two_versions[] = {
	{ "lib/libcuda.so.430.14", NULL, "libcuda.so.1" },
	{ "lib/libcuda.so.440.33.01", NULL, "libcuda.so.1" },
	{ "lib/libnvidia-ml.so.430.14", NULL, "libnvidia-ml.so.1" },
	{ "lib/libnvidia-ml.so.440.33.01", NULL, "libnvidia-ml.so.1" },
	{ "lib/libnvidia-glcore.so.430.14", NULL, "libnvidia-glcore.so.430.14" },
	{ "lib/libnvidia-glcore.so.440.33.01", NULL, "libnvidia-glcore.so.440.33.01" },
	END,
};
static const struct fake_file two_versions_linked[] = {
	{ "lib/libcuda.so.430.14", NULL, "libcuda.so.1" },
	{ "lib/libcuda.so.440.33.01", NULL, "libcuda.so.1" },
	{ "lib/libcuda.so.1", "/host/libcuda.so.430.14", "libcuda.so.1", .is_link = true },
	{ "lib/libnvidia-ml.so.430.14", NULL, "libnvidia-ml.so.1" },
	{ "lib/libnvidia-ml.so.440.33.01", NULL, "libnvidia-ml.so.1" },
	{ "lib/libnvidia-ml.so.1", "/host/libnvidia-ml.so.440.33.01", "libnvidia-ml.so.1",
		.is_link = true },
	END,
};
static const struct fake_file short_versions[] = {
	{ "lib/libcuda.so.9.2", NULL, "libcuda.so.1" },
	{ "lib/libcuda.so.10.1", NULL, "libcuda.so.1" },
	END,
};
static const struct fake_file copies[] = {
	{ "lib/libcuda.so", NULL, "libcuda.so.1" },
	{ "lib/libcuda.so.1", NULL, "libcuda.so.1" },
	{ "lib/libcuda.so.1.1", NULL, "libcuda.so.1" },
	END,
};
static const struct fake_file only_bare[] = { { "lib/libcuda.so", NULL, "libcuda.so.1" }, END };
static const struct fake_file tree[] = {
	{ "lib/libEGL.so.1.1.0", NULL, "libEGL.so.1" },
	{ "lib/libffi.so.7", NULL, "libffi.so.7" },
	{ "lib/libffi.so.8", NULL, "libffi.so.8" },
	{ "lib/libGLX_mesa.so.0", NULL, "libGLX_mesa.so.0" },
	{ "lib/libGLX_indirect.so.0", "/host/libGLX_mesa.so.0", "libGLX_mesa.so.0",
		.is_link = true },
	{ "lib/libgallium_a.so", NULL, "libgallium.so" },
	{ "lib/libgallium_b.so", NULL, "libgallium.so" },
	{ "lib/libgallium.so", NULL, "libgallium.so" },
	{ "lib/libscript.so", NULL, .plain = true },
	{ "lib/dri/a_dri.so", NULL, "libgallium.so" },
	{ "lib/dri/b_dri.so", NULL, "libgallium.so" },
	{ "lib/libm.so.6", NULL, "libm.so.6" },
	{ "lib/renamed.so", NULL, "libc.so.6" },
	{ "share/drirc.d/x.conf", NULL, .plain = true },
	{ ".gldriverfs/x", NULL, .plain = true },
	END,
};
static const struct fake_file store[] = {
	{ "lib/libcuda.so.1.1", "/nix/store/x/lib/libcuda.so.1.1", "libcuda.so.1" },
	{ "lib/libnvos.so", "/usr/lib/libnvos.so", "libnvos.so" },
	{ "share/vulkan/icd.d/n.json", "/nix/store/x/n.json", .plain = true },
	{ "share/a.txt", "/nix/store/x/a.txt", .plain = true },
	{ "etc/OpenCL/vendors/n.icd", "/nix/store/x/n.icd", .plain = true },
	{ "etc/n.icd", "/nix/store/x/o.icd", .plain = true },
	END,
};
static const struct fake_file odd_a[] = { { "lib/libx.so.1", NULL, "liby.so.1" },
	{ "share/x", NULL, .plain = true }, { "share/same", NULL, .plain = true }, END };
static const struct fake_file odd_b[] = { { "lib/libx.so.1.2", NULL, "libx.so.1" },
	{ "lib/libx.so", NULL, NULL }, { "share/x/y", NULL, .plain = true },
	{ "share/same", NULL, .plain = true }, END };
static const struct fake_file odd_c[] = { { "lib/libz.so.9.9", NULL, "libz.so.1" }, END };
static const struct fake_file odd_d[] = { { "lib/libz.so.9.9", NULL, "libz.so.2" }, END };
static const struct fake_file two_dirs[] = { { "lib/libcuda.so.1.1", "/b/libcuda.so.1.1",
						     "libcuda.so.1", .set = 1 },
	{ "lib/libcuda.so.1.1", "/a/libcuda.so.1.1", "libcuda.so.1", .set = 0 },
	{ "share/x", "/b/x", .plain = true, .set = 1 },
	{ "share/x", "/a/x", .plain = true, .set = 0 }, END };
static const struct fake_file tegra_files[] = {
	{ "lib/libnvrm_gpu.so", NULL, "libnvrm_gpu.so" },
	{ "lib/libnvidia-ml.so.1", NULL, "libnvidia-ml.so.1" },
	END,
};

#define COMPAT                                                                                     \
	{                                                                                          \
		.name = "compat", .role = ROLE_COMPAT, .files = compat_files                       \
	}
#define HOST                                                                                       \
	{                                                                                          \
		.name = "host", .role = ROLE_HOST, .files = host_files                             \
	}

static const struct scene scenes[] = {
	{ "compat on (A01)", { COMPAT, HOST }, NULL,
		"lib/libcuda.so > libcuda.so.1\n"
		"lib/libcuda.so.1 > libcuda.so.1.1\n"
		"lib/libcuda.so.1.1 = /compat/libcuda.so.1.1\n"
		"lib/libnvcudla.so = /compat/libnvcudla.so\n"
		"lib/libnvidia-ml.so > libnvidia-ml.so.1\n"
		"lib/libnvidia-ml.so.1 > libnvidia-ml.so.470.1\n"
		"lib/libnvidia-ml.so.470.1 = /host/libnvidia-ml.so.470.1\n"
		"lib/libnvidia-nvvm.so > libnvidia-nvvm.so.4\n"
		"lib/libnvidia-nvvm.so.4 > libnvidia-nvvm.so.535.1\n"
		"lib/libnvidia-nvvm.so.535.1 = /compat/libnvidia-nvvm.so.535.1\n"
		"lib/libnvrm_gpu.so = /host/libnvrm_gpu.so\n",
		0 },
	{ "compat on, after the host in order", { HOST, COMPAT }, NULL,
		"lib/libcuda.so > libcuda.so.1\n"
		"lib/libcuda.so.1 > libcuda.so.1.1\n"
		"lib/libcuda.so.1.1 = /compat/libcuda.so.1.1\n"
		"lib/libnvcudla.so = /compat/libnvcudla.so\n"
		"lib/libnvidia-ml.so > libnvidia-ml.so.1\n"
		"lib/libnvidia-ml.so.1 > libnvidia-ml.so.470.1\n"
		"lib/libnvidia-ml.so.470.1 = /host/libnvidia-ml.so.470.1\n"
		"lib/libnvidia-nvvm.so > libnvidia-nvvm.so.4\n"
		"lib/libnvidia-nvvm.so.4 > libnvidia-nvvm.so.535.1\n"
		"lib/libnvidia-nvvm.so.535.1 = /compat/libnvidia-nvvm.so.535.1\n"
		"lib/libnvrm_gpu.so = /host/libnvrm_gpu.so\n",
		1 },
	{ "compat off", { COMPAT, HOST }, NULL,
		"lib/libcuda.so > libcuda.so.1\n"
		"lib/libcuda.so.1 > libcuda.so.470.1\n"
		"lib/libcuda.so.470.1 = /host/libcuda.so.470.1\n"
		"lib/libnvcudla.so = /host/libnvcudla.so\n"
		"lib/libnvidia-ml.so > libnvidia-ml.so.1\n"
		"lib/libnvidia-ml.so.1 > libnvidia-ml.so.470.1\n"
		"lib/libnvidia-ml.so.470.1 = /host/libnvidia-ml.so.470.1\n"
		"lib/libnvidia-nvvm.so > libnvidia-nvvm.so.4\n"
		"lib/libnvidia-nvvm.so.4 > libnvidia-nvvm.so.4.0.0\n"
		"lib/libnvidia-nvvm.so.4.0.0 = /host/libnvidia-nvvm.so.4.0.0\n"
		"lib/libnvidia-ptxjitcompiler.so > libnvidia-ptxjitcompiler.so.1\n"
		"lib/libnvidia-ptxjitcompiler.so.1 > libnvidia-ptxjitcompiler.so.470.1\n"
		"lib/libnvidia-ptxjitcompiler.so.470.1 = /host/libnvidia-ptxjitcompiler.so.470.1\n"
		"lib/libnvrm_gpu.so = /host/libnvrm_gpu.so\n",
		-1 },
	{ "compat on, gpucomp stays for GL",
		{ { .name = "compat", .role = ROLE_COMPAT, .files = just_cuda },
			{ .name = "host", .role = ROLE_HOST, .files = gl_files } },
		NULL,
		"lib/libGLX_nvidia.so > libGLX_nvidia.so.0\n"
		"lib/libGLX_nvidia.so.0 > libGLX_nvidia.so.550.1\n"
		"lib/libGLX_nvidia.so.550.1 = /host/libGLX_nvidia.so.550.1\n"
		"lib/libcuda.so > libcuda.so.1\n"
		"lib/libcuda.so.1 > libcuda.so.1.1\n"
		"lib/libcuda.so.1.1 = /compat/libcuda.so.1.1\n"
		"lib/libnvidia-glcore.so > libnvidia-glcore.so.550.1\n"
		"lib/libnvidia-glcore.so.550.1 = /host/libnvidia-glcore.so.550.1\n"
		"lib/libnvidia-gpucomp.so.550.1 = /host/libnvidia-gpucomp.so.550.1\n"
		"lib/libnvidia-tileiras.so.550.1 = /host/libnvidia-tileiras.so.550.1\n",
		0 },
	{ "compat includes NVML",
		{ { .name = "compat",
			.role = ROLE_COMPAT,
			.files = compat_files,
			.include = "libnvidia-ml.so.1" } },
		NULL,
		"lib/libcuda.so > libcuda.so.1\n"
		"lib/libcuda.so.1 > libcuda.so.1.1\n"
		"lib/libcuda.so.1.1 = /compat/libcuda.so.1.1\n"
		"lib/libnvcudla.so = /compat/libnvcudla.so\n"
		"lib/libnvidia-ml.so > libnvidia-ml.so.1\n"
		"lib/libnvidia-ml.so.1 > libnvidia-ml.so.535.1\n"
		"lib/libnvidia-ml.so.535.1 = /compat/libnvidia-ml.so.535.1\n"
		"lib/libnvidia-nvvm.so > libnvidia-nvvm.so.4\n"
		"lib/libnvidia-nvvm.so.4 > libnvidia-nvvm.so.535.1\n"
		"lib/libnvidia-nvvm.so.535.1 = /compat/libnvidia-nvvm.so.535.1\n",
		0 },
	{ "the chosen set only",
		{ { .name = "compat",
			.role = ROLE_COMPAT,
			.sets = { "/a", "/b" },
			.files = two_dirs } },
		NULL,
		"lib/libcuda.so > libcuda.so.1\n"
		"lib/libcuda.so.1 > libcuda.so.1.1\n"
		"lib/libcuda.so.1.1 = /b/libcuda.so.1.1\n",
		0, 1 },
	{ "two directories of a host",
		{ { .name = "host",
			.role = ROLE_HOST,
			.sets = { "/a", "/b" },
			.files = two_dirs } },
		NULL,
		"lib/libcuda.so > libcuda.so.1\n"
		"lib/libcuda.so.1 > libcuda.so.1.1\n"
		"lib/libcuda.so.1.1 = /a/libcuda.so.1.1\n"
		"share/x = /a/x\n",
		-1 },
	{ "tegra before its order",
		{ HOST, { .name = "tegra", .role = ROLE_TEGRA, .files = tegra_files } }, NULL,
		"lib/libcuda.so > libcuda.so.1\n"
		"lib/libcuda.so.1 > libcuda.so.470.1\n"
		"lib/libcuda.so.470.1 = /host/libcuda.so.470.1\n"
		"lib/libnvcudla.so = /host/libnvcudla.so\n"
		"lib/libnvidia-ml.so > libnvidia-ml.so.1\n"
		"lib/libnvidia-ml.so.1 > libnvidia-ml.so.470.1\n"
		"lib/libnvidia-ml.so.470.1 = /host/libnvidia-ml.so.470.1\n"
		"lib/libnvidia-nvvm.so > libnvidia-nvvm.so.4\n"
		"lib/libnvidia-nvvm.so.4 > libnvidia-nvvm.so.4.0.0\n"
		"lib/libnvidia-nvvm.so.4.0.0 = /host/libnvidia-nvvm.so.4.0.0\n"
		"lib/libnvidia-ptxjitcompiler.so > libnvidia-ptxjitcompiler.so.1\n"
		"lib/libnvidia-ptxjitcompiler.so.1 > libnvidia-ptxjitcompiler.so.470.1\n"
		"lib/libnvidia-ptxjitcompiler.so.470.1 = /host/libnvidia-ptxjitcompiler.so.470.1\n"
		"lib/libnvrm_gpu.so = /tegra/libnvrm_gpu.so\n",
		-1 },
#define VERSION(v)                                                                                 \
	"lib/libcuda.so > libcuda.so.1\n"                                                          \
	"lib/libcuda.so.1 > libcuda.so." v "\n"                                                    \
	"lib/libcuda.so." v " = /host/libcuda.so." v "\n"
#define ML_VERSION(v)                                                                              \
	"lib/libnvidia-ml.so > libnvidia-ml.so.1\n"                                                \
	"lib/libnvidia-ml.so.1 > libnvidia-ml.so." v "\n"                                          \
	"lib/libnvidia-ml.so." v " = /host/libnvidia-ml.so." v "\n"
#define GLCORE_VERSION(v)                                                                          \
	"lib/libnvidia-glcore.so > libnvidia-glcore.so." v "\n"                                    \
	"lib/libnvidia-glcore.so." v " = /host/libnvidia-glcore.so." v "\n"
	{ "A10: the kernel's, lower",
		{ { .name = "host", .role = ROLE_HOST, .files = two_versions } }, "430.14",
		VERSION("430.14") GLCORE_VERSION("430.14") ML_VERSION("430.14"), -1 },
	{ "A10: the kernel's, higher",
		{ { .name = "host", .role = ROLE_HOST, .files = two_versions_linked } },
		"440.33.01", VERSION("440.33.01") ML_VERSION("440.33.01"), -1 },
	{ "A10: the highest", { { .name = "host", .role = ROLE_HOST, .files = two_versions } },
		NULL, VERSION("440.33.01") GLCORE_VERSION("440.33.01") ML_VERSION("440.33.01"),
		-1 },
	{ "A10: another kernel's", { { .name = "host", .role = ROLE_HOST, .files = two_versions } },
		"535.1", VERSION("440.33.01") GLCORE_VERSION("440.33.01") ML_VERSION("440.33.01"),
		-1 },
	{ "A10: libcuda's link, for all",
		{ { .name = "host", .role = ROLE_HOST, .files = two_versions_linked } }, NULL,
		VERSION("430.14") ML_VERSION("430.14"), -1 },
	{ "A10: numbers, not text",
		{ { .name = "host", .role = ROLE_HOST, .files = short_versions } }, NULL,
		VERSION("10.1"), -1 },
	{ "A08: copies", { { .name = "host", .role = ROLE_HOST, .files = copies } }, NULL,
		VERSION("1.1"), -1 },
	{ "A08: only libcuda.so", { { .name = "host", .role = ROLE_HOST, .files = only_bare } },
		NULL,
		"lib/libcuda.so = /host/libcuda.so\n"
		"lib/libcuda.so.1 > libcuda.so\n",
		-1 },
	{ "a tree", { { .name = "host", .role = ROLE_HOST, .files = tree, .curated = true } }, NULL,
		"lib/dri/a_dri.so = /host/a_dri.so\n"
		"lib/dri/b_dri.so = /host/b_dri.so\n"
		"lib/libEGL.so > libEGL.so.1\n"
		"lib/libEGL.so.1 > libEGL.so.1.1.0\n"
		"lib/libEGL.so.1.1.0 = /host/libEGL.so.1.1.0\n"
		"lib/libGLX_indirect.so.0 > libGLX_mesa.so.0\n"
		"lib/libGLX_mesa.so > libGLX_mesa.so.0\n"
		"lib/libGLX_mesa.so.0 = /host/libGLX_mesa.so.0\n"
		"lib/libffi.so > libffi.so.8\n"
		"lib/libffi.so.7 = /host/libffi.so.7\n"
		"lib/libffi.so.8 = /host/libffi.so.8\n"
		"lib/libgallium.so = /host/libgallium.so\n"
		"lib/libgallium_a.so = /host/libgallium_a.so\n"
		"lib/libgallium_b.so = /host/libgallium_b.so\n"
		"lib/libscript.so = /host/libscript.so\n"
		"share/drirc.d/x.conf = /host/x.conf\n",
		-1 },
	{ "present = auto", { { .name = "host", .role = ROLE_HOST, .files = store } }, NULL,
		"etc/OpenCL/vendors/n.icd = /nix/store/x/n.icd\n"
		"etc/n.icd > /nix/store/x/o.icd\n"
		"lib/libcuda.so > libcuda.so.1\n"
		"lib/libcuda.so.1 > libcuda.so.1.1\n"
		"lib/libcuda.so.1.1 > /nix/store/x/lib/libcuda.so.1.1\n"
		"lib/libnvos.so = /usr/lib/libnvos.so\n"
		"share/a.txt > /nix/store/x/a.txt\n"
		"share/vulkan/icd.d/n.json = /nix/store/x/n.json\n",
		-1, 0, PRESENT_AUTO },
	{ "present = file", { { .name = "host", .role = ROLE_HOST, .files = store } }, NULL,
		"etc/OpenCL/vendors/n.icd = /nix/store/x/n.icd\n"
		"etc/n.icd = /nix/store/x/o.icd\n"
		"lib/libcuda.so > libcuda.so.1\n"
		"lib/libcuda.so.1 > libcuda.so.1.1\n"
		"lib/libcuda.so.1.1 = /nix/store/x/lib/libcuda.so.1.1\n"
		"lib/libnvos.so = /usr/lib/libnvos.so\n"
		"share/a.txt = /nix/store/x/a.txt\n"
		"share/vulkan/icd.d/n.json = /nix/store/x/n.json\n",
		-1, 0, PRESENT_FILE },
	{ "present = symlink", { { .name = "host", .role = ROLE_HOST, .files = store } }, NULL,
		"etc/OpenCL/vendors/n.icd = /nix/store/x/n.icd\n"
		"etc/n.icd > /nix/store/x/o.icd\n"
		"lib/libcuda.so > libcuda.so.1\n"
		"lib/libcuda.so.1 > libcuda.so.1.1\n"
		"lib/libcuda.so.1.1 > /nix/store/x/lib/libcuda.so.1.1\n"
		"lib/libnvos.so > /usr/lib/libnvos.so\n"
		"share/a.txt > /nix/store/x/a.txt\n"
		"share/vulkan/icd.d/n.json = /nix/store/x/n.json\n",
		-1, 0, PRESENT_SYMLINK },
	{ "names that are others' SONAMEs, paths in the way",
		{ { .name = "a", .role = ROLE_HOST, .files = odd_a },
			{ .name = "b", .role = ROLE_EXTRA, .files = odd_b } },
		NULL,
		"lib/libx.so = /b/libx.so\n"
		"lib/libx.so.1 > libx.so.1.2\n"
		"lib/libx.so.1.2 = /b/libx.so.1.2\n"
		"lib/liby.so > liby.so.1\n"
		"lib/liby.so.1 = /a/libx.so.1\n"
		"share/same = /a/same\n"
		"share/x = /a/x\n",
		-1 },
	{ "a path wanted by two SONAMEs",
		{ { .name = "c", .role = ROLE_HOST, .files = odd_c },
			{ .name = "d", .role = ROLE_EXTRA, .files = odd_d } },
		NULL,
		"lib/libz.so > libz.so.1\n"
		"lib/libz.so.1 > libz.so.9.9\n"
		"lib/libz.so.2 = /d/libz.so.9.9\n"
		"lib/libz.so.9.9 = /c/libz.so.9.9\n",
		-1 },
};
