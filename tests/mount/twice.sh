#!/bin/bash
# SPDX-License-Identifier: MIT
# Two daemons started at once on one mountpoint: one serves, the other exits 3, whether their names differ or not. A
# mount whose path has changed since is unmounted all the same.
. "$(dirname "$0")/../lib/fixture.sh"
need_root
need_fuse

make_driver "$HOST" 535.1 host
host_policy
count_mounts() { grep -c ' - fuse.gldriverfs' /proc/self/mountinfo || :; }
is_gone() { [ ! -e "/proc/$1/exe" ]; }

for names in "one one" "one two"; do
  read -r first second <<<"$names"
  for _ in $(seq 8); do
    timeout 60 "$GLDRIVERFS" --config "$POLICY" --name "$first" "$MNT" 2>"$T/first.log" &
    timeout 60 "$GLDRIVERFS" --config "$POLICY" --name "$second" "$MNT" 2>"$T/second.log" &
    codes=
    for job in $(jobs -p); do
      rc=0
      wait "$job" || rc=$?
      codes+=$rc
    done
    [ "$codes" = 03 ] || [ "$codes" = 30 ] || fail "exits $codes: $(cat "$T/first.log" "$T/second.log")"
    expect_same "$(count_mounts)" 1 "mounts"
    expect_who libcuda.so.1 host
    stop_daemon
    expect_same "$(count_mounts)" 0 "mounts after the end"
  done
done

mkdir "$T/parent" "$T/parent/mnt"
MNT=$T/parent/mnt
start_daemon
pid=$(daemon_pid)
mv "$T/parent" "$T/moved"
kill -TERM "$pid"
wait_for is_gone "$pid"
expect_same "$(count_mounts)" 0 "mounts after the end under another name"
