#!/bin/bash
# SPDX-License-Identifier: MIT
# Starting: arguments in any form, what ps shows, what the daemon keeps of its caller's, and what it finds on the
# mountpoint.
. "$(dirname "$0")/../lib/fixture.sh"
need_root
need_fuse

make_driver "$HOST" 535.1 host
host_policy
start_by() { # ARGUMENT...
  timeout 60 "$GLDRIVERFS" "$@" 2>>"$LOG" || fail "gldriverfs $* exits $?: $(tail -n 5 "$LOG")"
  is_mounted || fail "gldriverfs $* has not mounted"
}

# Relative paths hold though the daemon leaves the working directory.
cd "$T" || exit 1
start_by --config policy.conf mnt
ctl reload
expect_same "$(status_of .config)" "$POLICY"
stop_daemon
cd / || exit 1

# ps ends with the mountpoint, however it was given.
last_argument() { tr '\0' '\n' <"/proc/$(daemon_pid)/cmdline" | tail -n 1; }
expect_last() { # ARGUMENT...
  start_by "$@"
  expect_same "$(last_argument)" "$MNT" "ps of gldriverfs $*"
  ctl reload
  stop_daemon
}
cd "$T" || exit 1
expect_last --config "$POLICY" mnt
expect_last "$MNT" --config policy.conf
expect_last --config "$POLICY" --root / -- "$MNT/"
policy "[gldriverfs]" "mountpoint = $MNT" "runpath = none" "[layer host]" "role = host" "dir = $HOST"
expect_last --config "$POLICY"
expect_last --config policy.conf --name mine --no-cache --
host_policy
cd / || exit 1

# A standard stream that is closed takes no other file's place.
timeout 60 "$GLDRIVERFS" --config "$POLICY" "$MNT" <&- >&- 2>&-
expect_exit 0 ctl reload
expect_who libcuda.so.1 host
stop_daemon

# No program that the daemon starts gets its descriptors.
cd / || exit 1
start_logged
for info in "/proc/$(daemon_pid)/fdinfo"/*; do
  fd=${info##*/} flags=$(sed -n 's/^flags:[[:space:]]*//p' "$info")
  # What this shell has open it gives to a daemon in the foreground.
  [ -e "/proc/$$/fd/$fd" ] || [ $((flags & 02000000)) != 0 ] ||
    fail "descriptor $fd is inherited: $(readlink "/proc/$(daemon_pid)/fd/$fd")"
done
stop_daemon

# Killed, with a program inside: the next start finds the dead mount and puts a live one in its place.
start_by --config "$POLICY" "$MNT"
exec 7<"$MNT/lib"
kill_daemon
expect_exit 1 stat "$MNT/lib/"
expect_exit 3 ctl status
: >"$LOG"
start_by --config "$POLICY" "$MNT"
expect_has "$(cat "$LOG")" "dead mount"
expect_same "$(grep -cF " $MNT " /proc/self/mountinfo)" 1 "mounts"
expect_who libcuda.so.1 host
exec 7<&-

# A live one is refused under any name, and so is a second one of the name elsewhere.
mkdir "$T/other"
expect_exit 3 "$GLDRIVERFS" --config "$POLICY" --name second "$MNT"
expect_has "$(cat "$T/out")" "already served"
name=$(status_of .name)
expect_exit 3 "$GLDRIVERFS" --config "$POLICY" --name "$name" "$T/other"
expect_has "$(cat "$T/out")" "already running"
stop_daemon

# Of several that start at once one wins.
for i in 1 2 3 4 5 6; do
  { rc=0 && "$GLDRIVERFS" --config "$POLICY" --name "n$i" "$MNT" 2>/dev/null || rc=$?; echo $rc >"$T/rc.$i"; } &
  starts[i]=$!
done
wait "${starts[@]}"
expect_same "$(sort "$T"/rc.* | tr '\n' ' ')" "0 3 3 3 3 3 " "exit codes"
expect_same "$(grep -cF " $MNT " /proc/self/mountinfo)" 1 "mounts"
expect_who libcuda.so.1 host

# The journal's prefixes go to the journal alone: what it starts hands its variable down to terminals too.
expect_exit 1 env JOURNAL_STREAM=1:2 "$GLDRIVERFS" --config "$POLICY" "$T/missing"
expect_has "$(cat "$T/out")" "gldriverfs: error"
journal=$(stat -c %d:%i "$T/out")
expect_exit 1 env JOURNAL_STREAM="$journal" "$GLDRIVERFS" --config "$POLICY" "$T/missing"
expect_has "$(cat "$T/out")" "<3>error"

# With too few descriptors it starts, or says why not and leaves nothing behind.
stop_daemon
for ((limit = 4; limit < 64; limit += 1)); do
  rc=0
  timeout 60 prlimit --nofile=$limit:$limit "$GLDRIVERFS" --config "$POLICY" "$MNT" 2>"$T/out" || rc=$?
  [ $rc != 0 ] || break
  [ -s "$T/out" ] || fail "no message with $limit descriptors"
  not is_mounted
done
[ $rc = 0 ] || fail "it does not start with $limit descriptors: $(cat "$T/out")"
expect_who libcuda.so.1 host
stop_daemon

# A file's name is no line of the log.
mkfifo "$HOST/libnvidia-x"$'\n<0>forged\e[31m.so.1'
host_policy "include = *"
start_logged
grep -q '?<0>forged?.* is not served' "$LOG" || fail "no word about the FIFO"
! grep -q '^<0>forged' "$LOG" || fail "a file's name makes a line of the log"
stop_daemon
