# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Case A08, WSL: regular copies without versions; a Linux driver beside them is a mistake.
for name in libcuda.so libcuda.so.1 libcuda.so.1.1; do lib /usr/lib/wsl/lib/$name libcuda.so.1; done
cp "$ROOT/usr/lib/wsl/lib/libcuda.so.1.1" "$ROOT/usr/lib/wsl/lib/libcuda.so"
cp "$ROOT/usr/lib/wsl/lib/libcuda.so.1.1" "$ROOT/usr/lib/wsl/lib/libcuda.so.1"
lib /usr/lib/wsl/lib/libnvidia-ml.so.1 libnvidia-ml.so.1
# What libcuda and NVML load there; Direct3D is Mesa's affair.
for name in libdxcore.so libcuda_loader.so libnvidia-ml_loader.so libnvdxgdmal.so.1 libd3d12.so; do lib /usr/lib/wsl/lib/$name $name; done
lib /usr/lib/wsl/lib/libnvoptix.so.1 libnvoptix_loader.so.1
link libnvoptix.so.1 /usr/lib/wsl/lib/libnvoptix_loader.so.1
driver /usr/lib/x86_64-linux-gnu 550.120 libcuda libnvidia-ml
printf '%s\n' /usr/lib/x86_64-linux-gnu /usr/lib/wsl/lib | put /etc/ld.so.conf
loader_cache
