#!/bin/bash
# SPDX-License-Identifier: MIT
# What ends, what goes on and who comes after: worker, keeper, both, crashes of every kind, hand-over.
# shellcheck source=../lib/fixture.sh
. "$(dirname "$0")/../lib/fixture.sh"
need_fuse

gone() { [ ! -e "/proc/$1/exe" ]; }
plain_policy() { policy "[gldriverfs]" "runpath = none" "[layer host]" "role = host" "dir = $HOST"; }
start() {
  plain_policy
  start_logged "$@"
  keeper=$(keeper_pid) worker=$(daemon_pid)
}
# wait_for_other PID: until another worker answers.
other_worker() { [ "$(daemon_pid)" != "$1" ]; }
last_argument() { tr '\0' '\n' <"/proc/$1/cmdline" | tail -n 1; }
processes() { pgrep -f -- "$MNT\$" | wc -l; }

make_driver "$HOST" 1.1 host
make_probe "$T/probe" "$MNT/lib"

# A worker that is killed: another one, no message lost, the same view, the control socket answers at once.
start
inode=$(stat -c %i "$MNT/lib/libcuda.so.1.1")
generation=$(generation)
expect_same "$(last_argument "$keeper")" "$MNT"
expect_same "$(last_argument "$worker")" "$MNT"
exec 7<"$MNT/lib/libcuda.so.1.1"
kill -KILL "$worker"
wait_for other_worker "$worker"
expect_same "$(stat -c %i "$MNT/lib/libcuda.so.1.1")" "$inode" "inode"
expect_same "$(generation)" "$generation"
cmp /dev/fd/7 "$HOST/libcuda.so.1.1" || fail "an open file has other bytes"
expect_has "$(cat "$LOG")" "took over"
expect_same "$(processes)" 2 "processes"

# Broken policy on disk: the old view stays, and the status says both.
worker=$(daemon_pid)
echo "nonsense" >>"$POLICY"
kill -KILL "$worker"
wait_for other_worker "$worker"
wait_for grep -q "reload failed" "$LOG"
expect_same "$(generation)" "$generation"
expect_has "$(status_of -c .problems)" "policy.conf"
expect_same "$(status_of .compat.on)" false
"$T/probe" libcuda.so.1 | grep -q host || fail "the library is gone"
expect_exit 4 ctl explain libcuda.so.1
expect_exit 0 ctl list
plain_policy
expect_exit 0 ctl reload
expect_exit 0 ctl explain libcuda.so.1

# The keeper killed: the worker makes another, which keeps as well.
worker=$(daemon_pid)
kill -KILL "$keeper"
other_keeper() { local now; now=$(keeper_pid) && [ "$now" != "$1" ] && [ -e "/proc/$now/exe" ]; }
wait_for other_keeper "$keeper"
expect_same "$(daemon_pid)" "$worker"
keeper=$(keeper_pid)
expect_same "$(last_argument "$keeper")" "$MNT"
kill -KILL "$worker"
wait_for other_worker "$worker"
worker=$(daemon_pid)
expect_same "$(keeper_pid)" "$keeper"
for fd in "/proc/$keeper/fd"/*; do
  [[ $(readlink "$fd") != /dev/fuse && $(readlink "$fd") != "$HOST"/* ]] || fail "the keeper holds $(readlink "$fd")"
done
cmp /dev/fd/7 "$HOST/libcuda.so.1.1"
exec 7<&-
kill -TERM "$keeper"
wait_for not is_mounted
wait_for gone "$worker"
wait_for gone "$keeper"

# SIGTERM to either ends both; so does an unmount from outside. What lay under the mount is there again.
touch "$MNT/under"
for what in keeper worker umount; do
  start
  started=$!
  expect_absent "$MNT/under"
  case $what in
  keeper) kill -TERM "$keeper" ;;
  worker) kill -TERM "$worker" ;;
  umount) umount "$MNT" ;;
  esac
  rc=0
  wait "$started" || rc=$?
  expect_same "$rc" 0 "exit status after $what"
  wait_for gone "$worker"
  [ -e "$MNT/under" ] || fail "what lay under the mount is hidden after $what"
done
rm "$MNT/under"

# A library that is replaced on the host while a program has touched half of it: the rest is the old one's, also from the
# worker after the next.
head -c 3000000 /dev/urandom >>"$HOST/libcuda.so.1.1"
cp "$HOST/libcuda.so.1.1" "$T/old"
start --no-cache
exec 7<"$MNT/lib/libcuda.so.1.1"
cmp -n 4096 /dev/fd/7 "$T/old"
make_lib "$HOST/new" libcuda.so.1 new
mv "$HOST/new" "$HOST/libcuda.so.1.1"
ctl reload
expect_who libcuda.so.1 new
for _ in 1 2; do
  kill -KILL "$worker"
  wait_for other_worker "$worker"
  worker=$(daemon_pid)
  dd if=/dev/fd/7 of="$T/rest" bs=4096 skip=300 count=200 iflag=direct status=none
  cmp "$T/rest" <(dd if="$T/old" bs=4096 skip=300 count=200 status=none) || fail "the replaced file has other bytes"
  ctl reload
done
exec 7<&-
stop_daemon
make_driver "$HOST" 1.1 host
inode=

# Hand-over: the program on disk takes over; one that cannot be executed does not.
cp "$GLDRIVERFS" "$T/gldriverfs"
original=$GLDRIVERFS GLDRIVERFS=$T/gldriverfs
start
for round in same replaced gone; do
  case $round in
  replaced) cp "$original" "$T/new" && mv "$T/new" "$T/gldriverfs" ;;
  gone) rm "$T/gldriverfs" ;;
  esac
  kill -USR2 "$keeper"
  wait_for other_worker "$worker"
  worker=$(daemon_pid)
  expect_same "$(keeper_pid)" "$keeper"
  now=$(stat -c %i "$MNT/lib/libcuda.so.1.1")
  expect_same "$now" "${inode:=$now}" "inode"
  executable=$(readlink "/proc/$worker/exe")
  [ "$round" = gone ] || expect_same "$executable" "$T/gldriverfs" "program after $round"
done
# … nor does a crash need the file.
kill -KILL "$worker"
wait_for other_worker "$worker"
stop_daemon
wait_for gone "$keeper"
GLDRIVERFS=$original

# A program that does not know the state (a downgrade) mounts afresh; who uses the old mount keeps it, and then it ends.
printf '#!/bin/bash\n[ -z "${LISTEN_FDS:-}" ] || exit 99\nexec "%s" "$@"\n' "$original" >"$T/other"
chmod +x "$T/other"
cp "$original" "$T/gldriverfs"
GLDRIVERFS=$T/gldriverfs
start
exec 7<"$MNT/lib/libcuda.so.1.1"
mv "$T/other" "$T/gldriverfs"
kill -USR2 "$keeper"
fresh() { [ "$(keeper_pid)" != "$keeper" ] && is_mounted; }
wait_for fresh
grep -q "does not know this state" "$LOG" || fail "no word about it"
"$T/probe" libcuda.so.1 | grep -q host
cmp /dev/fd/7 "$HOST/libcuda.so.1.1" || fail "the old mount is not served any more"
exec 7<&-
wait_for gone "$keeper"
stop_daemon
GLDRIVERFS=$original

# Sanitizers take such signals for their own, and a preloaded library comes before theirs.
[ -z "$SANITIZED" ] || exit 0
# A signal from outside is a kill whatever its name is.
start
for _ in 1 2 3 4 5 6 7; do
  worker=$(daemon_pid)
  kill -SEGV "$worker"
  wait_for other_worker "$worker"
done
is_mounted || fail "kills from outside count as crashes"
stop_daemon

# Crashes of its own.
mkdir "$T/crasher"
"$CC" -O1 -shared -fPIC -o "$T/crasher.so" "$SOURCES/preload/crasher.c" -ldl
make_lib "$HOST/libnvidia-fbc.so.1.1" libnvidia-fbc.so.1 fbc
start_crashing() {
  export CRASHER=$T/crasher LD_PRELOAD=$T/crasher.so
  start "$@"
  unset LD_PRELOAD
}

# A request that crashes each worker gets EIO, nobody else anything.
start_crashing --no-cache
HAMMER_SKIP=libnvidia-fbc "$HELPERS/hammer" "$MNT" 600 2 >"$T/hammer.out" 2>"$T/hammer.err" &
hammer=$!
wait_for grep -q ready "$T/hammer.out"
touch "$T/crasher/read"
expect_exit 1 cat "$MNT/lib/libnvidia-fbc.so.1.1"
expect_has "$(cat "$T/out")" "Input/output error"
expect_has "$(cat "$LOG")" "crashed 3 workers"
cmp "$MNT/lib/libcuda.so.1.1" "$HOST/libcuda.so.1.1"
rm "$T/crasher/read"
cmp "$MNT/lib/libnvidia-fbc.so.1.1" "$HOST/libnvidia-fbc.so.1.1"
kill -TERM $hammer
wait $hammer || fail "others failed too: $(cat "$T/hammer.err")"
stop_daemon

# A reload that crashes each worker is not tried for ever, and the view stays.
start_crashing
touch "$T/crasher/scan"
touch "$HOST/libnvidia-fbc.so.1.1"
kill -HUP "$worker"
wait_for grep -q "3 reloads in a row crashed" "$LOG"
"$T/probe" libcuda.so.1 | grep -q host
expect_same "$(ctl list lib | grep -c "libnvidia-fbc.so ")" 1
rm "$T/crasher/scan"
expect_exit 0 ctl reload
stop_daemon

# Five restarts in a row that crash before they answer anything: the mount is given up, loudly, and what is under it shows.
touch "$MNT/under"
start_crashing
started=$!
touch "$T/crasher/start"
kill -KILL "$worker"
rc=0
wait $started || rc=$?
expect_same "$rc" 1 "exit status"
not is_mounted
[ -e "$MNT/under" ] || fail "a dead mount is left"
expect_has "$(cat "$LOG")" "5 restarts in a row failed"
expect_same "$(processes)" 0 "processes"
