#!/bin/bash
# SPDX-License-Identifier: MIT
# Steady state: after warm-up, dlopen, open, stat, lstat, readlink and absent names cost no request to the daemon, in
# all presentations.
. "$(dirname "$0")/../lib/fixture.sh"
need_root
need_fuse

make_driver "$HOST" 470.1 host
make_driver "$COMPAT" 535.1 compat
for present in auto file symlink; do
  toggle_policy "mode = on" "[gldriverfs]" "present = $present"
  start_daemon
  "$HELPERS/steady" "$MNT/lib" 2
  [ "$(requests)" -gt 0 ] || fail "the statistics count nothing"
  expect_no_requests "present = $present" "$HELPERS/steady" "$MNT/lib" 100
  # What a toggle makes new costs a little once, and nothing afterwards.
  ctl compat off
  "$HELPERS/steady" "$MNT/lib" 1
  expect_no_requests "after a toggle, present = $present" "$HELPERS/steady" "$MNT/lib" 20
  stop_daemon
done
