#!/bin/bash
# SPDX-License-Identifier: MIT
# Case A02: the libnvrm closure. Compat's libcuda NEEDs libraries that only a directory in no search path has: all come
# from the mount. Without one of them: with compat on the program's load fails by that name, with auto the host is used,
# and the status names it in both. The program has a RUNPATH to lib/ only: what the libraries need is found by theirs.
. "$(dirname "$0")/../lib/fixture.sh"
need_root
need_fuse

tegra() {
  make_lib "$HOST/libnvrm_gpu.so" libnvrm_gpu.so host libnvrm_sync.so libnvrm_host1x.so libnvrm_chip.so libnvos.so
  make_lib "$HOST/libnvrm_mem.so" libnvrm_mem.so host libnvrm_chip.so libnvos.so
  make_lib "$HOST/libnvrm_sync.so" libnvrm_sync.so host libnvos.so
  make_lib "$HOST/libnvrm_host1x.so" libnvrm_host1x.so host libnvos.so
  make_lib "$HOST/libnvrm_chip.so" libnvrm_chip.so host libnvos.so
  make_lib "$HOST/libnvos.so" libnvos.so host libnvsocsys.so libnvsciipc.so
  make_lib "$HOST/libnvsocsys.so" libnvsocsys.so host
  make_lib "$HOST/libnvsciipc.so" libnvsciipc.so host
}
tegra
make_lib "$HOST/libcuda.so.1.1" libcuda.so.1 host
make_lib "$COMPAT/libcuda.so.1.1" libcuda.so.1 compat libnvrm_gpu.so libnvrm_mem.so libstdc++.so.6
"$CC" -O1 -o "$T/probe" "$SOURCES/probe.c" -ldl "-Wl,-rpath,$MNT/lib" -Wl,--enable-new-dtags
"$CC" -O1 -D_GNU_SOURCE -o "$T/objects" "$SOURCES/objects.c" -ldl "-Wl,-rpath,$MNT/lib" -Wl,--enable-new-dtags
layers=("[layer compat]" "role = compat" "dir = $COMPAT" "cuda = 12.2" "[layer tegra]" "role = tegra" "dir = $HOST" "cuda = 11.4")

for present in auto file symlink; do
  policy "[gldriverfs]" "present = $present" "${layers[@]}" "[compat]" "mode = on" "on-unknown = on"
  start_daemon
  expect_who libcuda.so.1 compat
  # Every object that was loaded for it is the mount's.
  "$T/objects" libcuda.so.1 >"$T/loaded"
  for name in libnvrm_gpu libnvrm_mem libnvrm_sync libnvrm_host1x libnvrm_chip libnvos libnvsocsys libnvsciipc; do
    grep -qE "^$MNT/lib/(../.gldriverfs/set/[0-9a-f]{8}/lib/)?$name.so\$" "$T/loaded" || fail "$name is not from the mount: $(cat "$T/loaded")"
  done
  ctl compat auto
  expect_who libcuda.so.1 compat

  rm "$HOST/libnvsocsys.so"
  ctl compat on
  loaded=$("$T/probe" libcuda.so.1 || :)
  expect_same "$loaded" "- libnvsocsys.so: cannot open shared object file: No such file or directory"
  expect_same "$(status_of '[.problems[] | select(.text | test("libnvsocsys.so"))] | length')" 1 "problems"
  ctl compat auto
  expect_who libcuda.so.1 host
  expect_has "$(status_of .compat.reason)" libnvsocsys.so
  ctl compat reset
  stop_daemon
  tegra
done
