/* SPDX-License-Identifier: MIT */
#include "soname.h"

#include <ctype.h>
#include <string.h>

#include "util.h"

enum soname_flag {
	IS_CUDA_SET = 1 << 0,
	IS_COMPAT_EXTRA = 1 << 1,
	IS_TEGRA = 1 << 2,
};

struct soname_row {
	const char *stem; /* what stands before ".so"; a '*' at the end stands for anything */
	enum soname_class class;
	unsigned flags;
};

/* Sorted by stem (a test checks it). Sources: L4T packages nvidia-l4t-{core,cuda,3d-core,gbm,
 * wayland,nvsci,nvml,multimedia,camera} and Debian's nvidia-graphics-drivers; libnvidia-container,
 * src/nvc_info.c (cbl, ifr, sandboxutils, vdpau_nvidia); nvidia-container-toolkit,
 * pkg/nvcdi/driver-wsl.go (WSL's); glibc's and musl's own files (the libc
 * family); libglvnd (the loaders). */
static const struct soname_row rows[] = {
	{ "ld", SONAME_NEVER, 0 },   /* glibc: ld.so.1 */
	{ "ld-*", SONAME_NEVER, 0 }, /* glibc: ld-linux-*.so, ld-2.31.so; musl: ld-musl-* */
	{ "ld64", SONAME_NEVER, 0 }, /* glibc: ppc64, s390x */
	{ "libBrokenLocale", SONAME_NEVER, 0 }, /* glibc */
	{ "libEGL", SONAME_ASK, 0 },            /* libglvnd */
	{ "libEGL_nvidia", SONAME_DRIVER, 0 },
	{ "libGL", SONAME_ASK, 0 },        /* libglvnd */
	{ "libGLESv1_CM", SONAME_ASK, 0 }, /* libglvnd */
	{ "libGLESv1_CM_nvidia", SONAME_DRIVER, 0 },
	{ "libGLESv2", SONAME_ASK, 0 }, /* libglvnd */
	{ "libGLESv2_nvidia", SONAME_DRIVER, 0 },
	{ "libGLX", SONAME_ASK, 0 }, /* libglvnd */
	{ "libGLX_nvidia", SONAME_DRIVER, 0 },
	{ "libGLdispatch", SONAME_ASK, 0 }, /* libglvnd */
	{ "libOpenGL", SONAME_ASK, 0 },     /* libglvnd */
	{ "libX11*", SONAME_ASK, 0 },
	{ "libXau", SONAME_ASK, 0 },
	{ "libXdmcp", SONAME_ASK, 0 },
	{ "libXext", SONAME_ASK, 0 },
	{ "libanl", SONAME_NEVER, 0 },      /* glibc */
	{ "libc", SONAME_NEVER, 0 },        /* glibc */
	{ "libc-2.*", SONAME_NEVER, 0 },    /* glibc before 2.34: libc-2.31.so */
	{ "libc.musl-*", SONAME_NEVER, 0 }, /* musl, Alpine */
	{ "libcuda", SONAME_DRIVER, IS_CUDA_SET },
	{ "libcuda_instrumentation", SONAME_DRIVER, 0 },
	{ "libcuda_loader", SONAME_DRIVER, 0 }, /* WSL */
	{ "libcudadebugger", SONAME_DRIVER, IS_CUDA_SET },
	{ "libdl", SONAME_NEVER, 0 },     /* glibc */
	{ "libdl-2.*", SONAME_NEVER, 0 }, /* glibc */
	{ "libdrm*", SONAME_ASK, 0 },
	{ "libdxcore", SONAME_DRIVER, 0 }, /* WSL: libcuda loads it */
	{ "libexpat", SONAME_ASK, 0 },
	{ "libffi", SONAME_ASK, 0 },
	{ "libgbm", SONAME_ASK, 0 },
	{ "libgcc_s", SONAME_ASK, 0 },
	{ "libm", SONAME_NEVER, 0 },     /* glibc */
	{ "libm-2.*", SONAME_NEVER, 0 }, /* glibc */
	{ "libmvec*", SONAME_NEVER, 0 }, /* glibc */
	{ "libnvargus*", SONAME_DRIVER, IS_TEGRA },
	{ "libnvbuf*", SONAME_DRIVER, IS_TEGRA },
	{ "libnvcam*", SONAME_DRIVER, IS_TEGRA },
	{ "libnvcucompat", SONAME_DRIVER, 0 },
	{ "libnvcudla", SONAME_DRIVER, IS_COMPAT_EXTRA },
	{ "libnvcuextend", SONAME_DRIVER, 0 },
	{ "libnvcuvid", SONAME_DRIVER, 0 },
	{ "libnvdc", SONAME_DRIVER, IS_TEGRA },
	{ "libnvddk_*", SONAME_DRIVER, IS_TEGRA },
	{ "libnvdla_compiler", SONAME_DRIVER, IS_TEGRA },
	{ "libnvdla_runtime", SONAME_DRIVER, IS_TEGRA },
	{ "libnvdsbufferpool", SONAME_DRIVER, IS_TEGRA },
	{ "libnvdxgdmal", SONAME_DRIVER, 0 }, /* WSL */
	{ "libnvfnet*", SONAME_DRIVER, IS_TEGRA },
	{ "libnvgov_*", SONAME_DRIVER, IS_TEGRA },
	{ "libnvidia-allocator", SONAME_DRIVER, 0 },
	{ "libnvidia-cbl", SONAME_DRIVER, 0 },
	{ "libnvidia-cfg", SONAME_DRIVER, 0 },
	{ "libnvidia-compiler", SONAME_DRIVER, 0 },
	{ "libnvidia-egl-gbm", SONAME_DRIVER, 0 },
	{ "libnvidia-egl-wayland", SONAME_DRIVER, 0 },
	{ "libnvidia-egl-xcb", SONAME_DRIVER, 0 },
	{ "libnvidia-egl-xlib", SONAME_DRIVER, 0 },
	{ "libnvidia-eglcore", SONAME_DRIVER, 0 },
	{ "libnvidia-encode", SONAME_DRIVER, 0 },
	{ "libnvidia-fatbinaryloader", SONAME_DRIVER, 0 },
	{ "libnvidia-fbc", SONAME_DRIVER, 0 },
	{ "libnvidia-glcore", SONAME_DRIVER, 0 },
	{ "libnvidia-glsi", SONAME_DRIVER, 0 },
	{ "libnvidia-glvkspirv", SONAME_DRIVER, 0 },
	{ "libnvidia-gpucomp", SONAME_DRIVER, IS_CUDA_SET },
	{ "libnvidia-ifr", SONAME_DRIVER, 0 },
	{ "libnvidia-ml", SONAME_DRIVER, 0 },
	{ "libnvidia-ml_loader", SONAME_DRIVER, 0 }, /* WSL */
	{ "libnvidia-ngx", SONAME_DRIVER, 0 },
	{ "libnvidia-nvvm*", SONAME_DRIVER, IS_CUDA_SET },
	{ "libnvidia-opencl", SONAME_DRIVER, 0 },
	{ "libnvidia-opticalflow", SONAME_DRIVER, 0 },
	{ "libnvidia-pkcs11*", SONAME_DRIVER, IS_CUDA_SET },
	{ "libnvidia-ptxjitcompiler", SONAME_DRIVER, IS_CUDA_SET },
	{ "libnvidia-rmapi-tegra", SONAME_DRIVER, IS_TEGRA },
	{ "libnvidia-rtcore", SONAME_DRIVER, 0 },
	{ "libnvidia-sandboxutils", SONAME_DRIVER, 0 },
	{ "libnvidia-tileiras", SONAME_DRIVER, IS_CUDA_SET },
	{ "libnvidia-tls", SONAME_DRIVER, 0 },
	{ "libnvidia-vulkan-producer", SONAME_DRIVER, 0 },
	{ "libnvidia-wayland-client", SONAME_DRIVER, 0 },
	{ "libnvimp", SONAME_DRIVER, IS_TEGRA },
	{ "libnvisp*", SONAME_DRIVER, IS_TEGRA },
	{ "libnvll", SONAME_DRIVER, IS_TEGRA },
	{ "libnvmedia*", SONAME_DRIVER, IS_TEGRA },
	{ "libnvmm*", SONAME_DRIVER, IS_TEGRA },
	{ "libnvomx*", SONAME_DRIVER, IS_TEGRA },
	{ "libnvoptix", SONAME_DRIVER, 0 },
	{ "libnvoptix_loader", SONAME_DRIVER, 0 }, /* WSL: the SONAME of its libnvoptix.so.1 */
	{ "libnvos", SONAME_DRIVER, IS_TEGRA },
	{ "libnvparser", SONAME_DRIVER, IS_TEGRA },
	{ "libnvphs*", SONAME_DRIVER, IS_TEGRA },
	{ "libnvplayfair", SONAME_DRIVER, IS_TEGRA },
	{ "libnvpva*", SONAME_DRIVER, IS_TEGRA },
	{ "libnvrm*", SONAME_DRIVER, IS_TEGRA },
	{ "libnvscibuf", SONAME_DRIVER, IS_TEGRA },
	{ "libnvscicommon", SONAME_DRIVER, IS_TEGRA },
	{ "libnvscievent", SONAME_DRIVER, IS_TEGRA },
	{ "libnvsciipc", SONAME_DRIVER, IS_TEGRA },
	{ "libnvscistream", SONAME_DRIVER, IS_TEGRA },
	{ "libnvscisync", SONAME_DRIVER, IS_TEGRA },
	{ "libnvsocsys", SONAME_DRIVER, IS_TEGRA },
	{ "libnvtegrahv", SONAME_DRIVER, IS_TEGRA },
	{ "libnvvic", SONAME_DRIVER, IS_TEGRA },
	{ "libpthread", SONAME_NEVER, 0 },     /* glibc */
	{ "libpthread-2.*", SONAME_NEVER, 0 }, /* glibc */
	{ "libresolv", SONAME_NEVER, 0 },      /* glibc */
	{ "libresolv-2.*", SONAME_NEVER, 0 },  /* glibc */
	{ "librt", SONAME_NEVER, 0 },          /* glibc */
	{ "librt-2.*", SONAME_NEVER, 0 },      /* glibc */
	{ "libstdc++", SONAME_ASK, 0 },
	{ "libthread_db", SONAME_NEVER, 0 }, /* glibc */
	{ "libutil", SONAME_NEVER, 0 },      /* glibc */
	{ "libutil-2.*", SONAME_NEVER, 0 },  /* glibc */
	{ "libv4l*", SONAME_ASK, 0 },
	{ "libvdpau_nvidia", SONAME_DRIVER, 0 },
	{ "libvulkan", SONAME_ASK, 0 },
	{ "libwayland-*", SONAME_ASK, 0 },
	{ "libxcb*", SONAME_ASK, 0 },
	{ "libxshmfence", SONAME_ASK, 0 },
	{ "nvidia-drm_gbm", SONAME_DRIVER, 0 }, /* lib/gbm: Mesa's backend names */
	{ "tegra-udrm_gbm", SONAME_DRIVER, 0 },
	{ "tegra_gbm", SONAME_DRIVER, 0 },
};

/* dpkg, rpm, editors, compressors, NFS and FUSE leave these. */
static const char *const temporary_suffixes[] = { "~", ".bak", ".bz2", ".debug", ".dpkg-dist",
	".dpkg-new", ".dpkg-old", ".dpkg-tmp", ".gz", ".old", ".orig", ".part", ".rpmnew",
	".rpmsave", ".swp", ".tmp", ".xz", ".zst" };
static const char *const temporary_prefixes[] = { ".#", "#", ".fuse_hidden", ".nfs" };

size_t soname_stem(const char *name)
{
	const char *at = name;

	while ((at = strstr(at, ".so")) != NULL) {
		if (at[3] == '\0' || at[3] == '.')
			return (size_t)(at - name);
		at += 3;
	}
	return 0;
}

static const struct soname_row *find_row(const char *name)
{
	size_t stem = soname_stem(name);

	if (stem == 0)
		return NULL;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		size_t size = strlen(rows[i].stem);
		bool open = rows[i].stem[size - 1] == '*';

		if (open)
			size--;
		if ((open ? stem >= size : stem == size) && memcmp(name, rows[i].stem, size) == 0)
			return &rows[i];
	}
	return NULL;
}

static bool has_flag(const char *name, unsigned flag)
{
	const struct soname_row *row = find_row(name);

	return row && (row->flags & flag);
}

enum soname_class soname_classify(const char *name)
{
	const struct soname_row *row = find_row(name);

	return row ? row->class : SONAME_OTHER;
}

bool soname_is_cuda_set(const char *name)
{
	return has_flag(name, IS_CUDA_SET);
}

bool soname_is_compat_extra(const char *name)
{
	return has_flag(name, IS_COMPAT_EXTRA);
}

bool soname_is_tegra(const char *name)
{
	return has_flag(name, IS_TEGRA);
}

bool soname_is_temporary(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(temporary_suffixes); i++) {
		if (string_has_suffix(name, temporary_suffixes[i]))
			return true;
	}
	for (size_t i = 0; i < ARRAY_SIZE(temporary_prefixes); i++) {
		if (string_has_prefix(name, temporary_prefixes[i]))
			return true;
	}
	return false;
}

bool soname_is_library(const char *name)
{
	size_t stem = soname_stem(name);

	if (stem == 0 || soname_is_temporary(name))
		return false;
	if (name[stem + 3] == '\0')
		return string_has_prefix(name, "lib");
	return isdigit((unsigned char)name[stem + 4]);
}

bool soname_same_stem(const char *a, const char *b)
{
	size_t stem = soname_stem(a);

	return stem > 0 && stem == soname_stem(b) && memcmp(a, b, stem) == 0;
}

const char *soname_version(const char *name)
{
	size_t stem = soname_stem(name);

	if (stem == 0 || name[stem + 3] != '.' || name[stem + 4] == '\0')
		return NULL;
	return name + stem + 4;
}

/* Compares the digits at *a and *b as numbers of any length and moves behind them. */
static int compare_number(const char **a, const char **b)
{
	size_t a_size;
	size_t b_size;
	int order;

	*a += strspn(*a, "0");
	*b += strspn(*b, "0");
	a_size = strspn(*a, "0123456789");
	b_size = strspn(*b, "0123456789");
	if (a_size != b_size)
		order = a_size < b_size ? -1 : 1;
	else
		order = memcmp(*a, *b, a_size);
	*a += a_size;
	*b += b_size;
	return order;
}

int version_compare(const char *a, const char *b)
{
	a = a ? a : "";
	b = b ? b : "";
	while (*a && *b) {
		int order = compare_number(&a, &b);

		if (order == 0 && *a != *b) {
			/* "1" before "1.0" before "1a" */
			int a_rank = *a == '\0' ? 0 : *a == '.' ? 1 : 2;
			int b_rank = *b == '\0' ? 0 : *b == '.' ? 1 : 2;

			order = a_rank != b_rank ? a_rank - b_rank : *a - *b;
		}
		if (order != 0)
			return order;
		if (*a) {
			a++;
			b++;
		}
	}
	return (*a != '\0') - (*b != '\0');
}

size_t version_parts(const char *version)
{
	size_t parts = 1;

	if (!version || !*version)
		return 0;
	for (; *version; version++)
		parts += *version == '.';
	return parts;
}

bool version_is_driver(const char *version)
{
	const char *at;

	if (!version || strspn(version, "0123456789") != 3 || version[3] != '.')
		return false;
	for (at = version + 3; *at == '.';) {
		size_t digits = strspn(at + 1, "0123456789");

		if (digits == 0)
			return false;
		at += 1 + digits;
	}
	return *at == '\0';
}
