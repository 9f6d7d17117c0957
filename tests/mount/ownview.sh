#!/bin/bash
# SPDX-License-Identifier: MIT
# Root's worker does not see its own mount, sees what is mounted later, and unmounts where everybody else does; a
# successor and a new keeper as well. Where mounts do not reach a copy of the namespace it stays in it.
# shellcheck source=../lib/fixture.sh
. "$(dirname "$0")/../lib/fixture.sh"
need_root
need_fuse

make_driver "$HOST" 535.1 host
mkdir "$T/bind" "$HOST2/deep"
touch "$MNT/below"
space() { readlink "/proc/$1/ns/mnt"; }
ours_of() { grep -F ' fuse.gldriverfs gldriverfs:' "/proc/$1/mountinfo" || :; }
other_worker() { local now; now=$(daemon_pid) && [ "$now" != "$1" ]; }
other_keeper() { local now; now=$(keeper_pid) && [ "$now" != "$1" ] && [ -e "/proc/$now/exe" ]; }
gone() { [ ! -e "/proc/$1/exe" ]; }

# expect_apart: the worker has no mount of ours at $MNT, none of its threads has, and the keeper is with everybody else.
expect_apart() {
  local worker keeper task
  worker=$(daemon_pid) keeper=$(keeper_pid)
  expect_same "$(ours_of "$worker" | grep -F " $MNT " || :)" "" "$1: the worker's mount"
  for task in "/proc/$worker/task"/*; do
    expect_same "$(readlink "$task/ns/mnt")" "$(space "$worker")" "$1: a thread's namespace"
  done
  [ "$(space "$worker")" != "$(space $$)" ] || fail "$1: the worker is in this namespace"
  expect_same "$(space "$keeper")" "$(space $$)" "$1: the keeper's namespace"
  # A directory in another namespace would end with that.
  for task in "/proc/$keeper/fd"/*; do
    [ "$(readlink "$task")" != / ] || grep -q "^$(sed -n 's/^mnt_id:[[:space:]]*//p' "${task/fd/fdinfo}") " /proc/self/mountinfo ||
      fail "$1: the keeper's root is in another namespace"
  done
  expect_same "$(ours_of $$ | wc -l)" "${2:-1}" "$1: mounts of everybody"
}
refused() { # LINE...
  policy "[layer host]" "role = host" "dir = $HOST" "[layer own]" "role = extra" "$@"
  expect_exit 4 timeout 3 "$GLDRIVERCTL" --mount "$MNT" reload
  expect_has "$(cat "$T/out")" "lies on a mount of gldriverfs itself"
  timeout 2 ls "$MNT/lib" >/dev/null || fail "ls does not answer with '$*'"
}

host_policy
start_logged
started=$!
expect_apart start
refused "dir = $MNT/lib"
host_policy

# A bind of the mount that is made later comes back by propagation, and is refused by its device.
mount --bind "$MNT" "$T/bind"
expect_same "$(ours_of "$(daemon_pid)" | grep -cF " $T/bind ")" 1 "the later bind in the worker's namespace"
refused "dir = $T/bind/lib"
refused "tree = $T/bind"

# A successor: the mount and the bind are taken off its copy.
worker=$(daemon_pid)
kill -KILL "$worker"
wait_for other_worker "$worker"
expect_apart successor 2
expect_same "$(ours_of "$(daemon_pid)")" "" "the successor's mounts"
policy "[layer own]" "role = extra" "dir = $T/bind/lib"
expect_exit 4 timeout 3 "$GLDRIVERCTL" --mount "$MNT" reload
expect_has "$(cat "$T/out")" "$T/bind/lib does not exist"
umount "$T/bind"

# What is mounted later over a source's directory is seen by a reload, and its end too.
policy "[layer two]" "role = host" "dir = $HOST2"
make_driver "$HOST2" 470.1 below
ctl reload
expect_who libcuda.so.1 below
mount -t tmpfs tmpfs "$HOST2"
make_driver "$HOST2" 535.1 above
ctl reload
expect_who libcuda.so.1 above
umount -l "$HOST2"
ctl reload
expect_who libcuda.so.1 below

# A keeper that the worker made is in the first namespace, and so is what it starts; host files go on being found.
keeper=$(keeper_pid)
kill -KILL "$keeper"
wait_for other_keeper "$keeper"
expect_apart "new keeper"
worker=$(daemon_pid)
kill -KILL "$worker"
wait_for other_worker "$worker"
expect_apart "worker of the new keeper"
mount -t tmpfs tmpfs "$HOST2"
make_driver "$HOST2" 535.1 again
ctl reload
expect_who libcuda.so.1 again
umount -l "$HOST2"

# The stop.
worker=$(daemon_pid) keeper=$(keeper_pid)
exec 7<"$MNT/lib/libcuda.so.1"
kill -TERM "$worker"
wait_for gone "$worker"
wait_for gone "$keeper"
exec 7<&-
[ -e "$MNT/below" ] || fail "what lies under the mount is hidden"
expect_same "$(ours_of $$)" "" "mounts after the stop"
wait "$started" || :

# An instance in another one's mount, or in its way.
mkdir "$T/mnt2"
host_policy
start_daemon
policy "[layer own]" "role = extra" "dir = $MNT/lib"
expect_exit 2 timeout 10 "$GLDRIVERFS" --config "$POLICY" --name two "$T/mnt2"
expect_has "$(cat "$T/out")" "lies on a mount of gldriverfs itself"
stop_daemon

# No peer group: it stays where it is, and st_dev alone refuses.
mount --make-rprivate /
host_policy
start_daemon
expect_same "$(space "$(daemon_pid)")" "$(space $$)" "namespace without propagation"
refused "dir = $MNT/lib"
stop_daemon
[ -e "$MNT/below" ]
