# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# JetPack 7 on a Thor, upgraded: tegra is the directory of the JetPack before, complete, and stays out.
. tests/lib/l4t.sh
release 38 2.0
soc tegra264
d=$arm/nvidia
cuda $d
cuda_tools $d 580.00
tegra $d
tegra_r35 $d
gl $d $arm/tegra-egl 580.00
gl_r35 $d 580.00
linked $d 580.00 1 libnvidia-ml
foreign $d
leftovers $arm/tegra
mesa
