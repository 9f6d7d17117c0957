# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Case A08: only libcuda.so.
lib /usr/lib/nvidia/libcuda.so libcuda.so.1
