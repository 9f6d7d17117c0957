#!/bin/bash
# SPDX-License-Identifier: MIT
# Killed at any moment of start, reload and stop, again and again: no dead mount, no process and no descriptor is left.
# shellcheck source=../lib/fixture.sh
. "$(dirname "$0")/../lib/fixture.sh"
need_fuse

ROUNDS=20
[ "$LONG" != 1 ] || ROUNDS=500

pause() { read -rt "$(printf '0.%03d' $((RANDOM % $1)))" _ <>"$T/pause" || :; }
# Of the daemon on $MNT; a worker has threads, or is the younger process while it starts.
kill_one() {
  local pids pid worker keeper
  mapfile -t pids < <(pgrep -f -- "--foreground $MNT\$" || :)
  [ ${#pids[@]} -gt 0 ] || return 0
  worker=${pids[-1]} keeper=${pids[0]}
  for pid in "${pids[@]}"; do
    [ ! -e "/proc/$pid/task" ] || [ "$(find "/proc/$pid/task" -mindepth 1 -maxdepth 1 2>/dev/null | wc -l)" -lt 2 ] || worker=$pid
  done
  for pid in "${pids[@]}"; do
    [ "$pid" = "$worker" ] || keeper=$pid
  done
  case $1 in
  worker) kill -KILL "$worker" ;;
  keeper) [ "$keeper" = "$worker" ] || kill -KILL "$keeper" ;;
  stop) kill -TERM "$worker" ;;
  esac 2>/dev/null || :
}
nobody() { ! pgrep -f -- "--foreground $MNT\$" >/dev/null; }
# A mount that answers, or none.
is_whole() {
  local rc=0
  timeout 10 stat "$MNT/lib/" >/dev/null 2>"$T/stat.err" || rc=$?
  [ $rc != 124 ] || fail "$1: the mount hangs"
  ! grep -qE "not connected|abort" "$T/stat.err" || fail "$1: a dead mount is left"
}
begin() {
  "$GLDRIVERFS" --config "$POLICY" --foreground "$MNT" 2>>"$LOG" &
  started=$!
}
finish() {
  local what=$1 rc=0
  kill -TERM "$started" 2>/dev/null || :
  end=$((SECONDS + 10))
  until nobody; do
    kill_one stop
    pause 20
    [ $SECONDS -lt $end ] || fail "$what: a process is left: $(pgrep -af -- "$MNT\$")"
  done
  wait "$started" 2>/dev/null || rc=$?
  ! is_mounted || fail "$what: a mount is left"
}

make_driver "$HOST" 1.1 host
make_driver "$COMPAT" 2.2 compat
toggle_policy "mode = off"
: >"$LOG"
files_before=$(awk '{print $1 - $2}' /proc/sys/fs/file-nr)
for ((i = 0; i < ROUNDS; i++)); do
  who=$([ $((i % 2)) = 0 ] && echo worker || echo keeper)
  # At the start.
  begin
  pause 30
  kill_one $who
  pause 30
  is_whole "start, $who"
  if [ $((i % 3)) = 0 ]; then
    # In a reload.
    ctl compat on >/dev/null 2>&1 &
    pause 15
    kill_one $who
    wait $! || :
    is_whole "reload, $who"
  fi
  # In the stop.
  kill_one stop
  pause 10
  kill_one $who
  finish "stop, $who"
  rm -f /run/gldriverfs/*.override.conf
done
files_after=$(awk '{print $1 - $2}' /proc/sys/fs/file-nr)
echo "$ROUNDS rounds; open files of the machine: $files_before before, $files_after after"
