# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# JetPack 7.2 on an Orin: libcuda is that of nvgpu, whatever the others have; tegra has leftovers.
. tests/lib/l4t.sh
release 39 2.0
soc tegra234
d=$arm/nvidia
gpu=/opt/nvidia/l4t-gpu-libs
cuda $gpu/nvgpu
lib $gpu/openrm/libcuda.so.1.1 libcuda.so.1
lib $gpu/openrm/libnvidia-gpucomp.so.595.0 libnvidia-gpucomp.so.595.0
link $gpu/openrm/libcuda.so.1.1 $d/libcuda.so.1
cuda_tools $d 595.00
tegra $d
tegra_r35 $d
gl $d $arm/tegra-egl 595.00
gl_r35 $d 595.00
foreign $d
leftovers $arm/tegra
mesa
