#!/bin/bash
# SPDX-License-Identifier: MIT
# discover = auto: `gldriverfs DIRECTORY` without any policy file, on a machine whose loader's cache has a driver; on a
# Jetson's; and a csv layer under a mount.
. "$(dirname "$0")/../lib/fixture.sh"
need_root
need_fuse
[ -x /sbin/ldconfig ] || skip "needs ldconfig"

# This machine with another cache, and without policies and drivers of its own.
own_etc
rm -rf /etc/gldriverfs /etc/nv_tegra_release /etc/vulkan /etc/OpenCL
drivers=$T/drivers
make_driver "$drivers" 550.1 cache
make_lib "$drivers/libdrm.so.2" libdrm.so.2 leaked
# Its own file name, in a directory that only the cache knows.
make_lib "$drivers/libnvidia-tls.so.550.1" libnvidia-tls.so.550.1 cache
mkdir -p /etc/vulkan/icd.d /etc/OpenCL/vendors
echo '{"file_format_version":"1.0.1","ICD":{"library_path":"libGLX_nvidia.so.0","api_version":"1.3.0"}}' >/etc/vulkan/icd.d/nvidia_icd.json
echo libpocl.so.2 >/etc/OpenCL/vendors/pocl.icd
echo "$drivers" >"$T/ld.so.conf"
make_cache() { /sbin/ldconfig -X -f "$T/ld.so.conf" -C /etc/ld.so.cache 2>/dev/null; }
make_cache
[ ! -d /usr/lib/wsl ] || mount -t tmpfs tmpfs /usr/lib/wsl

start_plain() {
  timeout 60 "$GLDRIVERFS" "$MNT" 2>>"$LOG" || fail "gldriverfs exits $?: $(tail -n 5 "$LOG")"
  is_mounted || fail "gldriverfs has returned and $MNT is no mount"
}
start_plain
expect_who libcuda.so.1 cache
expect_who libcuda.so cache
expect_who libnvidia-tls.so.550.1 cache
expect_absent "$MNT/lib/libdrm.so.2"
expect_absent "$MNT/lib/libc.so.6"
[ -f "$MNT/share/vulkan/icd.d/nvidia_icd.json" ] || fail "no manifest"
expect_absent "$MNT/etc/OpenCL/vendors/pocl.icd"
expect_has "$(status_of '.layers[] | select(.name == "host") | tostring')" "$drivers"

# A driver that the cache has only now.
make_lib "$T/more/libnvcuvid.so.1" libnvcuvid.so.1 more
expect_absent "$MNT/lib/libnvcuvid.so.1"
echo "$T/more" >>"$T/ld.so.conf"
make_cache
ctl reload
expect_who libnvcuvid.so.1 more
# The mount itself in the cache: it is seen and left alone (A16).
echo "$MNT/lib" >>"$T/ld.so.conf"
make_cache
ctl reload
expect_who libcuda.so.1 cache
expect_has "$(status_of '.rejected | tostring')" "a mount of gldriverfs itself"
# The cache is gone: what it listed too, and the mount answers.
rm /etc/ld.so.cache
ctl reload
expect_absent "$MNT/lib/libnvcuvid.so.1"
stop_daemon

# A Jetson's root; the cache of this machine is not read.
make_cache
jetson=$T/jetson arm=usr/lib/aarch64-linux-gnu
make_driver "$jetson/$arm/nvidia" 1.1 jetson
for name in libnvrm_gpu libnvrm_mem libnvos; do make_lib "$jetson/$arm/nvidia/$name.so" $name.so jetson; done
make_driver "$jetson/$arm/tegra" 1.1 leftover
mkdir -p "$jetson/etc"
echo '# R36 (release), REVISION: 4.7, GCID: 1, BOARD: generic' >"$jetson/etc/nv_tegra_release"
policy "[layer host]" "discover = auto" "root = $jetson"
start_daemon
expect_who libcuda.so.1 jetson
expect_who libnvrm_mem.so jetson
expect_absent "$MNT/lib/libnvidia-tls.so.550.1"
stop_daemon

printf 'sym, %s\nlib, %s\nlib, %s\n' "$drivers/libcuda.so.1" "$drivers/libnvidia-ml.so.*" "$drivers/libdrm.so.2" >"$T/l4t.csv"
policy "[layer host]" "csv = $T/l4t.csv"
start_daemon
expect_who libcuda.so.1 cache
expect_who libnvidia-ml.so.1 cache
expect_absent "$MNT/lib/libdrm.so.2"
expect_absent "$MNT/lib/libnvidia-tls.so.550.1"
