# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Case A06: no good one at all: the name is absent.
lib /usr/lib/nvidia/libcuda.so.1.1 libcuda.so.1
truncate -s 1000 "$ROOT/usr/lib/nvidia/libcuda.so.1.1"
link libcuda.so.1.1 /usr/lib/nvidia/libcuda.so.1
