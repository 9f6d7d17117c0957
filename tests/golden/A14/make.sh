# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Case A14: the container's lists with everything that has been seen in them.
d=/usr/lib/aarch64-linux-gnu
lists=/etc/nvidia-container-runtime/host-files-for-container.d
driver $d/tegra 1.1 libcuda
lib $d/tegra/libnvos.so libnvos.so
lib $d/tegra/libnvrm_gpu.so libnvrm_gpu.so
lib $d/tegra/libnvrm_mem.so libnvrm_mem.so
lib $d/tegra/libnvidia-tls.so.35.4.1 libnvidia-tls.so.35.4.1
lib $d/tegra/libdrm.so.2 libdrm.so.2
lib $d/tegra/libc.so.6 libc.so.6
lib "/opt/with space, and comma/libnvdc.so" libnvdc.so
lib $d/tegra/libnvscibuf.so.1.0 libnvscibuf.so.1
link libnvscibuf.so.1.0 $d/tegra/libnvscibuf.so.1
link missing.so $d/tegra/libnvimp.so
lib $d/libnvidia-allocator.so.1 libnvidia-allocator.so.1
link ../libnvidia-allocator.so.1 $d/gbm/tegra_gbm.so
put $d/tegra-egl/nvidia.json <<<'{"file_format_version":"1.0.0","ICD":{"library_path":"libEGL_nvidia.so.0"}}'
link $d/tegra-egl/nvidia.json /usr/share/glvnd/egl_vendor.d/10_nvidia.json
put $lists/l4t.csv <<END
lib, $d/tegra/libcuda.so.1.1
  sym ,   $d/tegra/libcuda.so.1
sym , $d/tegra/libcuda.so
lib, $d//tegra/libnvrm_*.so
lib, $d/tegra/libcuda.so.1.1
lib, $d/tegra/libnot-there.so
lib, /opt/with space, and comma/libnvdc.so
# a comment is no line of the list
lib
lib,
bin, /usr/bin/nvidia-smi
lib, relative.so

sym, $d/tegra/libnvscibuf.so.1
sym, $d/tegra/libnvimp.so
lib, $d/tegra/libdrm.so.2
lib, $d/tegra/libc.so.6
lib, $d/gbm/*_gbm.so
lib, $d/tegra-egl/nvidia.json
sym, /usr/share/glvnd/egl_vendor.d/10_nvidia.json
dir, /lib/firmware/tegra18x
dev, /dev/nvmap
END
printf 'lib, %s\r\nlib, %s' $d/tegra/libnvos.so "$d/tegra/libnvidia-tls.so.*" | put $lists/drivers.csv
mkdir "$ROOT$lists/unreadable.csv"
put $lists/l4t.csv~ <<<"lib, $d/tegra/libnvold.so"
lib $d/tegra/libnvold.so libnvold.so
