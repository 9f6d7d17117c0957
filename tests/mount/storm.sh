#!/bin/bash
# SPDX-License-Identifier: MIT
# Storm: 8 processes loop on dlopen of libcuda.so.1 and libnvidia-ptxjitcompiler.so.1 and compare their tags while compat
# toggles every 20 ms, with 300 libraries. No load fails, nothing crashes, a mixed pair only where a toggle fell between
# its two opens, and none where libcuda itself loads the other. DURATION: seconds, 5 in check, 30 in check-long.
. "$(dirname "$0")/../lib/fixture.sh"
need_root
need_fuse

DURATION=${DURATION:-$([ "${LONG:-0}" = 1 ] && echo 30 || echo 5)}
make_late_driver "$HOST" 470.1 host
make_late_driver "$COMPAT" 535.1 compat
make_lib "$T/template.so" libnvmm_00000.so.1 tag_00000
"$HELPERS/mklibs" "$T/template.so" "$HOST" 300
# The programs are linked with DT_RPATH, which serves whatever they dlopen.
"$CC" -O1 -o "$T/storm" -D_GNU_SOURCE "$SOURCES/storm.c" -ldl -Wl,--disable-new-dtags "-Wl,-rpath,$MNT/lib"
# The figure that counts, 10 ms, is one of an idle machine: check's may be busy.
alone=$([ -n "$SANITIZED" ] && echo 200 || { [ "${LONG:-0}" = 1 ] && echo 10 || echo 30; })
[[ $BUILD != *tsan* ]] || alone=2000
storm() { # WORKERS SECONDS LIMIT-MS
  "$T/storm" "$1" "$2" "$MNT/lib/libcuda.so.1" libcuda.so.470.1 libcuda.so.535.1 "$3" "$GLDRIVERCTL" --mount "$MNT" compat
}
for present in file symlink; do
  toggle_policy "mode = off" "[gldriverfs]" "present = $present"
  start_daemon
  pid=$(daemon_pid)
  # Alone first: how long a toggle takes where the processors are not all busy.
  storm 0 2 "$alone" || fail "toggles alone, present = $present"
  storm 8 "$DURATION" 2000 || fail "storm, present = $present"
  expect_same "$(daemon_pid)" "$pid"
  stop_daemon
done
