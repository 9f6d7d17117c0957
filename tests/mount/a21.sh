#!/bin/bash
# SPDX-License-Identifier: MIT
# Case A21: the policy is a chain of links, changed at any of its levels (same size and mtime too), or replaced as vim
# does: every reload sees it; one that changes nothing flushes nothing.
. "$(dirname "$0")/../lib/fixture.sh"
need_root
need_fuse

make_lib "$T/a/libcuda.so.1" libcuda.so.1 a
make_lib "$T/b/libcuda.so.1" libcuda.so.1 b
mkdir -p "$T/store1" "$T/store2" "$T/static1" "$T/static2"
write() { # FILE TAG
  printf '[layer host]\nrole = host\ndir = %s\n' "$T/$2" >"$1"
  touch -d '1970-01-01 00:00:01Z' "$1"
}
write "$T/store1/policy" a
write "$T/store2/policy" b
ln -s "$T/store1/policy" "$T/static1/x"
ln -s "$T/store2/policy" "$T/static2/x"
ln -s "$T/static1" "$T/static"
ln -s "$T/static/x" "$POLICY"

start_daemon
pid=$(daemon_pid)
expect_who libcuda.so.1 a
ln -sfn "$T/static2" "$T/static" && ctl reload && expect_who libcuda.so.1 b
ln -sf "$T/store1/policy" "$T/static2/x" && ctl reload && expect_who libcuda.so.1 a
write "$T/store1/policy" b && ctl reload && expect_who libcuda.so.1 b
ln -sf "$T/store1/policy.new" "$T/static2/x"
write "$T/store1/policy.new" a && ctl reload && expect_who libcuda.so.1 a
# As vim: a new file renamed over the link.
write "$T/policy.vim" b && mv "$T/policy.vim" "$POLICY" && ctl reload && expect_who libcuda.so.1 b

# Another file with the same content: the same generation, and nothing that the kernel holds is dropped.
generation=$(generation)
look() {
  stat "$MNT/lib/libcuda.so.1" "$MNT/lib" >/dev/null
  ls "$MNT/lib" >/dev/null
}
replace_and_look() {
  write "$T/policy.vim" b && mv "$T/policy.vim" "$POLICY" && ctl reload
  expect_same "$(generation)" "$generation"
  look
}
look
expect_no_requests "a reload that changed nothing" replace_and_look
expect_same "$(daemon_pid)" "$pid"
