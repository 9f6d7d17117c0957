/* SPDX-License-Identifier: MIT */
/* scan: made-up directories to candidates and rejections, each as one line of text. */
#include "../compat/cmocka.h"

#include <errno.h>

#include "scan_fixture.h"

struct scan_case {
	const char *what;
	struct made made[16];
	struct policy_value dirs[3], trees[3], includes[3], excludes[3];
	const char *root;
	bool optional, trust, check_trust;
	int result;
	const char *expected;
};

static const struct scan_case cases[] = {
	{ .what = "links and files of one library",
		.made = { ELF("host/libcuda.so.1.1", .soname = "libcuda.so.1"),
			LINK("host/libcuda.so.1", "libcuda.so.1.1"),
			LINK("host/libcuda.so", "libcuda.so.1"), TEXT("host/readme.txt", "x"),
			ELF("host/libfoo.so.1"), ELF("host/libstdc++.so.6") },
		.dirs = { VALUE("/host") },
		.expected = "lib/libcuda.so -> libcuda.so.1 = /host/libcuda.so.1.1\n"
			    "lib/libcuda.so.1 -> libcuda.so.1.1 = /host/libcuda.so.1.1\n"
			    "lib/libcuda.so.1.1 = /host/libcuda.so.1.1\n" },
	{ .what = "a link that leads out of the directory",
		.made = { ELF("opt/nv/libcuda.so.1.1"),
			LINK("host/libcuda.so.1", "/opt/nv/libcuda.so.1.1") },
		.dirs = { VALUE("/host") },
		.expected = "lib/libcuda.so.1 -> /opt/nv/libcuda.so.1.1 = "
			    "/opt/nv/libcuda.so.1.1\n" },
	{ .what = "A06: empty, cut short, text",
		.made = { TEXT("host/libcuda.so.1", ""), CUT("host/libnvos.so", 100),
			CUT("host/libnvcuvid.so.1", 40), TEXT("host/libnvidia-ml.so.1", "hello"),
			CUT("host/libnvdc.so", 230) },
		.dirs = { VALUE("/host") },
		.expected = "! /host/libcuda.so.1: the file is empty\n"
			    "! /host/libnvcuvid.so.1: the file is cut short\n"
			    "! /host/libnvdc.so: the file is cut short\n"
			    "! /host/libnvidia-ml.so.1: the file is not an ELF file\n"
			    "! /host/libnvos.so: the file is cut short\n" },
	{ .what = "A07: stubs, also by a link",
		.made = { ELF("cuda/lib64/stubs/libcuda.so", .soname = "libcuda.so.1"),
			LINK("host/libcuda.so.1", "../cuda/lib64/stubs/libcuda.so"),
			LINK("elsewhere", "cuda/lib64/stubs"), DIRECTORY("a/stubs"),
			ELF("real/libcuda.so"), LINK("b/stubs", "../real") },
		.dirs = { VALUE("/host"), VALUE("/elsewhere"), VALUE("/b/stubs") },
		.expected = "! /b/stubs/libcuda.so: it is a stub: a directory of its path is named "
			    "stubs\n"
			    "! /elsewhere/libcuda.so: it is a stub: a directory of its path is "
			    "named stubs\n"
			    "! /host/libcuda.so.1: it is a stub: a directory of its path is named "
			    "stubs\n" },
	{ .what = "A09: wrong machine, class, type, byte order",
		.made = { ELF("host/libcuda.so.1", .machine = EM_AARCH64),
			ELF("host/libnvos.so", .class = ELFCLASS32, .machine = EM_386),
			ELF("host/libnvcuvid.so.1", .type = ET_EXEC),
			ELF("host/libnvidia-cfg.so.1", .pie = true),
			ELF("host/libnvidia-ml.so.1", .big_endian = true),
			ELF("host/libnvidia-fbc.so.1", .type = ET_REL),
			ELF("host/libnvdc.so", .machine = 999) },
		.dirs = { VALUE("/host") },
		.expected = "! /host/libcuda.so.1: it is for aarch64, this view is for x86_64\n"
			    "! /host/libnvcuvid.so.1: it is an executable\n"
			    "! /host/libnvdc.so: it is for machine 999 (64 bits), this view is for "
			    "x86_64\n"
			    "! /host/libnvidia-cfg.so.1: it is an executable\n"
			    "! /host/libnvidia-fbc.so.1: it is an object file\n"
			    "! /host/libnvidia-ml.so.1: it is for a big-endian machine\n"
			    "! /host/libnvos.so: it is for i386, this view is for x86_64\n" },
	{ .what = "A11: dangling, looping, directories, FIFOs",
		.made = { LINK("host/libcuda.so.1", "missing"),
			LINK("host/libnvos.so", "libnvos.so"),
			LINK("host/libnvdc.so", "libnvll.so"),
			LINK("host/libnvll.so", "libnvdc.so"), DIRECTORY("host/libnvvic.so"),
			FIFO("host/libnvimp.so"), LINK("host/tegra", ".") },
		.dirs = { VALUE("/host/tegra/tegra") },
		.expected =
			"! /host/tegra/tegra/libcuda.so.1: it is a link to missing, which leads "
			"nowhere\n"
			"! /host/tegra/tegra/libnvdc.so: it is a link that leads in a circle\n"
			"! /host/tegra/tegra/libnvimp.so: it is a FIFO\n"
			"! /host/tegra/tegra/libnvll.so: it is a link that leads in a circle\n"
			"! /host/tegra/tegra/libnvos.so: it is a link to itself\n"
			"! /host/tegra/tegra/libnvvic.so: it is a directory\n" },
	{ .what = "A13: only what is asked for, and never the C library",
		.made = { ELF("host/libdrm.so.2"), ELF("host/libgcc_s.so.1"), ELF("host/libc.so.6"),
			ELF("host/libfoo.so"), ELF("host/libnvos.so") },
		.dirs = { VALUE("/host") },
		.includes = { VALUE("lib*"), VALUE("libdrm.so.2"), VALUE("libc.so.6") },
		.excludes = { VALUE("libnv*") },
		.expected = "lib/libdrm.so.2 = /host/libdrm.so.2\n"
			    "lib/libfoo.so = /host/libfoo.so\n"
			    "! /host/libc.so.6: it belongs to the C library, which is never "
			    "served\n" },
	{ .what = "temporary names",
		.made = { ELF("host/libcuda.so.1.dpkg-new"), ELF("host/libcuda.so.1~"),
			ELF("host/.#libcuda.so.1"), ELF("tree/lib/libcuda.so.1~"),
			TEXT("tree/share/x.json.bak", "{}") },
		.dirs = { VALUE("/host") },
		.trees = { VALUE("/tree") },
		.expected = "" },
	{ .what = "plug-ins beside the libraries",
		.made = { ELF("host/libnvidia-allocator.so.1"),
			LINK("host/gbm/nvidia-drm_gbm.so", "../libnvidia-allocator.so.1"),
			ELF("host/gbm/dri_gbm.so"), ELF("host/dri/nvidia_drv_video.so"),
			ELF("host/dri/i965_dri.so"), ELF("host/vdpau/libvdpau_nvidia.so.1"),
			ELF("host/vdpau/libvdpau_r600.so.1"), ELF("host/vdpau/nvidia.so") },
		.dirs = { VALUE("/host") },
		.expected = "lib/dri/nvidia_drv_video.so = /host/dri/nvidia_drv_video.so\n"
			    "lib/gbm/nvidia-drm_gbm.so -> ../libnvidia-allocator.so.1 = "
			    "/host/libnvidia-allocator.so.1\n"
			    "lib/libnvidia-allocator.so.1 = /host/libnvidia-allocator.so.1\n"
			    "lib/vdpau/libvdpau_nvidia.so.1 = /host/vdpau/libvdpau_nvidia.so.1\n" },
	{ .what = "a tree",
		.made = { ELF("tree/lib/libGL.so.1"), ELF("tree/lib/dri/iris_dri.so"),
			TEXT("tree/lib/libfoo.la", "x"), TEXT("tree/lib/libbar.so", "INPUT(x)\n"),
			TEXT("tree/lib/libbad.so", "text"), ELF("tree/lib/libc.so.6"),
			TEXT("tree/share/vulkan/icd.d/x.json", "{}"),
			TEXT("tree/etc/OpenCL/vendors/nvidia.icd", "x"), TEXT("tree/bin/tool", "x"),
			LINK("tree/share/up", ".."),
			LINK("tree/lib/liblink.so.1", "/store/liblink.so.1"),
			ELF("store/liblink.so.1"), ELF("tree/lib/libarm.so", .machine = EM_ARM),
			LINK("tree/lib/d", "/store2"), TEXT("store2/data", "x") },
		.trees = { VALUE("/tree") },
		.expected =
			"lib/d/data = /store2/data *\n"
			"lib/dri/iris_dri.so = /tree/lib/dri/iris_dri.so *\n"
			"lib/libGL.so.1 = /tree/lib/libGL.so.1 *\n"
			"lib/libbar.so = /tree/lib/libbar.so *\n"
			"lib/libfoo.la = /tree/lib/libfoo.la *\n"
			"lib/liblink.so.1 -> /store/liblink.so.1 = /store/liblink.so.1 *\n"
			"etc/OpenCL/vendors/nvidia.icd = /tree/etc/OpenCL/vendors/nvidia.icd *\n"
			"share/vulkan/icd.d/x.json = /tree/share/vulkan/icd.d/x.json *\n"
			"! /tree/lib/libarm.so: it is for machine 40 (64 bits), this view is for "
			"x86_64\n"
			"! /tree/lib/libbad.so: the file is not an ELF file\n"
			"! /tree/share/up: it leads back to a directory that it is in\n" },
	{ .what = "a tree that is too deep",
		.made = { TEXT("t/share/2/3/4/5/6/7/8/9/10/11/12/13/14/15/16/file", "x"),
			TEXT("t/share/2/3/4/5/6/7/8/9/10/11/12/13/14/15/16/17/file", "x") },
		.trees = { VALUE("/t") },
		.expected = "share/2/3/4/5/6/7/8/9/10/11/12/13/14/15/16/file = "
			    "/t/share/2/3/4/5/6/7/8/9/10/11/12/13/14/15/16/file *\n"
			    "! /t/share/2/3/4/5/6/7/8/9/10/11/12/13/14/15/16/17: it is nested more "
			    "than 16 directories deep\n" },
	{ .what = "a root of its own",
		.made = { ELF("jetson/usr/lib/libnvos.so"), ELF("jetson/opt/libcuda.so.1.1"),
			LINK("jetson/usr/lib/libcuda.so.1", "/opt/libcuda.so.1.1"),
			ELF("opt/libnvdc.so"),
			LINK("jetson/usr/lib/libnvdc.so", "/../opt/libnvdc.so") },
		.dirs = { VALUE("/usr/lib") },
		.root = "/jetson",
		.expected =
			"lib/libcuda.so.1 -> /opt/libcuda.so.1.1 = /jetson/opt/libcuda.so.1.1\n"
			"lib/libnvos.so = /jetson/usr/lib/libnvos.so\n"
			"! /jetson/usr/lib/libnvdc.so: it is a link to /../opt/libnvdc.so, which "
			"leads nowhere inside /jetson\n" },
	{ .what = "a missing directory",
		.dirs = { VALUE_AT("/none", "x.conf", 7) },
		.result = -ENOENT,
		.expected = "x.conf:7: error: layer test: /none does not exist\n" },
	{ .what = "a missing optional directory",
		.made = { ELF("host/libnvos.so") },
		.dirs = { VALUE_AT("/none", "x.conf", 7), VALUE("/host") },
		.optional = true,
		.expected = "lib/libnvos.so = /host/libnvos.so\n"
			    "- /none\n" },
	{ .what = "a missing optional root",
		.dirs = { VALUE("/host") },
		.root = "/none",
		.optional = true,
		.expected = "- /host\n" },
	{ .what = "a file for a directory",
		.made = { TEXT("file", "x") },
		.trees = { VALUE_AT("/file", "x.conf", 2) },
		.result = -ENOTDIR,
		.expected = "x.conf:2: error: layer test: /file: Not a directory\n" },
	{ .what = "hard links are one source",
		.made = { ELF("host/libnvos.so"), HARD("host/libnvdc.so", "host/libnvos.so") },
		.dirs = { VALUE("/host") },
		.expected = "lib/libnvdc.so = /host/libnvdc.so\n"
			    "lib/libnvos.so = /host/libnvdc.so\n" },
};

static void list_from(const struct policy_value values[3], struct policy_list *ret_list)
{
	ret_list->items = (struct policy_value *)values;
	ret_list->count = 0;
	while (ret_list->count < 3 && values[ret_list->count].text)
		ret_list->count++;
}

static struct policy_layer layer_from(const struct scan_case *c)
{
	struct policy_layer layer = { .name = (char *)"test",
		.role = ROLE_HOST,
		.enabled = true,
		.optional = c->optional,
		.trust = c->trust,
		.root = { (char *)c->root, NULL, 0 } };

	list_from(c->dirs, &layer.dirs);
	list_from(c->trees, &layer.trees);
	list_from(c->includes, &layer.includes);
	list_from(c->excludes, &layer.excludes);
	return layer;
}

static void run_case(const struct scan_case *c)
{
	_cleanup_(rootfs_unrefp) struct rootfs *root = NULL;
	_cleanup_(diag_clear) struct diag_list diags = { 0 };
	_cleanup_(freep) char *text = NULL;
	struct policy_layer layer = layer_from(c);
	struct policy policy = { .machine = MACHINE_X86_64, .layers = &layer, .n_layers = 1 };
	struct scan_request request = {
		.policy = &policy, .timeout_ms = 5000, .check_trust = c->check_trust
	};
	struct layer **layers = NULL;
	struct tree tree;
	size_t size;
	FILE *stream = open_memstream(&text, &size);

	tree_new(&tree);
	for (size_t i = 0; i < ARRAY_SIZE(c->made) && c->made[i].path; i++)
		make(&tree, &c->made[i]);
	assert_int_equal(rootfs_open(tree.top, &root), 0);
	request.root = root;
	assert_int_equal(scan(&request, &layers, &diags), c->result);
	if (layers) {
		assert_ptr_equal(layers[0]->policy, &layer);
		dump_layer(stream, layers[0], tree.top);
	}
	for (size_t i = 0; i < diags.count; i++) {
		_cleanup_(freep) char *line = diag_format(&diags.items[i]);

		fprintf(stream, "%s\n", line);
	}
	fclose(stream);
	if (strcmp(text, c->expected) != 0)
		fail_msg("%s:\n%s-- expected --\n%s", c->what, text, c->expected);
	layers_free(layers, 1);
	tree_remove(&tree);
}

static void test_cases(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		run_case(&cases[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cases),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
