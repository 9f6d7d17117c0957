# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Case A08: three equal copies instead of links.
lib /usr/lib/nvidia/libcuda.so.1.1 libcuda.so.1
for name in libcuda.so libcuda.so.1; do
  cp "$ROOT/usr/lib/nvidia/libcuda.so.1.1" "$ROOT/usr/lib/nvidia/$name"
done
