# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Case A08: three equal copies instead of links.
for name in libcuda.so libcuda.so.1 libcuda.so.1.1; do
  lib /usr/lib/nvidia/$name libcuda.so.1
done
