/* SPDX-License-Identifier: MIT */
/* discover: the directories in which the loader's cache has driver libraries, and those in which
 * desktops have them without it (FACTS.md 5). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "discover.h"
#include "ldcache.h"
#include "soname.h"

#define CACHE_FILE      "/etc/ld.so.cache"
#define CACHE_BYTES_MAX (16 * 1024 * 1024)
#define DIRECTORIES_MAX 64
#define WSL_DIRECTORY   "/usr/lib/wsl/lib"
#define CUDA_LIBRARY    "libcuda.so.1"

/* Debian's names for the machines. */
static const char *const multiarch[] = {
	[MACHINE_X86_64] = "x86_64-linux-gnu",
	[MACHINE_I386] = "i386-linux-gnu",
	[MACHINE_AARCH64] = "aarch64-linux-gnu",
	[MACHINE_ARMHF] = "arm-linux-gnueabihf",
};

/* cuda_compat that was made known to the loader, or what is below it (compat/lib in NVIDIA's
 * container images): it is no host driver (FACTS.md 3). */
static bool is_compat(const char *directory)
{
	static const char *const names[] = { "compat", "compat_orin" };

	for (const char *at = strchr(directory, '/'); at; at = strchr(at + 1, '/'))
		for (size_t i = 0; i < ARRAY_SIZE(names); i++)
			if (strncmp(at + 1, names[i], strcspn(at + 1, "/")) == 0 &&
				strlen(names[i]) == strcspn(at + 1, "/"))
				return true;
	return false;
}

/* Adds the directory of a path once. */
static int add_directory(struct string_list *directories, const char *path)
{
	size_t size = (size_t)(path_base(path) - path);
	_cleanup_(freep) char *directory = strndup(path, size > 1 ? size - 1 : 1);

	if (!directory)
		return -ENOMEM;
	if (directories->count == DIRECTORIES_MAX || is_compat(directory) ||
		string_list_has(directories, directory))
		return 0;
	return string_list_add(directories, directory);
}

/* The first libcuda's directory first: the table is sorted by name, and of one name the first one
 * is what the loader takes. */
static int list_directories(const struct policy_layer *policy, const struct string_list *paths,
	struct string_list *directories)
{
	const char *why;
	int result = 0;

	for (size_t i = 0; result == 0 && i < paths->count; i++)
		if (strcmp(path_base(paths->items[i]), CUDA_LIBRARY) == 0)
			result = add_directory(directories, paths->items[i]);
	for (size_t i = 0; result == 0 && i < paths->count; i++) {
		const char *name = path_base(paths->items[i]);

		if (soname_is_library(name) && layer_wants(policy, name, &why))
			result = add_directory(directories, paths->items[i]);
	}
	return result;
}

/* The directories of driver libraries in the cache. *ret_usable: there is a cache. */
static int read_cache(
	struct discovery *discovery, struct string_list *directories, bool *ret_usable)
{
	struct string_list paths = { 0 };
	_cleanup_(freep) char *data = NULL, *shown = NULL;
	size_t size;
	int result = discover_read(discovery, CACHE_FILE, CACHE_BYTES_MAX, &data, &size);

	*ret_usable = result == 0;
	if (result < 0)
		return result == -ENOENT ? 0 : result;
	result = ldcache_parse(data, size, discovery->job->machine, &paths);
	if (result == 0)
		result = list_directories(&discovery->job->policy, &paths, directories);
	string_list_clear(&paths);
	if (result != -EINVAL)
		return result;
	*ret_usable = false;
	shown = rootfs_real_path(discovery->root, CACHE_FILE);
	if (!shown)
		return -ENOMEM;
	diag_add_as(&discovery->job->diags, DIAG_WARNING, "layer-unread", shown, 0,
		"layer %s: it is not a cache of the loader that is understood",
		discovery->job->policy.name);
	return 0;
}

static int add_format(
	struct string_list *directories, const char *before, const char *machine, const char *after)
{
	_cleanup_(freep) char *directory = string_format("%s%s%s", before, machine, after);

	return directory ? string_list_add(directories, directory) : -ENOMEM;
}

/* Whether the layer has a libcuda of these directories by now. */
static bool has_cuda(const struct layer *layer)
{
	for (size_t i = 0; i < layer->n_candidates; i++)
		if (soname_same_stem(path_base(layer->candidates[i].path), CUDA_LIBRARY))
			return true;
	return false;
}

static int take_all(struct discovery *discovery, const struct string_list *directories)
{
	int result = 0;

	for (size_t i = 0; result == 0 && i < directories->count; i++)
		result =
			discover_directory(discovery, directories->items[i], "lib", scan_directory);
	return result;
}

/* Where there is no cache (musl) and where Debian's alternatives are broken. */
static int take_well_known(struct discovery *discovery, bool cached)
{
	const char *machine = multiarch[discovery->job->machine];
	bool narrow =
		discovery->job->machine == MACHINE_I386 || discovery->job->machine == MACHINE_ARMHF;
	struct string_list directories = { 0 };
	int result = add_format(&directories, "/usr/lib/", machine, "/nvidia/current");

	if (result == 0 && !cached)
		result = add_format(&directories, "/usr/lib/", machine, "");
	if (result == 0 && !cached && !narrow)
		result = string_list_add(&directories, "/usr/lib64");
	if (result == 0 && !cached)
		result = string_list_add(&directories, "/usr/lib");
	if (result == 0)
		result = take_all(discovery, &directories);
	string_list_clear(&directories);
	return result;
}

int discover_ldcache(struct discovery *discovery, bool well_known)
{
	size_t before = discovery->job->layer->n_candidates;
	struct string_list directories = { 0 };
	bool cached = false;
	int result;

	/* A Linux driver beside WSL's own is a mistake that NVIDIA warns of. */
	if (well_known &&
		discover_look(discovery, WSL_DIRECTORY, "libcuda.so") != DISCOVERED_NOTHING) {
		result = discover_directory(discovery, WSL_DIRECTORY, "lib", scan_directory);
	} else {
		result = read_cache(discovery, &directories, &cached);
		if (result == 0)
			result = take_all(discovery, &directories);
		if (result == 0 && well_known && !has_cuda(discovery->job->layer))
			result = take_well_known(discovery, cached);
	}
	string_list_clear(&directories);
	if (result < 0)
		return result;
	return discovery->job->layer->n_candidates > before;
}
