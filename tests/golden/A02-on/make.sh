# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Case A02: libnvsocsys is missing; with compat on it is named.
compat=/usr/local/cuda-12.2/compat tegra=/usr/lib/aarch64-linux-gnu/tegra
lib $compat/libcuda.so.1.1 libcuda.so.1 libnvrm_gpu.so libnvrm_mem.so libc.so.6
lib $tegra/libcuda.so.1.1 libcuda.so.1 libnvrm_gpu.so libc.so.6
lib $tegra/libnvrm_gpu.so libnvrm_gpu.so libnvrm_mem.so libnvrm_sync.so libnvrm_host1x.so
lib $tegra/libnvrm_mem.so libnvrm_mem.so libnvrm_chip.so libnvos.so
lib $tegra/libnvrm_sync.so libnvrm_sync.so libnvos.so
lib $tegra/libnvrm_host1x.so libnvrm_host1x.so libnvos.so
lib $tegra/libnvrm_chip.so libnvrm_chip.so
lib $tegra/libnvos.so libnvos.so libnvsocsys.so libnvsciipc.so
lib $tegra/libnvsciipc.so libnvsciipc.so
