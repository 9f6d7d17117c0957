#!/bin/bash
# SPDX-License-Identifier: MIT
# Programs load libcuda, compat is toggled again and again, and then libcuda loads its siblings: of its own set in every
# run, whatever is active. 100 runs over 1000 toggles each in check-long, 20 over 100 in check.
# shellcheck source=../lib/fixture.sh
. "$(dirname "$0")/../lib/fixture.sh"
need_root
need_fuse

runs=20 toggles=100 every=5
[ -z "$SANITIZED" ] || runs=10 toggles=40
[ "$LONG" != 1 ] || runs=100 toggles=1000 every=25
make_late_driver "$HOST" 470.1 host
make_late_driver "$COMPAT" 535.1 compat
"$CC" -O1 -o "$T/pinned" -D_GNU_SOURCE "$SOURCES/pinned.c" -ldl -Wl,--enable-new-dtags "-Wl,-rpath,$MNT/lib"
for present in file symlink; do
  toggle_policy "mode = off" "[gldriverfs]" "present = $present"
  start_daemon
  "$T/pinned" $runs $toggles $every "$GLDRIVERCTL" --mount "$MNT" compat || fail "present = $present"
  ctl compat reset
  stop_daemon
done
