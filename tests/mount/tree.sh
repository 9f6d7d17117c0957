#!/bin/bash
# SPDX-License-Identifier: MIT
# A tree like NixOS's graphics-drivers package is served whole, each file under its own path; compat on changes the CUDA
# set alone. Case A02's report: a NEEDED library that nothing provides is named.
. "$(dirname "$0")/../lib/fixture.sh"
need_root
need_fuse

tree=$T/graphics-drivers
for name in libGL.so.1 libEGL.so.1 libGLX_mesa.so.0 libEGL_mesa.so.0 libvulkan_radeon.so libdrm.so.2 libva.so.2; do
  make_lib "$tree/lib/$name" "$name" tree
done
make_lib "$tree/lib/libcuda.so.535.1" libcuda.so.1 tree libnvrm_gpu.so libc.so.6
make_lib "$tree/lib/dri/nvidia_drv_video.so" - tree
make_lib "$tree/lib/dri/radeonsi_dri.so" - tree
mkdir -p "$tree/share/drirc.d" "$tree/share/vulkan/icd.d" "$tree/share/glvnd/egl_vendor.d" "$tree/etc/OpenCL/vendors"
echo '<driconf/>' >"$tree/share/drirc.d/00-mesa-defaults.conf"
echo '{"file_format_version":"1.0.1","ICD":{"library_path":"libGLX_nvidia.so.0"}}' >"$tree/share/vulkan/icd.d/nvidia_icd.json"
echo '{"ICD":{"library_path":"libEGL_mesa.so.0"}}' >"$tree/share/glvnd/egl_vendor.d/50_mesa.json"
echo libnvidia-opencl.so.1 >"$tree/etc/OpenCL/vendors/nvidia.icd"
ln -s ../libGL.so.1 "$tree/lib/dri/link.so"
make_driver "$COMPAT" 550.1 compat

whole() {
  local path
  while IFS= read -r path; do
    # What names a library is changed (manifests.sh).
    case $path in lib/libcuda.so* | share/glvnd/* | share/vulkan/*) continue ;; esac
    cmp "$tree/$path" "$MNT/$path" || fail "$path is not served as it is"
  done < <(cd "$tree" && find . -not -type d -printf '%P\n')
}
for present in auto file symlink; do
  policy "[gldriverfs]" "present = $present" "runpath = none" "[layer host]" "role = host" "tree = $tree" \
    "[layer compat]" "role = compat" "dir = $COMPAT" "[compat]" "mode = off"
  start_daemon
  whole
  cmp "$MNT/lib/libcuda.so.1" "$tree/lib/libcuda.so.535.1"
  expect_has "$(status_of -c .problems)" libnvrm_gpu.so
  ctl compat on
  whole
  cmp "$MNT/lib/libcuda.so.1" "$COMPAT/libcuda.so.550.1"
  expect_absent "$MNT/lib/libcuda.so.535.1"
  expect_same "$(find "$MNT/share" "$MNT/etc" -not -type d | wc -l)" 4
  ctl compat reset
  stop_daemon
done
