# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# A host library whose SONAME ends in the driver's version stays with compat on while a served library needs it.
driver /usr/local/cuda-12.6/compat 560.35.05 libcuda libnvidia-ptxjitcompiler
lib /usr/local/cuda-12.6/compat/libnvidia-gpucomp.so.560.35.05 libnvidia-gpucomp.so.560.35.05
driver /usr/lib/nvidia 550.163.01 libcuda libnvidia-ptxjitcompiler
lib /usr/lib/nvidia/libnvidia-nvvm.so.4.0.0 libnvidia-nvvm.so.4
lib /usr/lib/nvidia/libnvidia-gpucomp.so.550.163.01 libnvidia-gpucomp.so.550.163.01
lib /usr/lib/nvidia/libnvidia-glcore.so.550.163.01 libnvidia-glcore.so.550.163.01 libnvidia-gpucomp.so.550.163.01 libc.so.6
kernel_driver 550.163.01
