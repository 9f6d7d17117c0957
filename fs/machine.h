/* SPDX-License-Identifier: MIT */
/* machine: parsers of the files that tell what machine this is (FACTS.md 4). Pure; each copies into
 * a buffer of the caller's. Core. */
#pragma once

#include <stddef.h>

#include "util.h"

#define MACHINE_WORD 32

/* /etc/nv_tegra_release: "# R36 (release), REVISION: 4.7, …" → "36.4.7"; REVISION may have one
 * part. Returns 0, -ENOENT: no such line. */
int machine_parse_release(const char *text, size_t size, char l4t[MACHINE_WORD]);
/* TARGET_USERSPACE_LIB_DIR_PATH= of the same file, made absolute. Returns 0 or -ENOENT. */
int machine_parse_library_directory(const char *text, size_t size, char path[256]);
/* /proc/device-tree/compatible: the NUL-separated string that is "nvidia,tegraNNN" exactly →
 * "tegraNNN" (NNN: three digits). Returns 0 or -ENOENT. */
int machine_parse_compatible(const char *text, size_t size, char soc[MACHINE_WORD]);
/* /var/lib/dpkg/status: Version of the installed package nvidia-l4t-core ("36.4.7-20250918154033")
 * → "36.4.7". Returns 0 or -ENOENT. */
int machine_parse_dpkg(const char *text, size_t size, char l4t[MACHINE_WORD]);
/* /proc/driver/nvidia/version or /sys/module/nvidia/version, all forms. Returns 0 or -ENOENT. */
int machine_parse_kernel_driver(const char *text, size_t size, char version[MACHINE_WORD]);
/* "Model:" of /proc/driver/nvidia/gpus/…/information. Returns 0 or -ENOENT. */
int machine_parse_gpu(const char *text, size_t size, char model[64]);
/* The CUDA version that a compat directory's path tells:
 * "…-cuda12.2-cuda_compat-12.2.34086590/compat", "/usr/local/cuda-12.2/compat" → "12.2". Returns 0
 * or -ENOENT. */
int machine_cuda_of_path(const char *path, char cuda[MACHINE_WORD]);
