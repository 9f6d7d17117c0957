# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Case A13: nothing but the driver leaves a directory of mixed content.
for name in libc.so.6 ld-linux-x86-64.so.2 libm.so.6 libpthread.so.0 libstdc++.so.6 libgcc_s.so.1 libdrm.so.2 libvulkan.so.1 libv4l2.so.0 libcuda.so.1; do
  lib /usr/lib/nvidia/$name $name
done
