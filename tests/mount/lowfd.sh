#!/bin/bash
# SPDX-License-Identifier: MIT
# A hard limit of 64 descriptors, 800 libraries, 300 of them open: every byte is as without a limit, whether libraries get
# a RUNPATH or not, and the status says how many are unpinned.
. "$(dirname "$0")/../lib/fixture.sh"
need_root
need_fuse

make_lib "$T/template.so" libnvmm_00000.so.1 tag_00000
sums() { (cd "$1" && sha256sum ./*.so.1.1 | LC_ALL=C sort); }

for runpath in none pin; do
  "$HELPERS/mklibs" "$T/template.so" "$HOST" 800
  host_policy "[gldriverfs]" "present = file" "runpath = $runpath"
  start_daemon
  sums "$MNT/lib" >"$T/sums"
  stop_daemon
  expect_same "$(wc -l <"$T/sums")" 800
  equal=$(sums "$HOST" | LC_ALL=C comm -12 - "$T/sums" | wc -l)
  if [ $runpath = none ]; then expect_same "$equal" 800; else expect_same "$equal" 0 "nothing got a RUNPATH"; fi

  (
    ulimit -n 64
    start_daemon
  )
  descriptors=()
  for i in $(seq -f %05.0f 1 300); do
    exec {fd}<"$MNT/lib/libnvmm_$i.so.1"
    descriptors+=("$fd")
  done
  (cd "$MNT/lib" && sha256sum --quiet -c "$T/sums") || fail "$runpath: other bytes than without a limit"
  for i in 1 150 300; do
    cmp "/proc/self/fd/${descriptors[i - 1]}" "$MNT/lib/libnvmm_$(printf %05d $i).so.1.1"
    grep -F "$(sha256sum <"/proc/self/fd/${descriptors[i - 1]}" | cut -d' ' -f1)" "$T/sums" | grep -q "$(printf %05d $i)" ||
      fail "$runpath: other bytes through the descriptor of $i"
  done
  expect_who libnvmm_00800.so.1 tag_00800
  [ "$(status_of .unpinned)" -gt 700 ] || fail "the status does not say how many are unpinned"
  pid=$(daemon_pid)
  [ "$(find "/proc/$pid/fd" -mindepth 1 -maxdepth 1 | wc -l)" -le 64 ]
  # A reload needs descriptors too.
  rm "$HOST/libnvmm_00001.so.1.1"
  ctl reload
  expect_absent "$MNT/lib/libnvmm_00001.so.1"
  expect_who libnvmm_00002.so.1 tag_00002
  for fd in "${descriptors[@]}"; do exec {fd}<&-; done
  stop_daemon
done
