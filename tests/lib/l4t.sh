# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# l4t.sh — the drivers of L4T releases by their file names (FACTS.md 5), for the make.sh of golden cases. Sourced after
# golden.sh. What the release has of the driver is written to $ROOT/.sonames: tests/golden.sh expects these SONAMEs and
# no others.

arm=/usr/lib/aarch64-linux-gnu

# The SONAMEs that the release has: all of have() is noted.
have() { # PATH SONAME [NEEDED...]
  lib "$@"
  echo "$2" >>"$ROOT/.sonames"
}

# plain DIRECTORY NAME...: NAME.so, its own SONAME.
plain() {
  local directory=$1 name
  shift
  for name; do have "$directory/$name.so" "$name.so"; done
}
# versioned DIRECTORY VERSION NAME...: NAME.so.VERSION, its own SONAME.
versioned() {
  local directory=$1 version=$2 name
  shift 2
  for name; do have "$directory/$name.so.$version" "$name.so.$version"; done
}
# linked DIRECTORY VERSION NUMBER NAME...: NAME.so.VERSION with SONAME NAME.so.NUMBER and its links.
linked() {
  local directory=$1 version=$2 number=$3 name
  shift 3
  for name; do
    have "$directory/$name.so.$version" "$name.so.$number"
    ln -sf "$name.so.$version" "$ROOT$directory/$name.so.$number"
    ln -sf "$name.so.$number" "$ROOT$directory/$name.so"
  done
}
# What lies beside the driver and is not its.
foreign() { # DIRECTORY
  local name
  for name in libdrm.so.2 libv4l2.so.0 libv4lconvert.so.0 libffi.so.7 libgbm.so.1 libwayland-client.so.0 libstdc++.so.6 libc.so.6; do
    lib "$1/$name" "$name"
  done
}

cuda() { # DIRECTORY
  linked "$1" 1.1 1 libcuda
}
# libcuda's neighbours since R35.
cuda_tools() { # DIRECTORY VERSION
  linked "$1" "$2" 1 libnvidia-ptxjitcompiler libcudadebugger
  linked "$1" "$2" 4 libnvidia-nvvm
  plain "$1" libnvcucompat libnvcudla
}
# nvidia-l4t-core, multimedia, camera of every release.
tegra() { # DIRECTORY
  plain "$1" libnvrm_gpu libnvos libnvll libnvimp libnvddk_vic libnvddk_2d_v2 libnvdc libnvparser libnvphs libnvphsd \
    libnvmm libnvmm_utils libnvmmlite libnvmmlite_video libnvomx libnvomxilclient libnvargus libnvargus_socketclient \
    libnvcam_imageencoder libnvcamlog libnvfnet libnvisp_utils libnvbuf_utils libnvplayfair libnvtegrahv libnvvic \
    libnvdsbufferpool libnvmedia
}
# The resource manager until R32.
tegra_r32() { # DIRECTORY
  plain "$1" libnvrm libnvrm_graphics
}
# The one since R35, with NvSci and DLA.
tegra_r35() { # DIRECTORY
  plain "$1" libnvrm_mem libnvrm_host1x libnvrm_chip libnvrm_sync libnvrm_stream libnvrm_surface libnvsocsys libnvsciipc \
    libnvdla_runtime libnvdla_compiler libnvgov_generic libnvpvaumd
  linked "$1" 1.0 1 libnvscibuf libnvscicommon libnvscievent libnvscistream libnvscisync
}
gl() { # DIRECTORY EGL-DIRECTORY VERSION
  versioned "$1" "$3" libnvidia-glcore libnvidia-glsi libnvidia-eglcore libnvidia-tls libnvidia-rmapi-tegra libnvidia-glvkspirv
  linked "$1" "$3" 0 libGLX_nvidia
  linked "$2" "$3" 0 libEGL_nvidia
  linked "$2" "$3" 1 libGLESv1_CM_nvidia
  linked "$2" "$3" 2 libGLESv2_nvidia
  put "$2/nvidia.json" <<<'{"file_format_version":"1.0.0","ICD":{"library_path":"libEGL_nvidia.so.0"}}'
  put "$1/nvidia_icd.json" <<<'{"file_format_version":"1.0.0","ICD":{"library_path":"libGLX_nvidia.so.0","api_version":"1.3.212"}}'
  link "$2/nvidia.json" /usr/share/glvnd/egl_vendor.d/10_nvidia.json
  link "$1/nvidia_icd.json" /etc/vulkan/icd.d/nvidia_icd.json
}
# Since R35.
gl_r35() { # DIRECTORY VERSION
  linked "$1" "$2" 1 libnvidia-allocator libnvidia-vulkan-producer
  linked "$1" 1.1.11 1 libnvidia-egl-wayland
  linked "$1" 1.1.0 1 libnvidia-egl-gbm
  link "../${1##*/}/libnvidia-allocator.so.1" $arm/gbm/nvidia-drm_gbm.so
  link "../${1##*/}/libnvidia-allocator.so.1" $arm/gbm/tegra_gbm.so
  lib $arm/gbm/dri_gbm.so -
  put /usr/share/egl/egl_external_platform.d/nvidia_wayland.json <<<'{"file_format_version":"1.0.0","ICD":{"library_path":"libnvidia-egl-wayland.so.1"}}'
}
# Mesa's own manifests: not the driver's.
mesa() {
  put /usr/share/glvnd/egl_vendor.d/50_mesa.json <<<'{"file_format_version":"1.0.0","ICD":{"library_path":"libEGL_mesa.so.0"}}'
  put /usr/share/vulkan/icd.d/lvp_icd.aarch64.json <<<'{"file_format_version":"1.0.0","ICD":{"library_path":"/usr/lib/libvulkan_lvp.so"}}'
}
# release NUMBER REVISION [LINE...]: /etc/nv_tegra_release.
release() {
  put /etc/nv_tegra_release <<<"# R$1 (release), REVISION: $2, GCID: 30192233, BOARD: generic, EABI: aarch64, DATE: Thu Sep 18 22:54:44 UTC 2025"
  [ "$1" -lt 36 ] || printf '%s\n' '# KERNEL_VARIANT: oot' TARGET_USERSPACE_LIB_DIR=nvidia \
    "TARGET_USERSPACE_LIB_DIR_PATH=usr/lib/aarch64-linux-gnu/nvidia" INSTALL_TYPE= >>"$ROOT/etc/nv_tegra_release"
}
# soc NAME: /proc/device-tree/compatible.
soc() {
  printf 'nvidia,p3737-0000+p3701-0000\0nvidia,%s\0nvidia,%sx\0' "$1" "${1%?}" | put /proc/device-tree/compatible
}
# The complete driver of R35 as an older JetPack left it in a directory.
leftovers() { # DIRECTORY
  local name
  for name in libnvrm_gpu libnvrm_mem libnvos libnvold; do lib "$1/$name.so" $name.so; done
  driver "$1" 1.1 libcuda
  lib "$1/libnvmmlite_old.so" libnvmmlite_old.so
}
