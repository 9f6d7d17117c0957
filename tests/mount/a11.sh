#!/bin/bash
# SPDX-License-Identifier: MIT
# Case A11: dangling and looping links: good copies win, bad names are simply absent, find -L ends with 0.
. "$(dirname "$0")/../lib/fixture.sh"
need_root
need_fuse

ln -s missing "$HOST/libGLX_nvidia.so.0"
ln -s libcuda.so.1 "$HOST/libcuda.so.1"
ln -s libnvidia-ml.so "$HOST/libnvidia-ml.so.1"
ln -s libnvidia-ml.so.1 "$HOST/libnvidia-ml.so"
ln -s . "$HOST/tegra"
mkdir -p "$T/tree/lib" "$T/tree/share"
ln -s . "$T/tree/lib/tegra"
ln -s ../../tree "$T/tree/share/again"
make_lib "$T/tree/lib/libnvidia-tls.so.1" libnvidia-tls.so.1 tree
make_lib "$HOST2/libcuda.so.1" libcuda.so.1 good

for present in auto file symlink; do
  policy "[gldriverfs]" "present = $present" "[layer a]" "role = host" "dir = $HOST" \
    "[layer b]" "role = host" "dir = $HOST2" "[layer c]" "role = host" "tree = $T/tree"
  start_daemon
  expect_who libcuda.so.1 good
  expect_who libnvidia-tls.so.1 tree
  for name in libGLX_nvidia.so.0 libnvidia-ml.so libnvidia-ml.so.1; do
    expect_absent "$MNT/lib/$name"
  done
  timeout 20 find -L "$MNT" >"$T/find" || fail "find -L fails or does not end"
  [ "$(wc -l <"$T/find")" -lt 2000 ] || fail "$(wc -l <"$T/find") names under the mount"
  stop_daemon
done
