# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Case A11: dangling and looping links: absent; the good copy of the second layer is served.
link missing /usr/lib/nvidia/libGLX_nvidia.so.0
link libcuda.so.1 /usr/lib/nvidia/libcuda.so.1
link libnvidia-ml.so /usr/lib/nvidia/libnvidia-ml.so.1
link libnvidia-ml.so.1 /usr/lib/nvidia/libnvidia-ml.so
link . /usr/lib/nvidia/tegra
lib /usr/lib/nvidia/libnvcuvid.so.1 libnvcuvid.so.1
lib /good/libcuda.so.1 libcuda.so.1
