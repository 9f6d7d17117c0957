# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Case A01: auto decides by the driver numbers.
driver /usr/local/cuda-12.2/compat 535.129.03 libcuda libnvidia-nvvm libnvidia-ptxjitcompiler libcudadebugger
driver /usr/lib/nvidia 470.256.02 libcuda libnvidia-ptxjitcompiler libnvidia-ml
kernel_driver 470.256.02
