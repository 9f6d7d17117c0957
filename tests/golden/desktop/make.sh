# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Debian on x86-64 without any policy: the loader's cache tells the directories. cuda_compat in it is none of them.
. tests/lib/l4t.sh
d=/usr/lib/x86_64-linux-gnu
linked $d 550.120 1 libcuda libcudadebugger libnvidia-ptxjitcompiler libnvidia-opencl libnvidia-ml libnvidia-cfg libnvidia-encode \
  libnvidia-fbc libnvidia-opticalflow libnvcuvid libnvoptix libnvidia-allocator libnvidia-ngx
linked $d 550.120 4 libnvidia-nvvm
linked $d 550.120 0 libGLX_nvidia libEGL_nvidia
versioned $d 550.120 libnvidia-glcore libnvidia-eglcore libnvidia-glsi libnvidia-tls libnvidia-rtcore libnvidia-gpucomp libnvidia-glvkspirv
foreign $d
link ../libnvidia-allocator.so.1 $d/gbm/nvidia-drm_gbm.so
lib $d/vdpau/libvdpau_nvidia.so.550.120 libvdpau_nvidia.so.1
link libvdpau_nvidia.so.550.120 $d/vdpau/libvdpau_nvidia.so.1
lib $d/dri/iris_dri.so -
lib /usr/local/lib/libnvidia-egl-wayland.so.1.1.13 libnvidia-egl-wayland.so.1
link libnvidia-egl-wayland.so.1.1.13 /usr/local/lib/libnvidia-egl-wayland.so.1
echo libnvidia-egl-wayland.so.1 >>"$ROOT/.sonames"
driver /opt/cuda/compat 560.35 libcuda
put /usr/share/vulkan/icd.d/nvidia_icd.json <<<'{"file_format_version":"1.0.1","ICD":{"library_path":"libGLX_nvidia.so.0","api_version":"1.3.277"}}'
put /usr/share/vulkan/icd.d/other.json <<<'{"file_format_version":"1.0.1","ICD":{"library_path":"libGLX_nvidia.so.0","api_version":"1.3.277"}}'
put /usr/share/vulkan/implicit_layer.d/nvidia_layers.json <<<'{"file_format_version":"1.0.0","layer":{"name":"VK_LAYER_NV_optimus","library_path":"libGLX_nvidia.so.0"}}'
put /usr/share/glvnd/egl_vendor.d/10_nvidia.json <<<'{"file_format_version":"1.0.0","ICD":{"library_path":"libEGL_nvidia.so.0"}}'
put /etc/OpenCL/vendors/nvidia.icd <<<libnvidia-opencl.so.1
put /etc/OpenCL/vendors/pocl.icd <<<libpocl.so.2
mesa
printf '%s\n' /opt/cuda/compat $d /usr/local/lib | put /etc/ld.so.conf
kernel_driver 550.120
loader_cache
