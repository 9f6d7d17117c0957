#!/bin/bash
# SPDX-License-Identifier: MIT
# What a start finds on its mountpoint: dead mounts of earlier daemons, several of them, below another mount, bound
# elsewhere; and servers that only call themselves gldriverfs and do not answer.
# shellcheck source=../lib/fixture.sh
. "$(dirname "$0")/../lib/fixture.sh"
need_root
need_fuse

make_driver "$HOST" 535.1 host
touch "$MNT/below"
host_policy "[gldriverfs]" "runpath = none"
mounts_here() { grep -cF " $MNT " /proc/self/mountinfo || :; }
start_again() {
  : >"$LOG"
  start_daemon "$@"
  timeout 5 cmp "$MNT/lib/libcuda.so.535.1" "$HOST/libcuda.so.535.1" || fail "the mount does not serve"
}

# Two dead ones, one above the other, and a dead bind elsewhere, which is nobody's mountpoint.
mkdir "$T/bind"
start_daemon
mount --bind "$MNT" "$T/bind"
kill_daemon
mount --bind "$T/bind" "$MNT"
expect_same "$(mounts_here)" 2 "dead mounts"
start_again
expect_same "$(mounts_here)" 1 "mounts after the start"
expect_same "$(grep -c 'was a dead mount' "$LOG")" 2 "words about dead mounts"
stop_daemon
[ -e "$MNT/below" ] || fail "what lies under the mount is hidden"
umount "$T/bind"

# A dead one below somebody's mount, under the same name and another one: nobody can take it off, and it is in nobody's
# way. What covers it shows again at the end.
for name in same other; do
  start_daemon --name same
  kill_daemon
  mount -t tmpfs cover "$MNT"
  touch "$MNT/cover"
  start_again --name $name
  expect_has "$(cat "$LOG")" "below another mount on $MNT is a dead one"
  expect_absent "$MNT/cover"
  expect_exit 3 "$GLDRIVERFS" --config "$POLICY" --name third "$MNT"
  ctl reload
  stop_all() {
    local pid
    pid=$(daemon_pid)
    kill -TERM "$pid"
    wait_for not test -e "/proc/$pid/exe"
  }
  stop_all
  [ -e "$MNT/cover" ] || fail "the cover is not there any more"
  umount "$MNT"
  start_again
  stop_daemon
  [ -e "$MNT/below" ]
done

# A live one below somebody's mount keeps the mountpoint.
start_daemon --name live
mount -t tmpfs cover "$MNT"
expect_exit 3 "$GLDRIVERFS" --config "$POLICY" --name second "$MNT"
expect_has "$(cat "$T/out")" "already served by the gldriverfs instance live"
umount "$MNT"
stop_daemon

# Another server that says it is ours and hangs: stopped, or with the request taken. A stopped daemon of ours as well.
mkdir "$T/empty"
for way in stopped held; do
  "$HELPERS/slowfs" "$MNT" "$T/empty" gldriverfs:evil &
  server=$!
  wait_for is_mounted
  ls "$MNT" >/dev/null
  if [ $way = stopped ]; then kill -STOP $server; else touch "$T/empty/.hold"; fi
  expect_exit 3 timeout 6 "$GLDRIVERFS" --config "$POLICY" "$MNT"
  expect_has "$(cat "$T/out")" "does not answer"
  kill -KILL $server
  wait $server || :
  rm -f "$T/empty/.hold"
  # Dead now, and detached as one of ours would be.
  start_again
  stop_daemon
done
start_daemon --name frozen
worker=$(daemon_pid)
kill -STOP "$worker"
expect_exit 3 timeout 6 "$GLDRIVERFS" --config "$POLICY" --name second "$MNT"
kill -CONT "$worker"
stop_daemon
