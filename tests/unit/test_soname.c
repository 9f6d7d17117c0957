/* SPDX-License-Identifier: MIT */
#include "../compat/cmocka.h"

#include <string.h>

#include "../../fs/soname.c"

static const struct {
	const char *name;
	enum soname_class class;
	bool cuda;
	bool extra;
	bool tegra;
} names[] = {
	{ "libcuda.so", SONAME_DRIVER, true, false, false },
	{ "libcuda.so.1", SONAME_DRIVER, true, false, false },
	{ "libcuda.so.535.129.03", SONAME_DRIVER, true, false, false },
	{ "libcudadebugger.so.1", SONAME_DRIVER, true, false, false },
	{ "libnvidia-nvvm.so.4", SONAME_DRIVER, true, false, false },
	{ "libnvidia-nvvm70.so.4", SONAME_DRIVER, true, false, false },
	{ "libnvidia-ptxjitcompiler.so.1", SONAME_DRIVER, true, false, false },
	{ "libnvidia-gpucomp.so.550.163.01", SONAME_DRIVER, true, false, false },
	{ "libnvidia-tileiras.so.1", SONAME_DRIVER, true, false, false },
	{ "libnvidia-pkcs11-openssl3.so.580.1", SONAME_DRIVER, true, false, false },
	{ "libcudart.so.12", SONAME_OTHER, false, false, false },
	{ "libdxcore.so", SONAME_DRIVER, false, false, false },
	{ "libcuda_loader.so", SONAME_DRIVER, false, false, false },
	{ "libnvdxgdmal.so.1", SONAME_DRIVER, false, false, false },
	{ "libcuda_instrumentation.so", SONAME_DRIVER, false, false, false },
	{ "libnvcudla.so", SONAME_DRIVER, false, true, false },
	{ "libnvidia-ml.so.1", SONAME_DRIVER, false, false, false },
	{ "libnvidia-glcore.so.550.163.01", SONAME_DRIVER, false, false, false },
	{ "libnvrm_gpu.so", SONAME_DRIVER, false, false, true },
	{ "libnvrm.so", SONAME_DRIVER, false, false, true },
	{ "libnvos.so", SONAME_DRIVER, false, false, true },
	{ "libnvsciipc.so", SONAME_DRIVER, false, false, true },
	{ "libnvddk_vic.so", SONAME_DRIVER, false, false, true },
	{ "libEGL_nvidia.so.0", SONAME_DRIVER, false, false, false },
	{ "libEGL.so.1", SONAME_ASK, false, false, false },
	{ "libEGL_mesa.so.0", SONAME_OTHER, false, false, false },
	{ "libGL.so.1", SONAME_ASK, false, false, false },
	{ "libstdc++.so.6", SONAME_ASK, false, false, false },
	{ "libgcc_s.so.1", SONAME_ASK, false, false, false },
	{ "libdrm.so.2", SONAME_ASK, false, false, false },
	{ "libX11-xcb.so.1", SONAME_ASK, false, false, false },
	{ "libwayland-client.so.0", SONAME_ASK, false, false, false },
	{ "libv4lconvert.so.0", SONAME_ASK, false, false, false },
	{ "libc.so.6", SONAME_NEVER, false, false, false },
	{ "libc-2.31.so", SONAME_NEVER, false, false, false },
	{ "libm.so.6", SONAME_NEVER, false, false, false },
	{ "libpthread.so.0", SONAME_NEVER, false, false, false },
	{ "libdl.so.2", SONAME_NEVER, false, false, false },
	{ "librt.so.1", SONAME_NEVER, false, false, false },
	{ "ld-linux-aarch64.so.1", SONAME_NEVER, false, false, false },
	{ "ld-linux.so.2", SONAME_NEVER, false, false, false },
	{ "ld-musl-x86_64.so.1", SONAME_NEVER, false, false, false },
	{ "libmount.so.1", SONAME_OTHER, false, false, false },
	{ "libcuda", SONAME_OTHER, false, false, false },
	{ "libcuda.sock", SONAME_OTHER, false, false, false },
	{ "", SONAME_OTHER, false, false, false },
};

static void test_classes(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		print_message("%s\n", names[i].name);
		assert_int_equal(soname_classify(names[i].name), names[i].class);
		assert_int_equal(soname_is_cuda_set(names[i].name), names[i].cuda);
		assert_int_equal(soname_is_compat_extra(names[i].name), names[i].extra);
		assert_int_equal(soname_is_tegra(names[i].name), names[i].tegra);
	}
}

static void test_rows_are_sorted(void **state)
{
	(void)state;
	for (size_t i = 1; i < ARRAY_SIZE(rows); i++) {
		if (strcmp(rows[i - 1].stem, rows[i].stem) >= 0)
			fail_msg("%s is not after %s", rows[i].stem, rows[i - 1].stem);
	}
}

static const struct {
	const char *name;
	size_t stem;
	const char *version;
	bool library;
	bool temporary;
} shapes[] = {
	{ "libcuda.so", 7, NULL, true, false },
	{ "libcuda.so.1", 7, "1", true, false },
	{ "libcuda.so.1.1", 7, "1.1", true, false },
	{ "libnvidia-ml.so.570.153.02", 12, "570.153.02", true, false },
	{ "lib.something.so.1", 13, "1", true, false },
	{ "libso.source.so", 12, NULL, true, false },
	{ "nvidia-drm_gbm.so", 14, NULL, false, false },
	{ "ld-linux.so.2", 8, "2", true, false },
	{ "libcuda.so.", 7, NULL, false, false },
	{ "libcuda.so.txt", 7, "txt", false, false },
	{ "libcuda.a", 0, NULL, false, false },
	{ ".so", 0, NULL, false, false },
	{ "libcuda.so.1.1.dpkg-new", 7, "1.1.dpkg-new", false, true },
	{ "libcuda.so.1~", 7, "1~", false, true },
	{ ".#libcuda.so.1", 9, "1", false, true },
	{ "libcuda.so.1.bak", 7, "1.bak", false, true },
	{ "libcuda.so.1.gz", 7, "1.gz", false, true },
};

static void test_shapes(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(shapes); i++) {
		print_message("%s\n", shapes[i].name);
		assert_int_equal(soname_stem(shapes[i].name), shapes[i].stem);
		assert_true(string_equal(soname_version(shapes[i].name), shapes[i].version));
		assert_int_equal(soname_is_library(shapes[i].name), shapes[i].library);
		assert_int_equal(soname_is_temporary(shapes[i].name), shapes[i].temporary);
	}
	assert_true(soname_same_stem("libcuda.so.1", "libcuda.so.535.1"));
	assert_false(soname_same_stem("libcuda.so.1", "libcudadebugger.so.1"));
	assert_false(soname_same_stem("README", "README"));
}

static const struct {
	const char *a;
	const char *b;
	int order;
} versions[] = {
	{ "535.129.03", "535.129.03", 0 },
	{ "430.14", "440.33.01", -1 },
	{ "9.2", "10.1", -1 },
	{ "1", "1.0", -1 },
	{ "1.9", "1.10", -1 },
	{ "535.129.3", "535.129.03", 0 },
	{ "580.126.16", "580.82.07", 1 },
	{ "99999999999999999999999", "100000000000000000000000", -1 },
	{ "", "", 0 },
	{ NULL, "0", -1 },
	{ "1.1a", "1.1", 1 },
	{ "1a", "1b", -1 },
	{ "1a.2", "1a.3", -1 },
};

static void test_versions(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(versions); i++) {
		int order = version_compare(versions[i].a, versions[i].b);
		int back = version_compare(versions[i].b, versions[i].a);

		print_message("%zu\n", i);
		assert_int_equal((order > 0) - (order < 0), versions[i].order);
		assert_int_equal((back > 0) - (back < 0), -versions[i].order);
	}
	assert_int_equal(version_parts(NULL), 0);
	assert_int_equal(version_parts(""), 0);
	assert_int_equal(version_parts("1"), 1);
	assert_int_equal(version_parts("535.129.03"), 3);
}

static void test_driver_form(void **state)
{
	static const char *const good[] = { "535.129.03", "550.120", "304.137" };
	static const char *const bad[] = { "1.1", "34.1.1", "535", "535.", "535..1", "535.a",
		"5350.1", "535.129.03-1", "" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(good); i++)
		assert_true(version_is_driver(good[i]));
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_false(version_is_driver(bad[i]));
	assert_false(version_is_driver(NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_classes),
		cmocka_unit_test(test_rows_are_sorted),
		cmocka_unit_test(test_shapes),
		cmocka_unit_test(test_versions),
		cmocka_unit_test(test_driver_form),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
