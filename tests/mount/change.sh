#!/bin/bash
# SPDX-License-Identifier: MIT
# Host files that change under the mount: another mode shows after a reload, under the same inode number; content changed
# in place never mixes: the old inode gives EIO, and a reload starts by itself.
. "$(dirname "$0")/../lib/fixture.sh"
need_root
need_fuse

make_driver "$HOST" 535.1 host
policy "[gldriverfs]" "present = file" "runpath = none" "[layer host]" "role = host" "dir = $HOST"
start_daemon
lib=$MNT/lib/libcuda.so.535.1
cmp "$lib" "$HOST/libcuda.so.535.1"

chmod 640 "$HOST/libcuda.so.535.1"
chown 0:7 "$HOST/libcuda.so.535.1"
inode=$(stat -c %i "$lib") was=$(generation)
expect_same "$(stat -c %a:%g "$lib")" 755:0 "before the reload"
ctl reload
expect_same "$(stat -c %a:%g:%i "$lib")" "640:7:$inode" "after the reload"
[ "$(generation)" != "$was" ] || fail "another mode is the same generation"
chmod 755 "$HOST/libcuda.so.535.1"
chown 0:0 "$HOST/libcuda.so.535.1"
ctl reload
expect_same "$(generation)" "$was"

# An open file of the old content.
exec 8<"$MNT/lib/libnvidia-ml.so.535.1"
was=$(generation)
make_lib "$T/new.so" libnvidia-ml.so.1 new
cat "$T/new.so" >"$HOST/libnvidia-ml.so.535.1"
! cat <&8 >"$T/bytes" 2>"$T/error" || fail "the changed file was read: $(wc -c <"$T/bytes") bytes"
expect_has "$(cat "$T/error")" "Input/output error"
exec 8<&-
changed() { [ "$(generation)" != "$was" ]; }
wait_for changed
cmp "$MNT/lib/libnvidia-ml.so.535.1" "$T/new.so"
expect_who libnvidia-ml.so.1 new
