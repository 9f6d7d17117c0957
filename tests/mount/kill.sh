#!/bin/bash
# SPDX-License-Identifier: MIT
# The worker is killed again and again under readers: no operation fails, hangs or gives other bytes.
# shellcheck source=../lib/fixture.sh
. "$(dirname "$0")/../lib/fixture.sh"
need_fuse

KILLS=50
[ "$LONG" != 1 ] || KILLS=500

fds() { find "/proc/$1/fd" -mindepth 1 | wc -l; }
# kills KEEPER COUNT: one each 20 ms or so.
kills() {
  local i worker
  for ((i = 0; i < $2; i++)); do
    read -r worker <"/proc/$1/task/$1/children" || worker=
    [ -z "$worker" ] || kill -KILL $worker 2>/dev/null || :
    read -rt 0.02 _ <>"$T/pause" || :
  done
}

make_driver "$HOST" 1.1 host
for name in allocator cfg eglcore encode fbc glcore glsi opencl tls ngx; do
  make_lib "$HOST/libnvidia-$name.so.1.1" "libnvidia-$name.so.1" $name
done

# hammered WHAT COMMAND...: runs it under four readers of $MNT; $OR are directories whose contents are right too.
hammered() {
  local what=$1 rc=0 hammer
  shift
  "$HELPERS/hammer" "$MNT" 600 4 ${OR:-} >"$T/hammer.out" 2>"$T/hammer.err" &
  hammer=$!
  wait_for grep -q ready "$T/hammer.out"
  "$@"
  kill -TERM $hammer
  wait $hammer || rc=$?
  echo "$what: $(tail -n 1 "$T/hammer.out")"
  [ $rc = 0 ] || fail "operations failed: $(cat "$T/hammer.err")"
}

for how in "" --no-cache; do
  host_policy
  start_daemon $how
  keeper=$(keeper_pid)
  before=$(fds "$keeper")
  hammered "${how:-cached}, $KILLS kills" kills "$keeper" "$KILLS"
  expect_same "$(keeper_pid)" "$keeper"
  expect_same "$(fds "$keeper")" "$before" "the keeper's descriptors"
  stop_daemon
done

# The same while compat is switched on and off: a name shows the one or the other, whole.
make_driver "$COMPAT" 2.2 compat
toggles() {
  local i
  for ((i = 0; i < KILLS / 2; i++)); do
    [ ! -e "$T/enough" ] || break
    # A client whose daemon is killed has no answer.
    ctl compat "$([ $((i % 2)) = 0 ] && echo on || echo off)" >/dev/null 2>&1 || :
  done
}
for how in "" --no-cache; do
  toggle_policy "mode = off"
  start_daemon $how
  keeper=$(keeper_pid)
  for mode in off on; do
    rm -rf "${T:?}/$mode"
    ctl compat $mode >"$T/out"
    cp -a "$MNT/lib" "$T/$mode"
  done
  toggles &
  toggles=$!
  OR="$T/on $T/off" hammered "${how:-cached}, $KILLS kills and toggles" kills "$keeper" "$KILLS"
  touch "$T/enough" # not killed: its client would go on
  wait $toggles || :
  rm "$T/enough"
  # What the kernel remembers is what the daemon says.
  for mode in on off on; do
    wait_for ctl compat $mode >"$T/out"
    [ $mode = on ] && want=$T/on || want=$T/off
    diff -r --no-dereference "$want" "$MNT/lib" || fail "compat $mode shows something else"
  done
  stop_daemon
done

# Hand-over under the same load.
hand_overs() {
  local i worker
  for ((i = 0; i < KILLS / 2; i++)); do
    worker=$(daemon_pid)
    kill -USR2 "$worker"
    wait_for other_worker "$worker"
  done
}
other_worker() { [ "$(daemon_pid)" != "$1" ]; }
host_policy
for how in "" --no-cache; do
  start_daemon $how
  hammered "${how:-cached}, $((KILLS / 2)) hand-overs" hand_overs
  stop_daemon
done
