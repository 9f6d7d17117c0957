#!/bin/bash
# SPDX-License-Identifier: MIT
# Case A08: SONAME links missing or regular copies: real name, SONAME and .so are there for each, two names are one
# object in a process, and ldconfig has no complaint about a copy of lib/.
. "$(dirname "$0")/../lib/fixture.sh"
need_root
need_fuse

make_lib "$T/cuda.so" libcuda.so.1 cuda
make_lib "$T/ml.so" libnvidia-ml.so.1 ml

check() { # NAME...
  local name first=$1
  host_policy
  start_daemon
  for name; do
    [ -e "$MNT/lib/$name" ] || fail "no $name: $(ls "$MNT/lib")"
    "$T/probe" --same "$MNT/lib/$first" "$MNT/lib/$name" || fail "$first and $name are two objects"
    expect_same "$(stat -L -c %i "$MNT/lib/$name")" "$(stat -L -c %i "$MNT/lib/$first")" "inode of $name"
  done
  expect_same "$(find "$MNT/lib" -type f | wc -l)" 1 "files"
  rm -rf "$T/copy"
  cp -a "$MNT/lib" "$T/copy"
  PATH=$PATH:/sbin:/usr/sbin ldconfig -n "$T/copy" >"$T/ldconfig" 2>&1
  [ ! -s "$T/ldconfig" ] || fail "ldconfig: $(cat "$T/ldconfig")"
  diff <(ls "$MNT/lib") <(ls "$T/copy") || fail "ldconfig made other names"
  stop_daemon
  rm -f "$HOST"/*
}
make_probe "$T/probe" "$MNT/lib"

cp "$T/cuda.so" "$HOST/libcuda.so.1.1"
check libcuda.so.1.1 libcuda.so.1 libcuda.so
for name in libcuda.so.1.1 libcuda.so.1 libcuda.so; do cp "$T/cuda.so" "$HOST/$name"; done
check libcuda.so.1.1 libcuda.so.1 libcuda.so
cp "$T/cuda.so" "$HOST/libcuda.so"
check libcuda.so.1 libcuda.so
cp "$T/ml.so" "$HOST/libnvidia-ml.so.570.153.02"
check libnvidia-ml.so.570.153.02 libnvidia-ml.so.1 libnvidia-ml.so
