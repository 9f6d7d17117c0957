#!/bin/bash
# SPDX-License-Identifier: MIT
# Killed while it tells the kernel what has changed: that call waits, beyond SIGKILL, for whoever asks something of the
# same directory, and these wait for the next worker. So the next worker must not wait for the end of the killed one.
# shellcheck source=../lib/fixture.sh
. "$(dirname "$0")/../lib/fixture.sh"
need_root
need_fuse
[ -z "$SANITIZED" ] || skip "a preloaded library comes before the sanitizers' own"

make_driver "$HOST" 1.1 host
make_driver "$COMPAT" 2.2 compat
"$CC" -O1 -shared -fPIC -o "$T/slow.so" "$SOURCES/preload/slow.c" -ldl
export SLOW=$T/slow LD_PRELOAD=$T/slow.so

# Whether somebody of the daemon waits and cannot be interrupted.
is_stuck() { ps -eLo stat=,comm= | grep -q '^D.*gldr'; }
is_listing() { grep -qs getdents "/proc/$1/stack"; }
other_worker() { [ "$(daemon_pid)" != "$1" ]; }

# Should they wait for each other, nothing else ends them.
release() {
  local rc=$?
  trap - ERR
  set +e
  rm -f "$SLOW"
  [ -z "${connection:-}" ] || [ $rc = 0 ] || echo 1 >"$T/connections/$connection/abort"
  return $rc
}
trap 'release; cleanup' EXIT
mkdir "$T/connections"
mount -t fusectl connections "$T/connections"

toggle_policy "mode = off"
start_daemon
unset LD_PRELOAD
worker=$(daemon_pid)
connection=$(awk -v "at=$MNT" '$5 == at {sub(".*:", "", $3); print $3}' /proc/self/mountinfo)
# So that nothing but the list itself is asked for.
ls "$MNT" >"$T/list"
stat "$MNT/lib" >"$T/list"
touch "$SLOW"
ls "$MNT/lib" >"$T/list" &
list=$!
wait_for is_listing $list
ctl compat on >"$T/toggle" 2>&1 &
toggle=$!
wait_for is_stuck
kill -KILL "$worker"
rm "$SLOW"
end=$((SECONDS + 10))
while kill -0 $list 2>/dev/null; do
  [ $SECONDS -lt $end ] || fail "the killed worker holds up the next one: $(ps -L -o pid,tid,stat,comm -p "$worker")"
  read -rt 0.02 _ <>"$T/pause" || :
done
wait $list || fail "the listing failed"
grep -qE '^libcuda.so.(1.1|2.2)$' "$T/list" || fail "another list: $(cat "$T/list")"
wait_for other_worker "$worker"
wait $toggle || :
# The interrupted invalidation is finished, and so is the killed worker.
wait_for ctl compat on >"$T/out"
expect_same "$(readlink "$MNT/lib/libcuda.so.1")" libcuda.so.2.2
expect_absent "$MNT/lib/libcuda.so.1.1"
wait_for not is_stuck
wait_for not test -e "/proc/$worker"
stop_daemon
