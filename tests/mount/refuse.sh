#!/bin/bash
# SPDX-License-Identifier: MIT
# What gldriverfs refuses, with which exit code, and that nothing is left behind.
. "$(dirname "$0")/../lib/fixture.sh"
need_root
need_fuse

make_driver "$HOST" 535.1 host
host_policy
count_mounts() { grep -c ' - fuse' /proc/self/mountinfo || :; }
mounts=$(count_mounts)
refused() { # CODE MOUNTPOINT [TEXT]
  expect_exit "$1" timeout 30 "$GLDRIVERFS" --config "$POLICY" "$2"
  [ -s "$T/out" ] || fail "no message for $2"
  [ -z "${3:-}" ] || expect_has "$(cat "$T/out")" "$3"
  expect_same "$(count_mounts)" "$mounts" "mounts after $2"
}
touch "$T/file"
mkdir "$T/target"
ln -s "$T/target" "$T/link"
refused 1 "$T/file" "$T/file"
refused 1 "$T/link" "$T/link"
refused 1 "$T/missing/dir" "make the directory first"
refused 1 "$T/missing" "make the directory first"
expect_same "$(readlink "$T/link")" "$T/target"
expect_same "$(ls -A "$T/target")" ""

echo "[compat]" >"$T/bad.conf"
echo "mode = maybe" >>"$T/bad.conf"
expect_exit 2 "$GLDRIVERFS" --config "$T/bad.conf" "$MNT"
expect_has "$(cat "$T/out")" "$T/bad.conf:2:"
expect_exit 2 "$GLDRIVERFS" --config "$T/none.conf" "$MNT"
mkdir "$T/directory.conf"
expect_exit 2 "$GLDRIVERFS" --config "$T/directory.conf" "$MNT"
mkfifo "$T/fifo.conf"
expect_exit 2 timeout 10 "$GLDRIVERFS" --config "$T/fifo.conf" "$MNT"
: >"$T/empty.conf"
expect_exit 2 "$GLDRIVERFS" --config "$T/empty.conf" "$MNT"
expect_same "$(count_mounts)" "$mounts" "mounts after a bad policy"

start_daemon
pid=$(daemon_pid)
mounts=$(count_mounts)
refused 3 "$MNT"
refused 3 "$MNT/"
expect_same "$(daemon_pid)" "$pid"
expect_who libcuda.so.1 host
stop_daemon
# No daemon any more.
expect_exit 3 ctl status
expect_exit 2 ctl nonsense
expect_exit 2 "$GLDRIVERFS" --nonsense
expect_has "$(cat "$T/out")" "gldriverfs --help"
