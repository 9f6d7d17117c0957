# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Case A08: only the real name is there.
lib /usr/lib/nvidia/libcuda.so.1.1 libcuda.so.1
