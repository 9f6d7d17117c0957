/* SPDX-License-Identifier: MIT */
/* discover, csv and cdi layers: made-up machines to candidates, rejections, sets and warnings. What
 * releases look like is in tests/golden. */
#include "../compat/cmocka.h"

#include <errno.h>
#include <sys/resource.h>

#include "ldcache_builder.h"
#include "scan_fixture.h"

#define ARM "usr/lib/aarch64-linux-gnu/"
#define R36 "# R36 (release), REVISION: 4.7, GCID: 1, BOARD: generic, EABI: aarch64, DATE: x\n"
#define GPU "opt/nvidia/l4t-gpu-libs/"

#define EIGHT(x) x "/" x "/" x "/" x "/" x "/" x "/" x "/" x

struct discover_case {
	const char *what;
	struct made made[12];
	enum layer_discover discover;
	struct policy_value csvs[3], cdis[2], includes[2], excludes[2];
	const char *root;
	struct ldcache_plan cache; /* where it has entries */
	const char *open_file;     /* everybody's to write */
	rlim_t descriptors;        /* more than there are now */
	bool optional, check_trust;
	int result;
	const char *expected;
};

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
	{ .what = "trust: who can write the list decides what is served",
		.made = { ELF("a/libnvos.so"), TEXT("l.csv", "lib, /a/libnvos.so\n") },
		.csvs = { VALUE("/l.csv") },
		.open_file = "l.csv",
		.check_trust = true,
		.expected = "+ /l.csv\n/l.csv: warning: it is not read: /l.csv can be changed by "
			    "others than root (trust = yes in the layer reads it)\n" },
	{ .what = "trust: a file that a list names",
		.made = { ELF("a/libnvos.so"), TEXT("l.csv", "lib, /a/libnvos.so\n") },
		.csvs = { VALUE("/l.csv") },
		.open_file = "a/libnvos.so",
		.check_trust = true,
		.expected = "! /a/libnvos.so: it could be replaced by another user: /a/libnvos.so "
			    "can be changed by others than root (trust = yes in the layer serves "
			    "it)\n+ /l.csv\n" },
	{ .what = "trust: what may not be served makes no directory the complete one",
		.made = { TEXT("etc/nv_tegra_release", R36), ELF(ARM "nvidia/libnvrm_gpu.so"),
			ELF(ARM "nvidia/libcuda.so.1.1"), ELF(ARM "tegra/libcuda.so.1.1"),
			ELF(ARM "tegra/libnvrm.so") },
		.discover = DISCOVER_L4T,
		.open_file = ARM "nvidia/libcuda.so.1.1",
		.check_trust = true,
		.expected = "lib/libcuda.so.1.1 = /" ARM "tegra/libcuda.so.1.1\n"
			    "lib/libnvrm.so = /" ARM "tegra/libnvrm.so\n"
			    "+ /" ARM "tegra\n" },
	{ .what = "trust: of two GPU directories and no SoC the one that may be served",
		.made = { ELF(ARM "nvidia/libnvrm_gpu.so"), ELF(GPU "nvgpu/libcuda.so.1.1"),
			ELF(GPU "openrm/libcuda.so.1.1") },
		.discover = DISCOVER_L4T,
		.open_file = GPU "nvgpu/libcuda.so.1.1",
		.check_trust = true,
		.expected = "lib/libcuda.so.1.1 = /" GPU "openrm/libcuda.so.1.1\n"
			    "lib/libnvrm_gpu.so = /" ARM "nvidia/libnvrm_gpu.so\n"
			    "+ /" GPU "openrm\n+ /" ARM "nvidia\n" },
	{ .what = "trust: who can write the SoC's name chooses no GPU directory",
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
	{ .what = "trust: where nothing else is there it says why",
		.made = { ELF(ARM "nvidia/libnvrm_gpu.so") },
		.discover = DISCOVER_L4T,
		.open_file = ARM "nvidia/libnvrm_gpu.so",
		.check_trust = true,
		.expected = "! /" ARM "nvidia/libnvrm_gpu.so: it could be replaced by another "
			    "user: /" ARM "nvidia/libnvrm_gpu.so can be changed by others than "
			    "root (trust = yes in the layer serves it)\n"
			    "+ /" ARM "nvidia\n" },
	{ .what = "trust: a manifest is not read in order to know whose it is",
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
	{ .what = "trust: the cache",
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

static void list_from(const struct policy_value *values, size_t max, struct policy_list *ret_list)
{
	ret_list->items = (struct policy_value *)values;
	while (ret_list->count < max && values[ret_list->count].text)
		ret_list->count++;
}

static void make_machine(const struct tree *tree, const struct discover_case *c)
{
	for (size_t i = 0; i < ARRAY_SIZE(c->made) && c->made[i].path; i++)
		make(tree, &c->made[i]);
	if (c->cache.entries[0].path) {
		struct ldcache_built built;

		ldcache_build(&c->cache, &built);
		tree_write(tree, "etc/ld.so.cache", built.bytes, built.size);
	}
	if (c->open_file) {
		_cleanup_(freep) char *path = tree_path(tree, c->open_file);

		assert_int_equal(chmod(path, 0666), 0);
	}
}

/* The machine's paths are those inside it. */
static void print_inside(FILE *stream, const char *text, const char *top)
{
	for (const char *at; (at = strstr(text, top)); text = at + strlen(top))
		fprintf(stream, "%.*s", (int)(at - text), text);
	fputs(text, stream);
}

static char *dump(struct layer **layers, const struct diag_list *diags, const char *top)
{
	char *text = NULL, *inside = NULL;
	size_t size;
	FILE *stream = open_memstream(&text, &size);

	if (layers)
		dump_layer(stream, layers[0], top);
	for (size_t i = 0; layers && i < layers[0]->n_sets; i++)
		if (layers[0]->sets[i].present)
			fprintf(stream, "+ %s\n", layers[0]->sets[i].path);
	for (size_t i = 0; i < diags->count; i++) {
		_cleanup_(freep) char *line = diag_format(&diags->items[i]);

		fprintf(stream, "%s\n", line);
	}
	fclose(stream);
	stream = open_memstream(&inside, &size);
	print_inside(stream, text, top);
	fclose(stream);
	free(text);
	return inside;
}

/* Leaves that many free descriptors from the lowest on; 0: as many as there are. Returns the limit
 * before. */
static rlim_t limit_descriptors(rlim_t free_ones)
{
	struct rlimit limit;
	rlim_t before;
	int lowest = dup(0);

	close(lowest);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	before = limit.rlim_cur;
	if (free_ones) {
		limit.rlim_cur = (rlim_t)lowest + free_ones;
		assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	}
	return before;
}

static void restore_descriptors(rlim_t before)
{
	struct rlimit limit;

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	limit.rlim_cur = before;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

static void run_case(const struct discover_case *c)
{
	_cleanup_(rootfs_unrefp) struct rootfs *root = NULL;
	_cleanup_(diag_clear) struct diag_list diags = { 0 };
	_cleanup_(freep) char *text = NULL;
	struct policy_layer layer = { .name = (char *)"test",
		.role = ROLE_HOST,
		.enabled = true,
		.optional = c->optional,
		.discover = c->discover,
		.root = { (char *)c->root, NULL, 0 } };
	struct policy policy = { .machine = MACHINE_X86_64, .layers = &layer, .n_layers = 1 };
	struct scan_request request = {
		.policy = &policy, .timeout_ms = 5000, .check_trust = c->check_trust
	};
	struct layer **layers = NULL;
	struct tree tree;
	rlim_t before;
	int result;

	list_from(c->csvs, ARRAY_SIZE(c->csvs), &layer.csvs);
	list_from(c->cdis, ARRAY_SIZE(c->cdis), &layer.cdis);
	list_from(c->includes, ARRAY_SIZE(c->includes), &layer.includes);
	list_from(c->excludes, ARRAY_SIZE(c->excludes), &layer.excludes);
	tree_new(&tree);
	make_machine(&tree, c);
	assert_int_equal(rootfs_open(tree.top, &root), 0);
	request.root = root;
	before = limit_descriptors(c->descriptors);
	result = scan(&request, &layers, &diags);
	restore_descriptors(before);
	if (result != c->result)
		fail_msg("%s: %s", c->what, strerror(-result));
	text = dump(layers, &diags, tree.top);
	if (strcmp(text, c->expected) != 0)
		fail_msg("%s:\n%s-- expected --\n%s", c->what, text, c->expected);
	layers_free(layers, 1);
	tree_remove(&tree);
}

static void test_cases(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		if (!cases[i].check_trust || geteuid() == 0)
			run_case(&cases[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cases),
	};

	return cmocka_run_group_tests_name("discover", tests, NULL, NULL);
}
