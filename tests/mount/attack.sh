#!/bin/bash
# SPDX-License-Identifier: MIT
# What any user can try against root's daemon: names at and over the limit, "..", requests with NULs, halves and too much,
# more connections than it serves, a client that never reads, verbs that are not his. It refuses, goes on, and keeps
# neither descriptors nor memory.
# shellcheck source=../lib/fixture.sh
. "$(dirname "$0")/../lib/fixture.sh"
need_root
need_fuse

chmod 755 "$T"
make_driver "$HOST" 535.1 host
make_driver "$COMPAT" 550.1 compat
toggle_policy "mode = off" "[gldriverfs]" "runpath = none"
start_daemon
worker=$(daemon_pid)
socket=/run/gldriverfs/$(status_of .name).sock
cp "$GLDRIVERCTL" "$HELPERS/talk" "$T/"
as_user() { setpriv --reuid 4321 --regid 4321 --clear-groups env -i PATH="$PATH" "$@"; }
descriptors() { find "/proc/$worker/fd" -mindepth 1 | wc -l; }
memory() { awk '/^RssAnon/ {print $2}' "/proc/$worker/status"; }
name_of() { printf 'n%.0s' $(seq "$1"); }

one_round() {
  local name verb
  expect_absent "$MNT/lib/$(name_of 255)"
  ! stat "$MNT/lib/$(name_of 256)" 2>"$T/err" || fail "a name of 256 bytes exists"
  grep -q 'too long' "$T/err" || fail "256 bytes: $(cat "$T/err")"
  expect_same "$(stat -c %i "$MNT/lib/../lib/..")" "$(stat -c %i "$MNT")"
  expect_same "$(stat -c %i "$MNT/..")" "$(stat -c %i "$T")"
  expect_absent "$MNT/lib/..."
  for name in ../etc/passwd lib/../../etc/passwd "$(name_of 256)" "$(name_of 5000)"; do
    as_user "$T/gldriverctl" --mount "$MNT" list "$name" >"$T/out" 2>&1 && fail "list $name: $(cat "$T/out")"
    ! grep -q root: "$T/out" || fail "list $name reads a file"
  done
  for verb in reload "compat on" "compat off" "compat auto" "compat reset"; do
    # shellcheck disable=SC2086 # a verb and its argument
    expect_exit 4 as_user "$T/gldriverctl" --mount "$MNT" $verb
  done
  for text in '{"v":1,"verb":"sta\0tus"}\n' '\0\n' '{"v":1,"verb":"reload"}\n' '{"v":1,"verb":"compat","mode":"on"}\n' \
    '{"v":1,"verb":"stop"}\n' '[[[[[[\n'; do
    # shellcheck disable=SC2059 # the text is the format
    printf "$text" | as_user "$T/talk" "$socket" 0 >"$T/reply" || fail "no reply to $text"
    expect_has "$(cat "$T/reply")" '"error":'
  done
  printf '{"v":1,"verb":"explain","name":"../../../etc/passwd"}\n' | as_user "$T/talk" "$socket" 0 >"$T/reply"
  expect_has "$(cat "$T/reply")" '"found":false'
  # Too much of a line: only as much as fits is taken.
  head -c 70000 /dev/zero | tr '\0' x | as_user "$T/talk" "$socket" 0 >"$T/reply" 2>&1 || :
  # One user's halves do not keep others out.
  printf '{"v":1,"verb":"status"}\n' | as_user timeout 20 "$T/talk" "$socket" 6 >"$T/reply"
  expect_has "$(cat "$T/reply")" '"pid":'
}

# A thousand connections of one user that send half a line and never read: root is answered.
flood() {
  # The backlog's end refuses or holds up the rest: either way they end with this shell's child.
  as_user timeout 3 "$T/talk" "$socket" 1000 <<<'{"v":1,"verb":"status"}' >/dev/null 2>&1 &
  local flooder=$!
  expect_exit 0 ctl status
  wait $flooder || :
}

one_round
flood
wait_for ctl status >/dev/null
before=$(descriptors)
memory_before=$(memory)
for _ in 1 2 3; do one_round; done
flood
settled() { [ "$(descriptors)" -le $((before + 1)) ]; }
wait_for settled
grown=$(($(memory) - memory_before))
[ -n "$SANITIZED" ] || [ $grown -lt 1024 ] || fail "$grown KiB more"
expect_same "$(daemon_pid)" "$worker" "the worker"
expect_same "$(readlink "$MNT/lib/libcuda.so.1")" libcuda.so.535.1
expect_exit 0 ctl compat on
expect_same "$(readlink "$MNT/lib/libcuda.so.1")" libcuda.so.550.1
stop_daemon
