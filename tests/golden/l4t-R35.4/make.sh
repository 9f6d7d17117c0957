# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# JetPack 5 on an Orin. An R36 that was tried left `nvidia`, complete.
. tests/lib/l4t.sh
release 35 4.1
soc tegra234
d=$arm/tegra
cuda $d
cuda_tools $d 35.4.1
tegra $d
tegra_r35 $d
gl $d $arm/tegra-egl 35.4.1
gl_r35 $d 35.4.1
foreign $d
leftovers $arm/nvidia
mesa
