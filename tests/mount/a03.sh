#!/bin/bash
# SPDX-License-Identifier: MIT
# Case A03: user space newer than the loaded kernel module. With both versions there the kernel's is shown; with the
# newer one alone error 803 is foretold. Each is logged once, naming both, reloads or not; a reboot ends it.
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
ctl reload
ctl reload
expect_same "$(grep 'libcuda.so.545.29.02 is not shown' "$LOG" | grep -c 535.86.05)" 1 "times logged"
expect_same "$(grep -c 'error 803' "$LOG" || true)" 0 "errors foretold"

host 545.29.02
ctl reload
expect_who libcuda.so.1 545.29.02
ctl reload
expect_same "$(grep 'error 803' "$LOG" | grep 535.86.05 | grep -c 545.29.02)" 1 "times logged"
expect_has "$(status_of '.problems[].text')" "error 803"

kernel_driver 545.29.02
ctl reload
expect_same "$(status_of -c .problems)" "[]"
stop_daemon
