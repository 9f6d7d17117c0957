/* SPDX-License-Identifier: MIT */
/* probe: the facts of made-up machines, and what is said of those that are unknown. */
#include "../compat/cmocka.h"

#include <time.h>

#include "probe.h"
#include "tree_builder.h"

#define RELEASE "/etc/nv_tegra_release"
#define DPKG    "/var/lib/dpkg/status"
#define SOC     "/proc/device-tree/compatible"
#define PROC    "/proc/driver/nvidia/version"
#define SYS     "/sys/module/nvidia/version"
#define GPU     "/proc/driver/nvidia/gpus/0000:01:00.0/information"
#define GPU2    "/proc/driver/nvidia/gpus/0000:02:00.0/information"

#define ORIN "nvidia,p3737-0000+p3701-0000\0nvidia,tegra234\0nvidia,tegra23x"
#define R36  "# R36 (release), REVISION: 4.7, GCID: 42132812, BOARD: generic, EABI: aarch64\n"
#define R35_DRIVER                                                                                 \
	"NVRM version: NVIDIA UNIX Kernel Module for aarch64  35.4.1  Release Build  (b@x)\n"
#define X86_DRIVER                                                                                 \
	"NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.120  Fri Sep 13 10:10:01 UTC 2024\n"  \
	"GCC version:  gcc version 13.2.0\n"

struct file {
	const char *path, *text;
	size_t size; /* 0: of the text */
};

static const struct {
	const char *name;
	struct file files[4];
	enum fact_id id;
	const char *value, *source;
} cases[] = {
	{ "proc before sys", { { PROC, X86_DRIVER }, { SYS, "535.1\n" } }, FACT_KERNEL_DRIVER,
		"550.120", PROC },
	{ "sys", { { SYS, "535.216.01\n" } }, FACT_KERNEL_DRIVER, "535.216.01", SYS },
	{ "proc does not tell", { { PROC, "nothing\n" }, { SYS, "535.216.01\n" } },
		FACT_KERNEL_DRIVER, "535.216.01", SYS },
	{ "absent", { { 0 } }, FACT_KERNEL_DRIVER, NULL, PROC " is absent, " SYS " is absent" },
	{ "no version", { { PROC, "nothing here\n" } }, FACT_KERNEL_DRIVER, NULL,
		PROC " names no version, " SYS " is absent" },
	{ "empty", { { PROC, "" } }, FACT_KERNEL_DRIVER, NULL,
		PROC " names no version, " SYS " is absent" },
	{ "SoC", { { SOC, ORIN, sizeof(ORIN) } }, FACT_SOC, "tegra234", SOC },
	{ "no SoC", { { 0 } }, FACT_SOC, NULL, SOC " is absent" },
	{ "another board", { { SOC, "raspberrypi,4", 14 } }, FACT_SOC, NULL,
		SOC " names no Tegra SoC" },
	{ "device", { { SOC, ORIN, sizeof(ORIN) } }, FACT_DEVICE, "Orin",
		"tegra234 in soc.ini (built in)" },
	{ "stack", { { SOC, "nvidia,tegra264", 16 } }, FACT_GPU_STACK, "openrm",
		"tegra264 in soc.ini (built in)" },
	{ "no stack", { { 0 } }, FACT_GPU_STACK, NULL, "the soc is unknown" },
	{ "a SoC of the future", { { SOC, "nvidia,tegra999", 16 } }, FACT_DEVICE, NULL,
		"soc.ini (built in) has no row for tegra999" },
	{ "release", { { RELEASE, R36 } }, FACT_L4T, "36.4.7", RELEASE },
	{ "release before dpkg",
		{ { RELEASE, R36 },
			{ DPKG, "Package: nvidia-l4t-core\nStatus: install ok installed\n"
				"Version: 35.4.1-20230801124926\n" } },
		FACT_L4T, "36.4.7", RELEASE },
	{ "dpkg",
		{ { DPKG, "Package: nvidia-l4t-core\nStatus: install ok installed\n"
			  "Version: 35.4.1-20230801124926\n" } },
		FACT_L4T, "35.4.1", DPKG },
	{ "the driver's is the release", { { PROC, R35_DRIVER } }, FACT_L4T, "35.4.1",
		"the kernel driver's version (" PROC ")" },
	{ "a server's is none", { { PROC, X86_DRIVER } }, FACT_L4T, NULL,
		RELEASE " is absent, " DPKG " is absent" },
	{ "dpkg without it", { { DPKG, "Package: libc6\nVersion: 2.36\n" } }, FACT_L4T, NULL,
		RELEASE " is absent, " DPKG " names no installed nvidia-l4t-core" },
	{ "JetPack", { { RELEASE, R36 }, { SOC, ORIN, sizeof(ORIN) } }, FACT_JETPACK, "6.2.1",
		"36.4.7 in l4t.ini (built in)" },
	{ "no JetPack", { { 0 } }, FACT_JETPACK, NULL, "the l4t is unknown" },
	{ "GPUs",
		{ { GPU2, "Model: \t\t Tesla T4\n" },
			{ GPU, "Model: \t\t NVIDIA GeForce RTX 4090\nIRQ: 1\n" } },
		FACT_GPU, "NVIDIA GeForce RTX 4090, Tesla T4", "/proc/driver/nvidia/gpus" },
	{ "equal GPUs", { { GPU, "Model: Tesla T4\n" }, { GPU2, "Model: Tesla T4\n" } }, FACT_GPU,
		"Tesla T4", "/proc/driver/nvidia/gpus" },
	{ "no GPU", { { 0 } }, FACT_GPU, NULL, "/proc/driver/nvidia/gpus is absent" },
	{ "no model", { { GPU, "IRQ: 1\n" } }, FACT_GPU, NULL,
		"/proc/driver/nvidia/gpus names no model" },
};

static struct tables *tables;

static int make_tables(void **state)
{
	(void)state;
	return tables_new(&tables);
}

static int free_tables(void **state)
{
	(void)state;
	tables = tables_free(tables);
	return 0;
}

static void test_facts(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_(rootfs_unrefp) struct rootfs *root = NULL;
		struct facts facts;
		struct tree tree;

		print_message("%s\n", cases[i].name);
		tree_new(&tree);
		for (size_t k = 0; k < 4 && cases[i].files[k].path; k++) {
			const struct file *file = &cases[i].files[k];

			tree_write(&tree, file->path, file->text,
				file->size ? file->size : strlen(file->text));
		}
		assert_int_equal(rootfs_open(tree.top, &root), 0);
		assert_int_equal(probe(root, tables, &facts), 0);
		if (!string_equal(facts.items[cases[i].id].value, cases[i].value))
			fail_msg("%s", facts.items[cases[i].id].value);
		assert_string_equal(facts.items[cases[i].id].source, cases[i].source);
		for (size_t k = FACT_SOC; k <= FACT_KERNEL_DRIVER; k++)
			assert_non_null(facts.items[k].source);
		facts_clear(&facts);
		tree_remove(&tree);
	}
}

/* Absent and unreadable are different things. */
static void test_unreadable(void **state)
{
	static const struct {
		enum fact_id id;
		const char *path;
	} files[] = { { FACT_KERNEL_DRIVER, PROC }, { FACT_SOC, SOC }, { FACT_L4T, RELEASE } };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		_cleanup_(rootfs_unrefp) struct rootfs *root = NULL;
		_cleanup_(freep) char *path = NULL;
		_cleanup_(freep) char *said = string_format("%s cannot be read: ", files[i].path);
		struct facts facts;
		struct tree tree;

		tree_new(&tree);
		path = tree_path(&tree, files[i].path);
		assert_int_equal(mkfifo(path, 0644), 0);
		assert_int_equal(rootfs_open(tree.top, &root), 0);
		assert_int_equal(probe(root, tables, &facts), 0);
		assert_null(facts.items[files[i].id].value);
		assert_true(string_has_prefix(facts.items[files[i].id].source, said));
		facts_clear(&facts);
		tree_remove(&tree);
	}
}

/* The status file of a big installation is read whole, a bigger one is not. */
static void test_dpkg_size(void **state)
{
	static const char package[] = "Package: x\nDescription: one of thousands\n\n";
	static const char core[] = "Package: nvidia-l4t-core\nStatus: install ok installed\n"
				   "Version: 32.7.1-20220219090432\n";
	static const struct {
		size_t size;
		const char *value;
	} sizes[] = { { 3 << 20, "32.7.1" }, { 9 << 20, NULL } };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		_cleanup_(rootfs_unrefp) struct rootfs *root = NULL;
		_cleanup_(freep) char *text = malloc(sizes[i].size + sizeof(core));
		size_t used = 0;
		struct facts facts;
		struct tree tree;

		assert_non_null(text);
		for (; used + sizeof(package) <= sizes[i].size; used += sizeof(package) - 1)
			memcpy(text + used, package, sizeof(package));
		memcpy(text + used, core, sizeof(core));
		tree_new(&tree);
		tree_text(&tree, DPKG, text);
		assert_int_equal(rootfs_open(tree.top, &root), 0);
		assert_int_equal(probe(root, tables, &facts), 0);
		assert_true(string_equal(facts.items[FACT_L4T].value, sizes[i].value));
		if (!sizes[i].value)
			assert_non_null(strstr(facts.items[FACT_L4T].source,
				DPKG " cannot be read: File too large"));
		facts_clear(&facts);
		tree_remove(&tree);
	}
}

static double milliseconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

/* A Jetson's facts in under 5 ms: the best of some, for a machine that does other things. */
static void test_time(void **state)
{
	_cleanup_(rootfs_unrefp) struct rootfs *root = NULL;
	double best = 1e9;
	struct tree tree;

	(void)state;
	tree_new(&tree);
	tree_write(&tree, "/sys/firmware/devicetree/base/compatible", ORIN, sizeof(ORIN));
	tree_link(&tree, "/proc/device-tree", "/sys/firmware/devicetree/base");
	tree_text(&tree, RELEASE, R36);
	tree_text(&tree, PROC, X86_DRIVER);
	assert_int_equal(rootfs_open(tree.top, &root), 0);
	for (size_t i = 0; i < 20; i++) {
		double begin = milliseconds();
		struct facts facts;

		assert_int_equal(probe(root, tables, &facts), 0);
		if (milliseconds() - begin < best)
			best = milliseconds() - begin;
		assert_string_equal(facts.items[FACT_SOC].value, "tegra234");
		facts_clear(&facts);
	}
	print_message("%.3f ms\n", best);
	assert_true(best < 5);
	tree_remove(&tree);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_facts),
		cmocka_unit_test(test_unreadable),
		cmocka_unit_test(test_dpkg_size),
		cmocka_unit_test(test_time),
	};

	return cmocka_run_group_tests(tests, make_tables, free_tables);
}
