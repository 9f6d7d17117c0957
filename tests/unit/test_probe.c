/* SPDX-License-Identifier: MIT */
/* probe: the kernel driver's version from a made-up /proc and /sys. */
#include "../compat/cmocka.h"

#include "probe.h"
#include "tree_builder.h"

#define PROC "/proc/driver/nvidia/version"
#define SYS  "/sys/module/nvidia/version"

static const struct {
	const char *proc, *sys; /* the files' text; NULL: absent */
	const char *value, *source;
} cases[] = {
	{ "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.120  Fri Sep 13 10:10:01 UTC 2024\n"
	  "GCC version:  gcc version 13.2.0\n",
		"535.1\n", "550.120", PROC },
	{ NULL, "535.216.01\n", "535.216.01", SYS },
	{ "nothing here\n", "535.216.01\n", "535.216.01", SYS },
	{ NULL, NULL, NULL, PROC " and " SYS " are absent" },
	{ "nothing here\n", NULL, NULL, PROC " names no version" },
	{ "", NULL, NULL, PROC " names no version" },
};

static void test_kernel_driver(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_(rootfs_unrefp) struct rootfs *root = NULL;
		struct facts facts;
		struct tree tree;

		tree_new(&tree);
		if (cases[i].proc)
			tree_text(&tree, PROC, cases[i].proc);
		if (cases[i].sys)
			tree_text(&tree, SYS, cases[i].sys);
		assert_int_equal(rootfs_open(tree.top, &root), 0);
		assert_int_equal(probe(root, &facts), 0);
		if (!string_equal(facts.items[FACT_KERNEL_DRIVER].value, cases[i].value))
			fail_msg("%zu: %s", i, facts.items[FACT_KERNEL_DRIVER].value);
		assert_string_equal(facts.items[FACT_KERNEL_DRIVER].source, cases[i].source);
		facts_clear(&facts);
		tree_remove(&tree);
	}
}

static void test_unreadable(void **state)
{
	_cleanup_(rootfs_unrefp) struct rootfs *root = NULL;
	_cleanup_(freep) char *path = NULL;
	struct facts facts;
	struct tree tree;

	(void)state;
	tree_new(&tree);
	path = tree_path(&tree, PROC);
	assert_int_equal(mkfifo(path, 0644), 0);
	assert_int_equal(rootfs_open(tree.top, &root), 0);
	assert_int_equal(probe(root, &facts), 0);
	assert_null(facts.items[FACT_KERNEL_DRIVER].value);
	assert_true(string_has_prefix(
		facts.items[FACT_KERNEL_DRIVER].source, PROC " cannot be read: "));
	facts_clear(&facts);
	tree_remove(&tree);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kernel_driver),
		cmocka_unit_test(test_unreadable),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
