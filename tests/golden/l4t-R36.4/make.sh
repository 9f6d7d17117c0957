# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# JetPack 6 on an Orin: nvidia, and tegra is a link to it.
. tests/lib/l4t.sh
release 36 4.7
soc tegra234
d=$arm/nvidia
cuda $d
cuda_tools $d 540.4.0
tegra $d
tegra_r35 $d
gl $d $arm/tegra-egl 540.4.0
gl_r35 $d 540.4.0
foreign $d
link nvidia $arm/tegra
mesa
