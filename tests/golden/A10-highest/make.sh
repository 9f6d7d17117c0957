# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Case A10: several versions in one directory, nothing tells which: the numerically highest.
for version in 430.14 440.33.01 9.2 10.1; do
  lib /usr/lib/nvidia/libcuda.so.$version libcuda.so.1
  lib /usr/lib/nvidia/libnvidia-ml.so.$version libnvidia-ml.so.1
done
