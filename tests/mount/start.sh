#!/bin/bash
# SPDX-License-Identifier: MIT
# Odd ways to start: standard streams that are closed, "--" without a mountpoint, a program file that is gone. And a file
# whose name would be a line of the log.
. "$(dirname "$0")/../lib/fixture.sh"
need_root
need_fuse

make_driver "$HOST" 535.1 host
host_policy "[gldriverfs]" "mountpoint = $MNT"
works() {
  expect_exit 0 ctl reload
  cmp "$MNT/lib/libcuda.so.1" "$HOST/libcuda.so.535.1"
  expect_same "$(tr '\0' '\n' <"/proc/$(daemon_pid)/cmdline" | tail -n 1)" "$MNT"
  stop_daemon
}

timeout 60 "$GLDRIVERFS" --config "$POLICY" "$MNT" <&- >&- 2>&-
works
timeout 60 "$GLDRIVERFS" --config "$POLICY" --
works
timeout 60 "$GLDRIVERFS" --config "$POLICY" -- "$MNT"
works
cp "$GLDRIVERFS" "$T/gone"
timeout 60 "$T/gone" --config "$POLICY"
rm "$T/gone"
works

mkfifo "$HOST/libnvidia-x"$'\n<0>forged\e[31m.so.1'
host_policy "include = *"
start_logged
grep -q '?<0>forged?.* is not served' "$LOG" || fail "no word about the FIFO"
! grep -q '^<0>forged' "$LOG" || fail "a file's name makes a line of the log"
stop_daemon
