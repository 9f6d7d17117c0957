#!/bin/bash
# SPDX-License-Identifier: MIT
# Reload: a failing one leaves the old generation; listings and lookups agree afterwards, of names never looked up
# before too; an absent name that appears is there at once; a cwd in the mount stays; SIGHUP does the same.
. "$(dirname "$0")/../lib/fixture.sh"
need_root
need_fuse

make_driver "$HOST" 535.1 host
policy "[gldriverfs]" "runpath = none" "[layer host]" "role = host" "dir = $HOST"
start_daemon
pid=$(daemon_pid)

# A working directory inside, for all of the test.
cd "$MNT/lib" || exit 1
expect_cwd() {
  [ -e libcuda.so.1 ] || fail "the cwd in the mount is gone"
  expect_same "$(/bin/pwd)" "$MNT/lib"
  expect_same "$(ls . | wc -l)" "$(ls "$MNT/lib" | wc -l)"
}

# By a listing alone: no lookup of the name.
listed() { find "$MNT/lib" -maxdepth 1 -printf '%f\n' | grep -qx "$1"; }

ls "$MNT/lib" >/dev/null
ls "$MNT/lib" >/dev/null
expect_absent "$MNT/lib/libnvidia-tls.so.1" # remembered as absent by the kernel
make_lib "$HOST/libnvidia-tls.so.1" libnvidia-tls.so.1 tls
make_lib "$HOST/libnvidia-fbc.so.1" libnvidia-fbc.so.1 fbc # never looked up
ctl reload
listed libnvidia-tls.so.1 || fail "an added name is not listed"
listed libnvidia-fbc.so || fail "an added link is not listed"
expect_who libnvidia-tls.so.1 tls
[ -e "$MNT/lib/libnvidia-fbc.so.1" ]
expect_cwd

rm "$HOST/libnvidia-tls.so.1" "$HOST/libnvidia-fbc.so.1"
ctl reload
! listed libnvidia-tls.so.1 && ! listed libnvidia-fbc.so || fail "a removed name is listed"
expect_absent "$MNT/lib/libnvidia-tls.so.1"
expect_absent "$MNT/lib/libnvidia-fbc.so"
expect_cwd

# A replaced file: new bytes under the name, the old ones in what is open.
make_lib "$T/new.so" libcuda.so.1 new
exec 8<"$MNT/lib/libcuda.so.535.1"
cp "$HOST/libcuda.so.535.1" "$T/old.so"
inode=$(stat -c %i "$MNT/lib/libcuda.so.535.1")
cp "$T/new.so" "$HOST/libcuda.so.new" && mv "$HOST/libcuda.so.new" "$HOST/libcuda.so.535.1"
ctl reload
expect_who libcuda.so.1 new
[ "$(stat -c %i "$MNT/lib/libcuda.so.535.1")" != "$inode" ] || fail "new content has the old inode number"
cmp - "$T/old.so" <&8
exec 8<&-
expect_cwd

# A failing reload: the same generation, the same bytes, the error with its place to whoever asked.
good=$(generation) listing=$(ls -lR "$MNT")
cp "$POLICY" "$T/good.conf"
echo "nonsense = 1" >>"$POLICY"
expect_exit 4 ctl reload
expect_has "$(cat "$T/out")" "$POLICY:8:"
expect_same "$(generation)" "$good"
expect_same "$(ls -lR "$MNT")" "$listing"
expect_has "$(status_of -c .problems)" "nonsense"
cp "$T/good.conf" "$POLICY"
ctl reload
expect_same "$(generation)" "$good"

# Inode numbers of what did not change stay.
before=$(stat -c '%n %i' "$MNT"/lib/*)
make_lib "$HOST/libnvidia-tls.so.1" libnvidia-tls.so.1 tls
kill -HUP "$pid"
changed() { [ "$(generation)" != "$good" ]; }
wait_for changed
wait_for test -e "$MNT/lib/libnvidia-tls.so.1"
rm "$HOST/libnvidia-tls.so.1"
ctl reload
expect_same "$(stat -c '%n %i' "$MNT"/lib/*)" "$before"
expect_same "$(daemon_pid)" "$pid"
expect_cwd

# Busy at the end: unmounted lazily, exit 0.
cd "$MNT/lib" || exit 1
kill -TERM "$pid"
wait_for not is_mounted
