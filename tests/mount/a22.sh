#!/bin/bash
# SPDX-License-Identifier: MIT
# Case A22: INI basics end to end: comments, long values and comments, an unknown key with its line and a hint.
. "$(dirname "$0")/../lib/fixture.sh"
need_root
need_fuse

long=$(printf 'x%.0s' {1..240})
directory=$T/$long/$long/$long/$long/$long/$long/$long/$long/$long/$long/$long/$long
mkdir -p "$directory" "$T/with;semicolon"
make_lib "$directory/libcuda.so.1" libcuda.so.1 long
make_lib "$T/with;semicolon/libnvidia-ml.so.1" libnvidia-ml.so.1 semicolon
{
  printf '\xef\xbb\xbf'
  printf '; %010000d\r\n' 0
  printf '[layer host] # c\r\n'
  printf 'role = host ; note\r\n'
  printf '   dir = %s # %05000d\r\n' "$directory" 0
  printf 'dir = %s' "$T/with;semicolon"
} >"$POLICY"
start_daemon
expect_who libcuda.so.1 long
expect_who libnvidia-ml.so.1 semicolon

refused() { # LINE TEXT POLICY-LINE...
  local line=$1 text=$2
  shift 2
  policy "$@"
  expect_exit 4 ctl reload
  expect_has "$(cat "$T/out")" "$POLICY:$line:"
  expect_has "$(cat "$T/out")" "$text"
  expect_who libcuda.so.1 long
}
refused 4 exclude "[layer host]" "role = host" "dir = $HOST" "exclud = x"
refused 2 compat "# comment" "[compatt]" "mode = on"
refused 2 mode "[compat]" "mode = sometimes"
refused 3 mode "[compat]" "mode = on" "mode = off"
refused 1 "" "mode = on"
refused 3 "" "[layer host]" "role = host" "dir: $HOST"
refused 3 "/nonexistent/gldriverfs" "[layer host]" "role = host" "dir = /nonexistent/gldriverfs"
printf '[layer host]\nrole = host\ndir = %s\n' "$(printf 'y%.0s' {1..5000})" >"$POLICY"
expect_exit 4 ctl reload
expect_has "$(cat "$T/out")" "$POLICY:3:"
: >"$POLICY"
expect_exit 4 ctl reload
expect_who libcuda.so.1 long
