#!/bin/bash
# SPDX-License-Identifier: MIT
# Case A01: which libcuda wins, for all three names, in all presentations; the daemon keeps its pid and toggling back
# gives the same generation.
. "$(dirname "$0")/../lib/fixture.sh"
need_root
need_fuse

make_driver "$HOST" 470.1 host
make_driver "$COMPAT" 535.1 compat

expect_set() { # TAG
  local name
  for name in libcuda.so libcuda.so.1 libnvidia-ptxjitcompiler.so.1; do
    expect_who $name "$1"
  done
  expect_who libnvidia-ml.so.1 host
}

for present in auto file symlink; do
  toggle_policy "mode = off" "[gldriverfs]" "present = $present"
  start_daemon
  pid=$(daemon_pid) off=$(generation)
  expect_set host
  expect_absent "$MNT/lib/libcuda.so.535.1"
  ctl compat on
  on=$(generation)
  [ "$on" != "$off" ] || fail "the same generation after compat on"
  expect_set compat
  expect_absent "$MNT/lib/libcuda.so.470.1"
  expect_same "$(xattr_of "$MNT/lib/libcuda.so.535.1" gldriverfs.layer)" compat
  for _ in 1 2 3; do
    ctl compat off
    expect_same "$(generation)" "$off"
    expect_set host
    ctl compat on
    expect_same "$(generation)" "$on"
    expect_set compat
  done
  # Version numbers of both are known: NVIDIA's rule says on.
  ctl compat auto
  expect_set compat
  expect_has "$(ctl status)" "470.1"
  ctl compat reset
  expect_set host
  expect_same "$(daemon_pid)" "$pid"
  ctl explain libcuda.so.1 >"$T/explain"
  grep -q "$COMPAT/libcuda.so.535.1" "$T/explain" || fail "explain does not name the loser: $(cat "$T/explain")"
  stop_daemon
done

# --persist has no place to write to where the policy is one file.
toggle_policy "mode = off"
start_daemon
expect_exit 4 ctl compat on --persist
expect_has "$(cat "$T/out")" "$POLICY"
expect_set host
expect_exit 2 ctl compat sideways
