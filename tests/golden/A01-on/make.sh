# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Case A01: both layers have libcuda.so{,.1,.1.1}; with compat on all three names and the rest of the set are compat's.
for directory in /usr/local/cuda-12.2/compat /usr/lib/nvidia; do
  driver $directory 1.1 libcuda libnvidia-ptxjitcompiler libnvidia-ml
done
