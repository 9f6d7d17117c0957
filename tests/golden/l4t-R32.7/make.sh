# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# JetPack 4 on a Nano: everything is in tegra, EGL in tegra-egl; /usr/lib's libcuda.so is a link into it.
. tests/lib/l4t.sh
release 32 7.2
soc tegra210
d=$arm/tegra
cuda $d
linked $d 32.7.2 1 libnvidia-ptxjitcompiler
versioned $d 32.7.2 libnvidia-fatbinaryloader
tegra $d
tegra_r32 $d
gl $d $arm/tegra-egl 32.7.2
foreign $d
link tegra/libcuda.so $arm/libcuda.so
mesa
