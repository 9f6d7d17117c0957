/* SPDX-License-Identifier: MIT */
/* runpath: what a library's own RUNPATH finds in a made-up root. */
#include "../compat/cmocka.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "libsearch.h"
#include "util.h"

#define HERE "/usr/local/cuda-12.2/compat"

static char top[64];
static struct rootfs *root;

static const struct {
	const char *runpath;
	bool found;
} cases[] = {
	{ "/opt/l4t", true },
	{ "/nowhere:/opt/l4t", true },
	{ "/opt/link", true },
	{ "/opt/../opt/l4t/", true },
	{ "$ORIGIN/../lib", true },
	{ "${ORIGIN}/../lib", true },
	{ "/opt/$LIB", true }, /* cannot be told */
	{ "$ORIGIN", false },
	{ "$ORIGIN/../../../../../../nowhere", false },
	{ "$ORIGINAL/../lib", true }, /* no token: cannot be told */
	{ "/nowhere", false },
	{ "/opt/empty", false },
	{ "/opt/directory", false },
	{ "/opt/dangling", false },
	{ "opt/l4t", false },
	{ "", false },
	{ "::", false },
	{ NULL, false },
	/* the driver directory, wherever it is mounted, and what only begins like it */
	{ "/run/opengl-driver/lib", false },
	{ "/run/opengl-driver", false },
	{ "/mnt/driver/lib", false },
	{ "/mnt/driver-of-old/lib", true },
};

static int set_up(void **state)
{
	char command[512];

	(void)state;
	strcpy(top, "/tmp/test-runpath.XXXXXX");
	if (!mkdtemp(top) || chmod(top, 0755) < 0)
		return -1;
	snprintf(command, sizeof(command),
		"cd %s && for d in opt/l4t usr/local/cuda-12.2/lib run/opengl-driver/lib "
		"run/opengl-driver mnt/driver/lib mnt/driver-of-old/lib; do mkdir -p $d && "
		"echo x >$d/libnvrm_gpu.so; done && mkdir -p ." HERE " opt/empty opt/dangling "
		"opt/directory/libnvrm_gpu.so && : >opt/empty/libnvrm_gpu.so && "
		"ln -s /opt/nothing opt/dangling/libnvrm_gpu.so && ln -s /opt/l4t opt/link",
		top);
	return system(command) == 0 ? rootfs_open(top, &root) : -1;
}

static int tear_down(void **state)
{
	char command[128];

	(void)state;
	rootfs_unref(root);
	snprintf(command, sizeof(command), "rm -rf %s", top);
	return system(command);
}

static void test_cases(void **state)
{
	struct libsearch runpath = { .mountpoint = "/mnt/driver/" };
	int wrong = 0;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct source source = { .root = root, .path = (char[]){ HERE "/libcuda.so.1.1" } };
		_cleanup_(freep) char *text = cases[i].runpath ? strdup(cases[i].runpath) : NULL;

		source.elf.runpath = text;
		if (libsearch_finds(&runpath, &source, "libnvrm_gpu.so") == cases[i].found &&
			(!text || strchr(text, '$') ||
				!libsearch_finds(&runpath, &source, "libnvrm_mem.so")))
			continue;
		fprintf(stderr, "%s\n", text ? text : "none");
		wrong++;
	}
	assert_int_equal(wrong, 0);
}

/* Absolute directories of what lies under the mount are the machine's. */
static void test_outer(void **state)
{
	struct rootfs *inner = NULL;
	struct rootfs_node node = { .fd = -1 };
	struct libsearch runpath = { 0 };
	struct source source = { .path = (char[]){ "/lib/libcuda.so.1" } };

	(void)state;
	assert_int_equal(rootfs_walk(root, "/usr/local/cuda-12.2", NULL, &node), 0);
	assert_int_equal(rootfs_open_node(&node, &inner), 0);
	inner->outer = rootfs_ref(root);
	source.root = inner;
	source.elf.runpath = (char[]){ "/opt/l4t" };
	assert_true(libsearch_finds(&runpath, &source, "libnvrm_gpu.so"));
	source.elf.runpath = (char[]){ "$ORIGIN" };
	assert_true(libsearch_finds(&runpath, &source, "libnvrm_gpu.so"));
	assert_false(libsearch_finds(&runpath, &source, "../lib/libnvrm_gpu.so"));
	rootfs_unref(inner);
	rootfs_node_clear(&node);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cases),
		cmocka_unit_test(test_outer),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
