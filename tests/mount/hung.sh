#!/bin/bash
# SPDX-License-Identifier: MIT
# A source on a FUSE server that does not answer: stopped, or it takes requests and answers none. Other names, statfs,
# reload and SIGTERM do not wait for it; it costs one thread however often it is asked for; when it answers again so does
# all of it.
# shellcheck source=../lib/fixture.sh
. "$(dirname "$0")/../lib/fixture.sh"
need_root
need_fuse

SLOW=$T/slow
mkdir "$SLOW" "$T/behind"
make_driver "$HOST" 535.1 host
rm "$HOST"/libnvidia-ml*
make_lib "$T/behind/libnvidia-tls.so.535.1" libnvidia-tls.so.1 slow
truncate -s 4M "$T/behind/libnvidia-tls.so.535.1"
for i in 1 2 3; do make_lib "$T/behind/libnvidia-opencl.so.535.$i" libnvidia-opencl.so.$i slow; done
"$HELPERS/slowfs" "$SLOW" "$T/behind" &
server=$!
trap 'rc=$?; kill -KILL $server; (exit $rc); cleanup' EXIT
wait_for grep -qF " $SLOW " /proc/self/mountinfo

both_policy() { policy "[gldriverfs]" "runpath = none" "[layer host]" "role = host" "dir = $HOST" "[layer slow]" "role = extra" "dir = $SLOW" "optional = no" "trust = yes"; }
hang() { if [ "$1" = stopped ]; then kill -STOP "$server"; else touch "$T/behind/.hold"; fi; }
answer() { if [ "$1" = stopped ]; then kill -CONT "$server"; else rm "$T/behind/.hold"; fi; }
threads() { find "/proc/$(daemon_pid)/task" -mindepth 1 -maxdepth 1 | wc -l; }
ms() { echo $(($(date +%s%N) / 1000000)); }
others_answer() { # WHAT
  local start took
  echo 3 >/proc/sys/vm/drop_caches 2>/dev/null || :
  start=$(ms)
  timeout 5 cat "$MNT/lib/libcuda.so.535.1" >"$T/bytes" || fail "$1: a file of another layer"
  cmp "$T/bytes" "$HOST/libcuda.so.535.1"
  timeout 5 ls -l "$MNT/lib" "$MNT/.gldriverfs" >/dev/null || fail "$1: ls"
  timeout 5 stat -f "$MNT" >/dev/null || fail "$1: statfs"
  timeout 5 stat "$MNT/lib/libnvidia-tls.so.1" >/dev/null || fail "$1: stat of a name of the source"
  [ ! -e "$MNT/lib/nothing-$RANDOM" ]
  took=$(($(ms) - start))
  [ $took -lt 2000 ] || fail "$1: $took ms"
}
other_worker() {
  local now
  now=$(timeout 2 "$GLDRIVERCTL" --mount "$MNT" --json status | jq .pid) && [ "${now:-$1}" != "$1" ]
}
reload_works() { timeout 10 "$GLDRIVERCTL" --mount "$MNT" reload >"$T/out" 2>&1; }

for way in stopped held; do
  both_policy
  start_logged --no-cache
  started=$!
  first=$(generation)
  before=$(threads)
  hang $way

  # Reads of it, more than there are workers at rest.
  readers=()
  for i in 1 2 3 4 5 6; do
    dd if="$MNT/lib/libnvidia-tls.so.535.1" of="$T/read.$i" bs=64k skip=$((i * 4)) count=1 status=none iflag=direct 2>"$T/dd.$i" &
    readers+=($!)
  done
  many() { [ "$(threads)" -ge $((before + 4)) ]; }
  wait_for many
  others_answer "six hung reads, $way"

  # Reloads: each names the layer; after the first none waits long; one more thread in all.
  hung=$(threads)
  start=$(ms)
  expect_exit 4 ctl reload
  [ $(($(ms) - start)) -lt 7000 ] || fail "$way: the reload took $(($(ms) - start)) ms"
  expect_has "$(cat "$T/out")" "layer slow could not be read within 5000 ms"
  start=$(ms)
  for _ in 1 2 3; do
    expect_exit 4 ctl reload
    expect_has "$(cat "$T/out")" "layer slow could not be read: its source has not answered for"
  done
  [ $(($(ms) - start)) -lt 5000 ] || fail "$way: three further reloads took $(($(ms) - start)) ms"
  others_answer "after the reloads, $way"
  [ "$(threads)" -le $((hung + 2)) ] || fail "$way: $(threads) threads after the reloads, $hung before"
  expect_same "$(generation)" "$first"

  # A hand-over does not wait for reads and scan; the reads go on with the successor.
  worker=$(daemon_pid)
  kill -USR2 "$worker"
  wait_for other_worker "$worker"
  others_answer "after the hand-over, $way"

  # Optional: left out, with a word about it; what it had closes without anybody waiting.
  sed -i 's/^optional = no/optional = yes/' "$POLICY"
  expect_exit 0 ctl reload
  expect_has "$(cat "$T/out")" "it is left out"
  expect_absent "$MNT/lib/libnvidia-opencl.so.1"
  timeout 5 cat "$MNT/lib/libcuda.so.535.1" >/dev/null || fail "$way: left out, and the rest hangs"

  # It answers again: so do the reads, and a reload has it back.
  answer $way
  for i in "${!readers[@]}"; do
    wait "${readers[i]}" || fail "$way: a read failed: $(cat "$T/dd.$((i + 1))")"
    cmp "$T/read.$((i + 1))" <(dd if="$T/behind/libnvidia-tls.so.535.1" bs=64k skip=$(((i + 1) * 4)) count=1 status=none)
  done
  both_policy
  wait_for reload_works
  cmp "$MNT/lib/libnvidia-opencl.so.535.1" "$T/behind/libnvidia-opencl.so.535.1"
  few() { cat "$MNT/lib/libcuda.so.535.1" >/dev/null && [ "$(threads)" -le $((before + 2)) ]; }
  wait_for few

  # SIGTERM while reads, a scan and a mapped file hang.
  dd if="$MNT/lib/libnvidia-tls.so.535.1" of=/dev/null bs=64k count=4 status=none 2>/dev/null &
  reader=$!
  wait $reader
  hang $way
  dd if="$MNT/lib/libnvidia-tls.so.535.1" of=/dev/null bs=64k count=4 status=none iflag=direct 2>/dev/null &
  reader=$!
  "$GLDRIVERCTL" --mount "$MNT" reload >/dev/null 2>&1 &
  wait_for grep -q . "/proc/$reader/wchan"
  keeper=$(keeper_pid)
  start=$(ms)
  kill -TERM "$keeper"
  rc=0
  wait "$started" || rc=$?
  expect_same "$rc" 0 "$way: exit"
  [ $(($(ms) - start)) -lt 2000 ] || fail "$way: the end took $(($(ms) - start)) ms"
  not is_mounted
  # Who uses what was detached gets an error, not silence.
  rc=0
  timeout 5 tail --pid="$reader" -f /dev/null || rc=$?
  answer $way
  expect_same "$rc" 0 "$way: the reader of the detached mount"
done
