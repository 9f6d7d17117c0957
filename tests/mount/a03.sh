#!/bin/bash
# SPDX-License-Identifier: MIT
# Case A03: user space newer than the loaded kernel module. With both versions there the kernel's is shown, with the newer
# one alone that; `check` exits 1 naming both, and it is logged once, reloads or not; a reboot ends it.
. "$(dirname "$0")/../lib/fixture.sh"
. tests/lib/golden.sh
need_root
need_fuse
export ROOT=$T/root
mkdir "$ROOT"

host() { # VERSION...: libcuda.so.1 leads to the last
  local name version
  rm -rf "${ROOT:?}/lib"
  mkdir "$ROOT/lib"
  for version; do
    for name in libcuda libnvidia-ml; do
      make_lib "$ROOT/lib/$name.so.$version" $name.so.1 "$version"
      ln -sf "$name.so.$version" "$ROOT/lib/$name.so.1"
    done
  done
}
policy "[layer host]" "role = host" "dir = /lib"

kernel_driver 535.86.05
host 535.86.05 545.29.02
start_logged --root "$ROOT"
for name in libcuda.so.1 libcuda.so libnvidia-ml.so.1; do
  expect_who $name 535.86.05
done
mismatch="the loaded kernel driver is 535.86.05, but libcuda.so.1 of layer host is of driver 545.29.02"
expect_mismatch() {
  local out rc=0
  ctl reload
  ctl reload
  expect_same "$(grep -cF "$mismatch" "$LOG")" 1 "times logged"
  expect_has "$(status_of '.problems[] | select(.level == "error").text')" "$mismatch"
  out=$("$GLDRIVERCTL" check --root "$ROOT" "$POLICY") || rc=$?
  expect_same "$rc" 1 "exit of check"
  expect_has "$out" "$mismatch"
}
expect_mismatch

host 545.29.02
ctl reload
expect_who libcuda.so.1 545.29.02
expect_mismatch

kernel_driver 545.29.02
ctl reload
expect_same "$(status_of -c '[.problems[] | select(.level != "info")]')" "[]"
stop_daemon
