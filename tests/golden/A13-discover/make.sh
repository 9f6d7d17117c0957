# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Case A13 with the loader's cache: what is no driver's comes only when named, libc never.
for name in libc.so.6 libm.so.6 libstdc++.so.6 libgcc_s.so.1 libdrm.so.2 libvulkan.so.1 libv4l2.so.0; do
  lib /usr/lib/$name $name
done
driver /opt/nvidia/lib 550.120 libcuda
printf '%s\n' /opt/nvidia/lib | put /etc/ld.so.conf
loader_cache
