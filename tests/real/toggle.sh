#!/bin/bash
# SPDX-License-Identifier: MIT
# Real drivers: 470 (CUDA 11.4) as host, 535 (12.2) as compat. cuDriverGetVersion follows the toggle, the CUDA set moves
# as a whole, libnvidia-ml stays the host's, the daemon stays the same.
. "$(dirname "$0")/../lib/fixture.sh"
. tests/lib/drivers.sh
need_root
need_fuse
need_driver 470 bullseye
host=$DRIVER
need_driver 535 bookworm
compat=$DRIVER

"$CC" -O1 -o "$T/program" "$SOURCES/cudaversion.c" -ldl "-Wl,-rpath,$MNT/lib" -Wl,--enable-new-dtags
expect_view() { # VERSION DIRECTORY
  local name
  expect_same "$("$T/program")" "$1"
  for name in libcuda.so.1 libnvidia-ptxjitcompiler.so.1 libnvidia-nvvm.so.4; do
    cmp "$MNT/lib/$name" "$2/$name"
  done
  cmp "$MNT/lib/libnvidia-ml.so.1" "$host/libnvidia-ml.so.1"
  # Nothing of the other's set, under no name.
  if [ "$2" = "$compat" ]; then
    [ -e "$MNT/lib/libcudadebugger.so.1" ]
    cmp "$MNT/lib/libcudadebugger.so.1" "$compat/libcudadebugger.so.1"
    expect_absent "$MNT/lib/libnvidia-nvvm.so.4.0.0"
    [ "$(compgen -G "$MNT/lib/*.470.*" | grep -cv libnvidia-ml)" = 0 ] || fail "host files: $(ls "$MNT/lib")"
  else
    expect_absent "$MNT/lib/libcudadebugger.so.1"
    [ -e "$MNT/lib/libnvidia-nvvm.so.4.0.0" ]
    [ -z "$(compgen -G "$MNT/lib/*.535.*")" ] || fail "compat files: $(ls "$MNT/lib")"
  fi
}
# The directories are a user's in some checkouts: trust is not what is tested here.
for present in auto file symlink; do
  policy "[gldriverfs]" "present = $present" "runpath = none" "[layer compat]" "role = compat" "dir = $compat" "trust = yes" \
    "[layer host]" "role = host" "dir = $host" "trust = yes" "[compat]" "mode = off"
  start_daemon
  pid=$(daemon_pid)
  expect_view 11040 "$host"
  for _ in 1 2 3; do
    ctl compat on
    expect_view 12020 "$compat"
    ctl compat off
    expect_view 11040 "$host"
  done
  ctl compat auto
  expect_view 12020 "$compat"
  expect_same "$(daemon_pid)" "$pid"
  expect_same "$(status_of -c '[.problems[] | select(.level == "error")]')" "[]"
  ctl compat reset
  stop_daemon
done
