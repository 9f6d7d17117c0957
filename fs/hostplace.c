/* SPDX-License-Identifier: MIT */
#include "hostplace.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "jsonhelp.h"
#include "manifest.h"
#include "soname.h"
#include "util.h"

/* Sources: the search paths of libglvnd (src/EGL/libeglvendor.c), of NVIDIA's external platforms,
 * of the Vulkan loader (sysconfdir goes before datadir) and of ocl-icd; FACTS.md 6 for NVIDIA's
 * files in them. What looks into the driver directory reads share/ for all but OpenCL. */
const struct hostplace hostplaces[HOSTPLACE_COUNT] = {
	{ "/etc/glvnd/egl_vendor.d", "share/glvnd/egl_vendor.d" },
	{ "/usr/share/glvnd/egl_vendor.d", "share/glvnd/egl_vendor.d" },
	{ "/etc/egl/egl_external_platform.d", "share/egl/egl_external_platform.d" },
	{ "/usr/share/egl/egl_external_platform.d", "share/egl/egl_external_platform.d" },
	{ "/etc/vulkan/icd.d", "share/vulkan/icd.d" },
	{ "/usr/share/vulkan/icd.d", "share/vulkan/icd.d" },
	{ "/etc/vulkan/implicit_layer.d", "share/vulkan/implicit_layer.d" },
	{ "/usr/share/vulkan/implicit_layer.d", "share/vulkan/implicit_layer.d" },
	{ "/etc/OpenCL/vendors", "etc/OpenCL/vendors" },
};

const struct hostplace hostplace_plugins[HOSTPLACE_PLUGINS] = {
	{ "dri", "lib/dri" },
	{ "gbm", "lib/gbm" },
	{ "vdpau", "lib/vdpau" },
};

/* The names in these: Mesa's loader and gbm (src/loader/loader.c, src/gbm/backends), libva's
 * va.c, libvdpau's vdpau_wrapper.c. What the '*' stands for tells whose driver it is. */
static const struct {
	const char *into;
	const char *pattern;
} plugin_names[] = {
	{ "lib/dri", "*_dri.so" },
	{ "lib/dri", "*_drv_video.so" },
	{ "lib/gbm", "*_gbm.so" },
	{ "lib/vdpau", "libvdpau_*.so*" },
};

static const char *const drivers[] = { "nvidia", "tegra" };

/* Compares the directory of `path` (size bytes of it) with a normalised one. */
static bool is_directory(const char *path, size_t size, const char *directory)
{
	for (size_t i = 0; i < size; i++) {
		if (path[i] == '/' && i + 1 < size && path[i + 1] == '/')
			continue;
		if (path[i] != *directory++)
			return false;
	}
	return *directory == '\0';
}

/* Whether the last component of the first size bytes is this word. */
static bool ends_with(const char *path, size_t size, const char *word)
{
	size_t length = strlen(word);

	return size > length && path[size - length - 1] == '/' &&
	       memcmp(path + size - length, word, length) == 0;
}

const char *hostplace_of(const char *path)
{
	const char *name = path_base(path);
	size_t size = (size_t)(name - path);

	while (size > 0 && path[size - 1] == '/')
		size--;
	for (size_t i = 0; i < HOSTPLACE_COUNT; i++)
		if (is_directory(path, size, hostplaces[i].host))
			return hostplace_is_manifest(hostplaces[i].into, name) ? hostplaces[i].into
									       : NULL;
	if (soname_stem(name) == 0 || soname_is_temporary(name))
		return NULL;
	for (size_t i = 0; i < HOSTPLACE_PLUGINS; i++)
		if (ends_with(path, size, hostplace_plugins[i].host))
			return hostplace_plugins[i].into;
	return soname_is_library(name) ? "lib" : NULL;
}

bool hostplace_is_manifest(const char *into, const char *name)
{
	bool opencl = string_has_prefix(into, "etc/OpenCL/");

	return *name != '.' && !soname_is_temporary(name) &&
	       string_has_suffix(name, opencl ? ".icd" : ".json");
}

static bool begins_with_driver(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(drivers); i++)
		if (string_has_prefix(name, drivers[i]))
			return true;
	return false;
}

enum hostplace_plugin hostplace_plugin_of(const char *into, const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(plugin_names); i++)
		if (strcmp(plugin_names[i].into, into) == 0 &&
			fnmatch(plugin_names[i].pattern, name, 0) == 0)
			return begins_with_driver(name + strcspn(plugin_names[i].pattern, "*"))
				       ? HOSTPLACE_DRIVER_PLUGIN
				       : HOSTPLACE_FOREIGN_PLUGIN;
	return HOSTPLACE_NO_PLUGIN;
}

bool hostplace_is_driver_name(const char *name)
{
	return begins_with_driver(name + strspn(name, "0123456789_"));
}

static bool is_driver_library(const char *path)
{
	return path && soname_classify(path_base(path)) == SONAME_DRIVER;
}

/* An ICD, or a layer, of the manifests of Vulkan and EGL. */
static bool json_names_driver(const char *text, size_t size)
{
	json_t *manifest = json_loadb(text, size, 0, NULL);
	const json_t *layers = json_object_get(manifest, "layers");
	bool driver = is_driver_library(
			      jsonhelp_string(json_object_get(manifest, "ICD"), "library_path")) ||
		      is_driver_library(
			      jsonhelp_string(json_object_get(manifest, "layer"), "library_path"));

	for (size_t i = 0; !driver && i < json_array_size(layers); i++)
		driver = is_driver_library(
			jsonhelp_string(json_array_get(layers, i), "library_path"));
	json_decref(manifest);
	return driver;
}

bool hostplace_names_driver(const char *into, const char *text, size_t size)
{
	_cleanup_(freep) char *line = NULL;
	const char *name;
	size_t length;

	if (!string_has_prefix(into, "etc/OpenCL/")) {
		size_t skipped = manifest_bom(text, size);

		return json_names_driver(text + skipped, size - skipped);
	}
	name = manifest_icd_name(text, size, &length);
	line = strndup(name, length);
	return is_driver_library(line);
}
