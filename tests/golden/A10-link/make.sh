# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Case A10: the host's link leads to the lower one.
. tests/golden/A10-highest/make.sh
link libcuda.so.430.14 /usr/lib/nvidia/libcuda.so.1
link libnvidia-ml.so.430.14 /usr/lib/nvidia/libnvidia-ml.so.1
