# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Case A07: a stub libcuda, by a link and as a directory of its own.
lib /usr/local/cuda/lib64/stubs/libcuda.so libcuda.so.1
link ../../local/cuda/lib64/stubs/libcuda.so /usr/lib/nvidia/libcuda.so
lib /usr/lib/nvidia/libnvidia-ml.so.1 libnvidia-ml.so.1
