#!/bin/bash
# SPDX-License-Identifier: MIT
# The worker is killed again and again under readers: no operation fails, hangs or gives other bytes.
# shellcheck source=../lib/fixture.sh
. "$(dirname "$0")/../lib/fixture.sh"
need_fuse

KILLS=50
[ "$LONG" != 1 ] || KILLS=500

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
for i in $(seq 12); do make_lib "$HOST/libnvidia-x$i.so.1.1" "libnvidia-x$i.so.1" "x$i"; done

for how in "" --no-cache; do
  host_policy
  start_daemon $how
  keeper=$(keeper_pid)
  "$HELPERS/hammer" "$MNT" 600 4 >"$T/hammer.out" 2>"$T/hammer.err" &
  hammer=$!
  wait_for grep -q ready "$T/hammer.out"
  kills "$keeper" "$KILLS"
  kill -TERM $hammer
  rc=0
  wait $hammer || rc=$?
  echo "${how:-cached}, $KILLS kills: $(tail -n 1 "$T/hammer.out")"
  [ $rc = 0 ] || fail "operations failed: $(cat "$T/hammer.err")"
  expect_same "$(keeper_pid)" "$keeper"
  stop_daemon
done
