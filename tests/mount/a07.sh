#!/bin/bash
# SPDX-License-Identifier: MIT
# Case A07: a stub libcuda is never served, not by a link either.
. "$(dirname "$0")/../lib/fixture.sh"
need_root
need_fuse

mkdir -p "$T/cuda/lib/stubs"
make_lib "$T/cuda/lib/stubs/libcuda.so" libcuda.so.1 stub

policy "[layer host]" "role = host" "dir = $T/cuda/lib/stubs"
start_daemon
expect_absent "$MNT/lib/libcuda.so"
expect_absent "$MNT/lib/libcuda.so.1"
expect_has "$(status_of -c .rejected)" stub
stop_daemon

ln -s "$T/cuda/lib/stubs/libcuda.so" "$HOST/libcuda.so.1"
make_lib "$HOST2/libcuda.so.535.1" libcuda.so.1 real
policy "[layer a]" "role = host" "dir = $HOST" "[layer b]" "role = host" "dir = $HOST2"
start_daemon
for name in libcuda.so libcuda.so.1 libcuda.so.535.1; do
  expect_who $name real
done
stop_daemon

# A tree does not bring it in either.
mkdir -p "$T/tree/lib/stubs"
cp "$T/cuda/lib/stubs/libcuda.so" "$T/tree/lib/stubs/"
make_lib "$T/tree/lib/libcuda.so.1" libcuda.so.1 tree
policy "[layer host]" "role = host" "tree = $T/tree"
start_daemon
expect_who libcuda.so.1 tree
expect_absent "$MNT/lib/stubs/libcuda.so"
