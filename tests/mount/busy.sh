#!/bin/bash
# SPDX-License-Identifier: MIT
# A stop while programs use the mount: detached, exit 0, what lies below shows again, and the programs that have mapped
# files of it are named. An umount from outside ends the daemon with 0 too.
. "$(dirname "$0")/../lib/fixture.sh"
need_root
need_fuse

make_driver "$HOST" 535.1 host
host_policy "[gldriverfs]" "present = file"
start_logged
daemon=$!
"$CC" -O1 -o "$T/holder" "$SOURCES/holder.c" -ldl
"$T/holder" "$MNT/lib/libcuda.so.1" >"$T/ready" &
holder=$!
wait_for test -s "$T/ready"
exec 7<"$MNT/lib/libnvidia-ml.so.1" # open, not mapped: this shell is not named
kill -TERM "$daemon"
rc=0
wait "$daemon" || rc=$?
expect_same "$rc" 0 "exit of a busy daemon"
not is_mounted
expect_same "$(ls -A "$MNT")" ""
grep -q "$MNT is in use: detached" "$LOG" || fail "not said: $(cat "$LOG")"
expect_same "$(grep -o 'not read yet: .*' "$LOG")" "not read yet: holder ($holder)"
exec 7<&-
kill "$holder"

start_logged
daemon=$!
umount "$MNT"
rc=0
wait "$daemon" || rc=$?
expect_same "$rc" 0 "exit after an umount"
