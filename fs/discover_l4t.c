/* SPDX-License-Identifier: MIT */
/* discover: the driver directories of L4T R32 … R39 (FACTS.md 5). One of them is complete for the
 * installed release and is taken; what an older JetPack left in the others is not. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "discover.h"
#include "machine.h"

#define RELEASE_FILE         "/etc/nv_tegra_release"
#define RELEASE_BYTES_MAX    (256 * 1024)
#define COMPATIBLE_FILE      "/proc/device-tree/compatible"
#define COMPATIBLE_BYTES_MAX 4096
#define GPU_DIRECTORY        "/opt/nvidia/l4t-gpu-libs"

#define MULTIARCH "/usr/lib/aarch64-linux-gnu"

/* nvidia-l4t-core until R35 and from R36; without Debian's layout (Yocto's meta-tegra) the
 * libraries lie flat. */
static const char *const before_r36[] = { MULTIARCH "/tegra", MULTIARCH "/nvidia" };
static const char *const since_r36[] = { MULTIARCH "/nvidia", MULTIARCH "/tegra" };
static const char *const flat[] = { MULTIARCH, "/usr/lib", "/usr/lib64" };

#define NEW_LAYOUT 36 /* the first release with `nvidia` */
#define GPU_LAYOUT 39 /* the first with l4t-gpu-libs */

/* What runs the SoCs before Thor's (tegra264) is nvgpu (FACTS.md 4). */
#define OPENRM_SOC "tegra264"

/* What is known of the machine. */
struct l4t {
	unsigned release;    /* 36; 0: not known */
	char directory[256]; /* "": the release file names none */
	char soc[MACHINE_WORD];
	char *gpu;     /* the GPU libraries of the SoC, or NULL */
	bool has_cuda; /* these may be served */
};

static int read_release(struct discovery *discovery, struct l4t *l4t)
{
	_cleanup_(freep) char *text = NULL;
	char release[MACHINE_WORD];
	size_t size;
	int result = discover_read(discovery, RELEASE_FILE, RELEASE_BYTES_MAX, &text, &size);

	if (result < 0)
		return result == -ENOENT ? 0 : result;
	if (machine_parse_release(text, size, release) == 0)
		l4t->release = (unsigned)strtoul(release, NULL, 10);
	if (machine_parse_library_directory(text, size, l4t->directory) < 0)
		*l4t->directory = '\0';
	return 0;
}

/* From the root, which may be another machine's; else from this one's. */
static int read_soc(struct discovery *discovery, struct l4t *l4t)
{
	struct rootfs *machine = discovery->job->root;
	_cleanup_(freep) char *text = NULL;
	size_t size;
	int result = discover_read(discovery, COMPATIBLE_FILE, COMPATIBLE_BYTES_MAX, &text, &size);

	if (result == 0 && machine_parse_compatible(text, size, l4t->soc) == 0)
		return 0;
	if (scan_is_shortage(result))
		return result;
	free(text);
	text = NULL;
	if (discovery->root == machine)
		return 0;
	result = rootfs_read(machine, COMPATIBLE_FILE, COMPATIBLE_BYTES_MAX, &text, &size);
	if (result == 0)
		machine_parse_compatible(text, size, l4t->soc);
	return scan_is_shortage(result) ? result : 0;
}

/* Of an SoC that is known its own or none; else the only one that may be served. */
static int choose_gpu(struct discovery *discovery, struct l4t *l4t)
{
	enum discovered_library nvgpu, openrm, chosen;
	bool takes_openrm = strcmp(l4t->soc, OPENRM_SOC) == 0;

	if (l4t->release && l4t->release < GPU_LAYOUT)
		return 0;
	nvgpu = discover_look(discovery, GPU_DIRECTORY "/nvgpu", "libcuda.so");
	openrm = discover_look(discovery, GPU_DIRECTORY "/openrm", "libcuda.so");
	if (!*l4t->soc && nvgpu == DISCOVERED && openrm == DISCOVERED) {
		diag_add_as(&discovery->job->diags, DIAG_WARNING, "layer-unread", COMPATIBLE_FILE,
			0, "layer %s: it names no SoC, so neither %s/nvgpu nor %s/openrm is taken",
			discovery->job->policy.name, GPU_DIRECTORY, GPU_DIRECTORY);
		return 0;
	}
	if (!*l4t->soc)
		takes_openrm = openrm > nvgpu;
	chosen = takes_openrm ? openrm : nvgpu;
	if (chosen == DISCOVERED_NOTHING)
		return 0;
	l4t->has_cuda = chosen == DISCOVERED;
	l4t->gpu = string_format("%s/%s", GPU_DIRECTORY, takes_openrm ? "openrm" : "nvgpu");
	return l4t->gpu ? 0 : -ENOMEM;
}

/* 0: not L4T's; 1: nothing of it may be served, which is told when it is taken; 3: complete. */
static unsigned completeness(struct discovery *discovery, const struct l4t *l4t, const char *path)
{
	enum discovered_library found = discover_look(discovery, path, "libnvrm");

	if (found != DISCOVERED)
		return found == DISCOVERED_NOTHING ? 0 : 1;
	return l4t->has_cuda || discover_look(discovery, path, "libcuda.so") == DISCOVERED ? 3 : 2;
}

/* The one that the release file names, where it has anything: a complete one beside it is of
 * another JetPack. */
static const char *choose_directory(struct discovery *discovery, const struct l4t *l4t)
{
	const char *const *usual =
		l4t->release && l4t->release < NEW_LAYOUT ? before_r36 : since_r36;
	const char *paths[] = { usual[0], usual[1], flat[0], flat[1], flat[2] };
	const char *best = NULL;
	unsigned most = 0;

	if (*l4t->directory &&
		discover_look(discovery, l4t->directory, "libnvrm") != DISCOVERED_NOTHING)
		return l4t->directory;
	for (size_t i = 0; most < 3 && i < ARRAY_SIZE(paths); i++) {
		unsigned found = completeness(discovery, l4t, paths[i]);

		if (found > most) {
			most = found;
			best = paths[i];
		}
	}
	return best;
}

/* The GPU libraries win over what the directory has of them. */
static int take(struct discovery *discovery, const struct l4t *l4t, const char *directory)
{
	size_t size = (size_t)(path_base(directory) - directory);
	_cleanup_(freep) char *parent = strndup(directory, size > 1 ? size - 1 : 1);
	_cleanup_(freep) char *egl = string_format("%.*stegra-egl", (int)size, directory);
	int result = parent && egl ? 0 : -ENOMEM;

	if (result == 0 && l4t->gpu)
		result = discover_directory(discovery, l4t->gpu, "lib", scan_directory);
	if (result == 0)
		result = discover_directory(discovery, directory, "lib", scan_directory);
	if (result == 0)
		result = discover_directory(discovery, egl, "lib", scan_directory);
	if (result == 0)
		result = discover_directory(discovery, parent, "lib", scan_plugins);
	return result < 0 ? result : 1;
}

int discover_l4t(struct discovery *discovery)
{
	struct l4t l4t = { 0 };
	const char *directory;
	int result = read_release(discovery, &l4t);

	if (result == 0)
		result = read_soc(discovery, &l4t);
	if (result == 0)
		result = choose_gpu(discovery, &l4t);
	if (result < 0)
		return result;
	directory = choose_directory(discovery, &l4t);
	result = directory ? take(discovery, &l4t, directory) : 0;
	free(l4t.gpu);
	return result;
}
