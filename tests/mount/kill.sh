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

for how in "" --no-cache; do
  host_policy
  start_daemon $how
  keeper=$(keeper_pid)
  "$HELPERS/hammer" "$MNT" 600 4 >"$T/hammer.out" 2>"$T/hammer.err" &
  hammer=$!
  wait_for grep -q ready "$T/hammer.out"
  before=$(fds "$keeper")
  kills "$keeper" "$KILLS"
  kill -TERM $hammer
  rc=0
  wait $hammer || rc=$?
  echo "${how:-cached}, $KILLS kills: $(tail -n 1 "$T/hammer.out")"
  [ $rc = 0 ] || fail "operations failed: $(cat "$T/hammer.err")"
  expect_same "$(keeper_pid)" "$keeper"
  expect_same "$(fds "$keeper")" "$before" "the keeper's descriptors"
  stop_daemon
done
