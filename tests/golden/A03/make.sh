# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Case A03: user space was upgraded and the kernel module was not: the loaded module's version is shown.
for version in 535.86.05 545.29.02; do
  driver /usr/lib/nvidia $version libcuda libnvidia-ml libnvidia-ptxjitcompiler
done
kernel_driver 535.86.05
