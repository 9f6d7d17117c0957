#!/bin/bash
# SPDX-License-Identifier: MIT
# Storm: 8 processes loop on dlopen of libcuda.so.1 and libnvidia-ptxjitcompiler.so.1 and compare their tags while compat
# toggles every 20 ms, with 300 libraries. No load fails, nothing crashes, a mixed pair only where a toggle fell between
# its two opens. DURATION: seconds, 5 in check, 30 in check-long.
. "$(dirname "$0")/../lib/fixture.sh"
need_root
need_fuse

DURATION=${DURATION:-$([ "${LONG:-0}" = 1 ] && echo 30 || echo 5)}
make_driver "$HOST" 470.1 host
make_driver "$COMPAT" 535.1 compat
make_lib "$T/template.so" libnvmm_00000.so.1 tag_00000
"$HELPERS/mklibs" "$T/template.so" "$HOST" 300
# The programs are linked with DT_RPATH, which serves whatever they dlopen.
"$CC" -O1 -o "$T/storm" -D_GNU_SOURCE "$SOURCES/storm.c" -ldl -Wl,--disable-new-dtags "-Wl,-rpath,$MNT/lib"
for present in file symlink; do
  toggle_policy "mode = off" "[gldriverfs]" "present = $present"
  start_daemon
  pid=$(daemon_pid)
  "$T/storm" "$DURATION" "$MNT/lib/libcuda.so.1" libcuda.so.470.1 libcuda.so.535.1 "$([ -n "$SANITIZED" ] && echo 1000 || echo 10)" \
    "$GLDRIVERCTL" --mount "$MNT" compat || fail "storm, present = $present"
  expect_same "$(daemon_pid)" "$pid"
  stop_daemon
done
