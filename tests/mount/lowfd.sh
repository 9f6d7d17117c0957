#!/bin/bash
# SPDX-License-Identifier: MIT
# A hard limit of 64 descriptors, 800 libraries, 300 of them open: every byte is right, and the status says how many are
# unpinned.
. "$(dirname "$0")/../lib/fixture.sh"
need_root
need_fuse

make_lib "$T/template.so" libnvmm_00000.so.1 tag_00000
"$HELPERS/mklibs" "$T/template.so" "$HOST" 800
host_policy "[gldriverfs]" "present = file" "runpath = none"
(
  ulimit -n 64
  start_daemon
)
descriptors=()
for i in $(seq -f %05.0f 1 300); do
  exec {fd}<"$MNT/lib/libnvmm_$i.so.1"
  descriptors+=("$fd")
done
for file in "$HOST"/*.so.1.1; do
  cmp "$file" "$MNT/lib/${file##*/}"
done
for i in 1 150 300; do
  cmp "/proc/self/fd/${descriptors[i - 1]}" "$HOST/libnvmm_$(printf %05d $i).so.1.1"
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
