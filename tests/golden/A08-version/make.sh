# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Case A08: only the name with the driver's version.
lib /usr/lib/nvidia/libnvidia-ml.so.570.153.02 libnvidia-ml.so.1
