/* SPDX-License-Identifier: MIT */
/* hostplace: where a file of a host belongs in the driver directory: libraries, plug-ins, and the
 * JSON and ICD files of Vulkan, EGL and OpenCL (FACTS.md 6). Core. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* A directory of manifests on a host and its place, the one that the loaders ask first at first. */
struct hostplace {
	const char *host; /* "/etc/vulkan/icd.d" */
	const char *into; /* "share/vulkan/icd.d" */
};

#define HOSTPLACE_COUNT 9
extern const struct hostplace hostplaces[HOSTPLACE_COUNT];

/* The directories beside the libraries in which Mesa's gbm, libva and libvdpau look for drivers:
 * "gbm" and "lib/gbm". */
#define HOSTPLACE_PLUGINS 3
extern const struct hostplace hostplace_plugins[HOSTPLACE_PLUGINS];

/* The largest manifest that is looked into. */
#define HOSTPLACE_MANIFEST_MAX (64 * 1024)

/* The directory of the driver directory in which a host file of that path belongs: "lib",
 * "lib/gbm", "share/vulkan/icd.d" (a constant), or NULL: it has no place. Double slashes are one.
 */
const char *hostplace_of(const char *path);

enum hostplace_plugin {
	HOSTPLACE_NO_PLUGIN,
	HOSTPLACE_FOREIGN_PLUGIN, /* another driver's */
	HOSTPLACE_DRIVER_PLUGIN,
};
/* What a name in a directory of plug-ins ("lib/gbm") is. */
enum hostplace_plugin hostplace_plugin_of(const char *into, const char *name);

/* Whether a name in a directory of manifests may be one: "*.json", in OpenCL's "*.icd". */
bool hostplace_is_manifest(const char *into, const char *name);
/* Whether the manifest is the driver's by its name: nvidia… or tegra…, digits and '_' before it. */
bool hostplace_is_driver_name(const char *name);
/* Whether the manifest is the driver's by the library that it names. text has no NUL at its end. */
bool hostplace_names_driver(const char *into, const char *text, size_t size);
