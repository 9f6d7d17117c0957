# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Each kind of finding on one Orin: links that lead nowhere, one SONAME in two layers of one role and in two of different
# roles, pieces of libnvrm that are not there, a library that only the program brings, one that nobody has.
tegra=/usr/lib/aarch64-linux-gnu/nvidia old=/opt/old more=/opt/more
put /etc/nv_tegra_release <<<'# R36 (release), REVISION: 4.7, GCID: 42132812, BOARD: generic, EABI: aarch64, DATE: Thu Sep 18 22:54:44 UTC 2025'
printf 'nvidia,p3737-0000+p3701-0000\0nvidia,tegra234\0nvidia,tegra23x\0' | put /proc/device-tree/compatible
lib $tegra/libcuda.so.1.1 libcuda.so.1 libnvrm_gpu.so libstdc++.so.6
lib $tegra/libnvrm_gpu.so libnvrm_gpu.so libnvrm_mem.so
lib $tegra/libnvrm_mem.so libnvrm_mem.so
lib $tegra/libnvos.so libnvos.so
lib $tegra/libnvcuvid.so.1 libnvcuvid.so.1 libnvmedia_absent.so
link libnvdc.so $tegra/libnvdc.so
link $tegra/libnvimp.so $tegra/libnvimp.so
link libnvphs_b.so $tegra/libnvphs_a.so
link libnvphs_a.so $tegra/libnvphs_b.so
link ../../../absent/libnvvic.so $tegra/libnvvic.so
# the same names, other files
lib $old/libnvcuvid.so.1 libnvcuvid.so.1 libc.so.6
lib $old/libnvos.so libnvos.so libc.so.6
lib $more/libnvos.so libnvos.so libm.so.6
# a copy is no other file
mkdir -p "$ROOT$old" && cp "$ROOT$tegra/libnvrm_mem.so" "$ROOT$old/libnvrm_mem.so"
