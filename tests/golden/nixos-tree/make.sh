# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# A package like NixOS's graphics-drivers: links into other packages, glvnd, Mesa, Vulkan, drirc.d; all served, but compat gives the CUDA set.
store=/nix/store
driver $store/c-cuda12.2-cuda_compat-12.2.34086590/compat 1.1 libcuda libnvidia-ptxjitcompiler
driver $store/n-nvidia-x11/lib 470.256.02 libcuda libnvidia-ml libnvidia-ptxjitcompiler
lib $store/v-libglvnd/lib/libGL.so.1.7.0 libGL.so.1
link libGL.so.1.7.0 $store/v-libglvnd/lib/libGL.so.1
lib $store/m-mesa/lib/libEGL_mesa.so.0.0.0 libEGL_mesa.so.0
lib $store/m-mesa/lib/libvulkan_radeon.so libvulkan_radeon.so
lib $store/m-mesa/lib/dri/radeonsi_dri.so -
put $store/m-mesa/share/drirc.d/00-mesa-defaults.conf <<<'<driconf/>'
put $store/m-mesa/share/vulkan/icd.d/radeon_icd.json <<<'{"file_format_version":"1.0.0","ICD":{"library_path":"libvulkan_radeon.so"}}'
tree=$store/g-graphics-drivers
for name in libcuda.so.470.256.02 libcuda.so.1 libcuda.so libnvidia-ml.so.470.256.02 libnvidia-ml.so.1 \
  libnvidia-ptxjitcompiler.so.470.256.02 libnvidia-ptxjitcompiler.so.1; do
  link $store/n-nvidia-x11/lib/$name $tree/lib/$name
done
link $store/v-libglvnd/lib/libGL.so.1 $tree/lib/libGL.so.1
link $store/v-libglvnd/lib/libGL.so.1.7.0 $tree/lib/libGL.so.1.7.0
link $store/m-mesa/lib/libEGL_mesa.so.0.0.0 $tree/lib/libEGL_mesa.so.0
link $store/m-mesa/lib/libvulkan_radeon.so $tree/lib/libvulkan_radeon.so
link $store/m-mesa/lib/dri $tree/lib/dri
link $store/m-mesa/share $tree/share
