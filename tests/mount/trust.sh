#!/bin/bash
# SPDX-License-Identifier: MIT
# A system mount serves nothing that another user could replace, says so, and does with `trust = yes`.
. "$(dirname "$0")/../lib/fixture.sh"
need_root
need_fuse
is_rejected() { status_of -e --arg p "$1" '[.rejected[] | select(.path | startswith($p))] | length > 0' >/dev/null; }

served() { expect_who libcuda.so.1 x; }
refused() { # PATH that the status names
  expect_absent "$MNT/lib/libcuda.so.1"
  is_rejected "$1" || fail "no reason for $1 in: $(status_of -c .rejected)"
}
file=$T/up/dir/libcuda.so.1
make_lib "$file" libcuda.so.1 x
policy "[layer host]" "role = host" "dir = $T/up/dir"
start_daemon
served
try() { # COMMAND...: makes it replaceable
  "$@"
  ctl reload
}
try chown 12345 "$file" && refused "$T/up/dir"
expect_exit 1 ctl explain libcuda.so
expect_has "$(cat "$T/out")" "libcuda.so is not served: it could be replaced by another user"
try chown 0 "$file" && served
try chmod g+w "$file" && refused "$T/up/dir"
try chmod 755 "$file" && served
try chmod o+w "$T/up/dir" && refused "$T/up"
try chmod 755 "$T/up/dir" && served
try chown 12345 "$T/up" && refused "$T/up"
try chown 0 "$T/up" && served
# Sticky as /tmp is: the next component is root's.
try chmod 1777 "$T/up" && served
try chown 12345 "$T/up/dir" && refused "$T/up"
# Another user may have made a hard link in it.
chown 0 "$T/up/dir"
chmod 1777 "$T/up/dir"
ctl reload
served
try ln "$file" "$T/up/dir/libother.so" && refused "$T/up/dir"
try rm "$T/up/dir/libother.so" && served
chmod 755 "$T/up/dir"
chown 12345 "$T/up/dir"
policy "[layer host]" "role = host" "dir = $T/up/dir" "trust = yes"
ctl reload
served
chown 0 "$T/up/dir"
chmod 755 "$T/up"

# A link on the way that another user owns the directory of.
mkdir "$T/theirs"
ln -s "$T/up/dir" "$T/theirs/link"
policy "[layer host]" "role = host" "dir = $T/theirs/link"
ctl reload
served
try chown 12345 "$T/theirs" && expect_absent "$MNT/lib/libcuda.so.1"
