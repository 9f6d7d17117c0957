/* SPDX-License-Identifier: MIT */
/* hostplace: paths to places, and which manifests are the driver's. */
#include "../compat/cmocka.h"

#include <string.h>

#include "hostplace.h"
#include "util.h"

static void test_places(void **state)
{
	static const struct {
		const char *path, *into;
	} cases[] = {
		{ "/usr/lib/aarch64-linux-gnu/tegra/libcuda.so.1.1", "lib" },
		{ "/libcuda.so", "lib" },
		{ "/usr/lib/x86_64-linux-gnu/gbm/nvidia-drm_gbm.so", "lib/gbm" },
		{ "/usr/lib//dri//nvidia_drv_video.so", "lib/dri" },
		{ "/usr/lib/vdpau/libvdpau_nvidia.so.1", "lib/vdpau" },
		{ "/usr/share/glvnd/egl_vendor.d/10_nvidia.json", "share/glvnd/egl_vendor.d" },
		{ "/usr//share/glvnd//egl_vendor.d//10_nvidia.json", "share/glvnd/egl_vendor.d" },
		{ "/etc/vulkan/icd.d/nvidia_icd.json", "share/vulkan/icd.d" },
		{ "/usr/share/vulkan/implicit_layer.d/nvidia_layers.json",
			"share/vulkan/implicit_layer.d" },
		{ "/usr/share/egl/egl_external_platform.d/10_nvidia_wayland.json",
			"share/egl/egl_external_platform.d" },
		{ "/etc/OpenCL/vendors/nvidia.icd", "etc/OpenCL/vendors" },
		{ "/etc/OpenCL/vendors/nvidia.json", NULL },
		{ "/etc/vulkan/icd.d/README", NULL },
		{ "/etc/vulkan/icd.d/nvidia_icd.json.dpkg-new", NULL },
		{ "/etc/vulkan/icd.d/libcuda.so", NULL },
		{ "/etc/vulkan/icd.d.old/x.json", NULL },
		{ "/usr/lib/aarch64-linux-gnu/tegra/nvidia_icd.json", NULL },
		{ "/usr/bin/nvidia-smi", NULL },
		{ "/usr/lib/libcuda.so.1~", NULL },
		{ "/usr/lib/", NULL },
		{ "/", NULL },
		{ "", NULL },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		if (!string_equal(hostplace_of(cases[i].path), cases[i].into))
			fail_msg("%s: %s", cases[i].path, hostplace_of(cases[i].path));
}

static void test_plugins(void **state)
{
	static const struct {
		const char *into, *name;
		enum hostplace_plugin plugin;
	} cases[] = {
		{ "lib/dri", "nvidia_dri.so", HOSTPLACE_DRIVER_PLUGIN },
		{ "lib/dri", "nvidia_drv_video.so", HOSTPLACE_DRIVER_PLUGIN },
		{ "lib/dri", "iris_dri.so", HOSTPLACE_FOREIGN_PLUGIN },
		{ "lib/dri", "nvidia_gbm.so", HOSTPLACE_NO_PLUGIN },
		{ "lib/dri", "nvidia_dri.so.1", HOSTPLACE_NO_PLUGIN },
		{ "lib/gbm", "nvidia-drm_gbm.so", HOSTPLACE_DRIVER_PLUGIN },
		{ "lib/gbm", "tegra-udrm_gbm.so", HOSTPLACE_DRIVER_PLUGIN },
		{ "lib/gbm", "dri_gbm.so", HOSTPLACE_FOREIGN_PLUGIN },
		{ "lib/gbm", "my-nvidia_gbm.so", HOSTPLACE_FOREIGN_PLUGIN },
		{ "lib/vdpau", "libvdpau_nvidia.so", HOSTPLACE_DRIVER_PLUGIN },
		{ "lib/vdpau", "libvdpau_nvidia.so.550.120", HOSTPLACE_DRIVER_PLUGIN },
		{ "lib/vdpau", "libvdpau_va_gl.so.1", HOSTPLACE_FOREIGN_PLUGIN },
		{ "lib/vdpau", "nvidia.so", HOSTPLACE_NO_PLUGIN },
		{ "lib", "nvidia_dri.so", HOSTPLACE_NO_PLUGIN },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		if (hostplace_plugin_of(cases[i].into, cases[i].name) != cases[i].plugin)
			fail_msg("%s/%s", cases[i].into, cases[i].name);
}

static void test_names(void **state)
{
	static const struct {
		const char *name;
		bool driver;
	} cases[] = {
		{ "nvidia_icd.json", true },
		{ "10_nvidia.json", true },
		{ "nvidia.icd", true },
		{ "tegra_icd.json", true },
		{ "50_mesa.json", false },
		{ "nouveau_icd.x86_64.json", false },
		{ "my-nvidia.json", false },
		{ "", false },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		assert_int_equal(hostplace_is_driver_name(cases[i].name), cases[i].driver);
}

static void test_contents(void **state)
{
	static const char vulkan[] = "share/vulkan/icd.d", opencl[] = "etc/OpenCL/vendors";
	static const struct {
		const char *into, *text;
		bool driver;
	} cases[] = {
		{ vulkan, "{\"ICD\":{\"library_path\":\"libGLX_nvidia.so.0\"}}", true },
		{ vulkan, "{\"ICD\":{\"library_path\":\"/usr/lib/x/libGLX_nvidia.so.0\"}}", true },
		{ vulkan, "{\"layer\":{\"library_path\":\"libGLX_nvidia.so.0\"}}", true },
		{ vulkan, "{\"layers\":[{},{\"library_path\":\"libEGL_nvidia.so.0\"}]}", true },
		{ vulkan, "{\"ICD\":{\"library_path\":\"libvulkan_lvp.so\"}}", false },
		{ vulkan, "{\"ICD\":{\"library_path\":7}}", false },
		{ vulkan, "{\"ICD\":\"libGLX_nvidia.so.0\"}", false },
		{ vulkan, "[]", false },
		{ vulkan, "libGLX_nvidia.so.0", false },
		{ vulkan, "", false },
		{ opencl, "libnvidia-opencl.so.1\n", true },
		{ opencl, "libnvidia-opencl.so.1", true },
		{ opencl, "/usr/lib/libnvidia-opencl.so.1\r\nlibpocl.so", true },
		{ opencl, " \tlibnvidia-opencl.so.1 \n", true },
		{ opencl, "/opt/a b/libnvidia-opencl.so.1\n", true },
		{ vulkan, "\xef\xbb\xbf{\"ICD\":{\"library_path\":\"libGLX_nvidia.so.0\"}}", true },
		{ opencl, "libpocl.so.2\nlibnvidia-opencl.so.1\n", false },
		{ opencl, "", false },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		if (hostplace_names_driver(cases[i].into, cases[i].text, strlen(cases[i].text)) !=
			cases[i].driver)
			fail_msg("%s", cases[i].text);
}

/* Directories differ, and each place is one that the view knows. */
static void test_table(void **state)
{
	(void)state;
	for (size_t i = 0; i < HOSTPLACE_COUNT; i++) {
		assert_true(string_has_prefix(hostplaces[i].into, "share/") ||
			    string_has_prefix(hostplaces[i].into, "etc/"));
		for (size_t n = 0; n < i; n++)
			assert_string_not_equal(hostplaces[i].host, hostplaces[n].host);
	}
	for (size_t i = 0; i < HOSTPLACE_PLUGINS; i++) {
		assert_string_equal(
			hostplace_plugins[i].into + strlen("lib/"), hostplace_plugins[i].host);
		assert_true(i == 0 ||
			    strcmp(hostplace_plugins[i - 1].host, hostplace_plugins[i].host) < 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_places),
		cmocka_unit_test(test_plugins),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_contents),
		cmocka_unit_test(test_table),
	};

	return cmocka_run_group_tests_name("hostplace", tests, NULL, NULL);
}
