#!/bin/bash
# SPDX-License-Identifier: MIT
# Case A06: empty and truncated libraries. A good one in the next layer is served; with none the name is absent, so that
# a second RUNPATH entry works. Each rejected file is logged once, with its path.
. "$(dirname "$0")/../lib/fixture.sh"
need_root
need_fuse

make_lib "$T/good.so" libcuda.so.1 good
for size in 0 40 1000; do
  cp "$T/good.so" "$HOST/libcuda.so.1.1"
  truncate -s $size "$HOST/libcuda.so.1.1"
  ln -sf libcuda.so.1.1 "$HOST/libcuda.so.1"
  rm -f "$HOST2"/*
  cp "$T/good.so" "$HOST2/libcuda.so.1.1"
  ln -s libcuda.so.1.1 "$HOST2/libcuda.so.1"
  policy "[layer a]" "role = host" "dir = $HOST" "[layer b]" "role = host" "dir = $HOST2"
  start_logged
  expect_who libcuda.so.1 good
  expect_same "$(xattr_of "$MNT/lib/libcuda.so.1.1" gldriverfs.layer)" b
  expect_has "$(status_of -c .rejected)" "$HOST/libcuda.so.1.1"
  ctl reload
  expect_same "$(grep -c "$HOST/libcuda.so.1.1" "$LOG")" 1 "times logged"
  stop_daemon

  # All bad: the probe's second RUNPATH entry is HOST2, which is no layer now.
  host_policy
  start_daemon
  for name in libcuda.so libcuda.so.1 libcuda.so.1.1; do
    expect_absent "$MNT/lib/$name"
  done
  expect_who libcuda.so.1 good
  stop_daemon
done
