#!/bin/bash
# SPDX-License-Identifier: MIT
# Case A16: a source that is the mount itself: as MNT/lib, by a link, as a bind of it, below a parent; at start and by a
# live reload. Refused or skipped within 2 s, and ls MNT always answers.
. "$(dirname "$0")/../lib/fixture.sh"
need_root
need_fuse

make_driver "$HOST" 535.1 host
ln -s "$MNT" "$T/link"
mkdir "$T/bind"

for present in auto symlink; do
  host_policy "[gldriverfs]" "present = $present"
  start_daemon
  mount --bind "$MNT" "$T/bind"
  before=$(generation)
  for source in "dir = $MNT/lib" "dir = $T/link/lib" "dir = $T/bind/lib" "tree = $MNT" "tree = $T/link" "tree = $T/bind"; do
    for optional in no yes; do
      host_policy "[gldriverfs]" "present = $present" "[layer own]" "role = extra" "$source" "optional = $optional"
      start=$(date +%s%N)
      rc=0
      ctl reload >"$T/out" 2>&1 || rc=$?
      [ $((($(date +%s%N) - start) / 1000000)) -lt 2000 ] || fail "'$source' took over 2 s"
      if [ $optional = no ]; then
        expect_same "$rc" 4 "$source: $(cat "$T/out")"
        expect_has "$(cat "$T/out")" "$POLICY:"
      fi
      timeout 2 ls "$MNT" "$MNT/lib" >/dev/null || fail "ls does not answer with '$source'"
      expect_same "$(generation)" "$before" "$source"
    done
  done

  # A parent of the mount as a tree: everything else in it is served, the mount is left out.
  mkdir -p "$T/parent/lib/own"
  make_lib "$T/parent/lib/libnvidia-tls.so.1" libnvidia-tls.so.1 parent
  mount --bind "$MNT" "$T/parent/lib/own"
  host_policy "[gldriverfs]" "present = $present" "[layer own]" "role = extra" "tree = $T/parent"
  timeout 2 "$GLDRIVERCTL" --mount "$MNT" reload >"$T/out" 2>&1 || fail "a parent of a bind of the mount: $(cat "$T/out")"
  timeout 2 ls -R "$MNT" >"$T/ls" || fail "ls does not answer"
  expect_who libnvidia-tls.so.1 parent
  expect_absent "$MNT/lib/own/lib"
  umount "$T/parent/lib/own" "$T/bind"
  stop_daemon
done

# A link of a layer that leads into the mount, before it is mounted and after.
ln -s "$MNT/lib/libcuda.so.1" "$HOST2/libnvidia-opencl.so.1"
host_policy "[layer b]" "role = host" "dir = $HOST2"
start_daemon
expect_absent "$MNT/lib/libnvidia-opencl.so.1"
ctl reload
expect_absent "$MNT/lib/libnvidia-opencl.so.1"
timeout 2 ls -lL "$MNT/lib" >/dev/null
stop_daemon

# Lists with entries that lead into the mount, and a link of a layer into another instance's mount.
mkdir "$T/mnt2" "$T/lists"
host_policy
timeout 60 "$GLDRIVERFS" --config "$POLICY" --name other "$T/mnt2" 2>>"$LOG"
start_daemon
echo "lib, $MNT/lib/libcuda.so.535.1
lib, $T/mnt2/lib/libnvidia-ml.so.535.1
sym, $T/mnt2/lib/libnvidia-ml.so.1" >"$T/lists/one.csv"
printf '{"cdiVersion":"0.5.0","kind":"nvidia.com/gpu","devices":[],"containerEdits":{"mounts":[%s,%s]}}' \
  "{\"hostPath\":\"$MNT/lib/libcuda.so.1\",\"containerPath\":\"/usr/lib/libcuda.so.1\"}" \
  "{\"hostPath\":\"$T/mnt2/lib/libcuda.so.535.1\",\"containerPath\":\"/usr/lib/libcuda.so.535.1\"}" >"$T/lists/one.json"
mkdir "$T/links"
ln -s "$T/mnt2/lib/libcuda.so.1" "$T/links/libcuda.so.1"
ln -s "$T/mnt2/lib" "$T/links/deep"
for source in "csv = $T/lists/one.csv" "cdi = $T/lists/one.json" "dir = $T/links" "dir = $T/links/deep" "dir = $T/mnt2/lib"; do
  policy "[layer own]" "role = host" "$source" "[layer host]" "role = extra" "dir = $HOST"
  rc=0
  timeout 2 "$GLDRIVERCTL" --mount "$MNT" reload >"$T/out" 2>&1 || rc=$?
  [ $rc = 0 ] || [ $rc = 4 ] || fail "'$source': exit $rc: $(cat "$T/out")"
  timeout 2 ls "$MNT/lib" >/dev/null || fail "ls does not answer with '$source'"
  expect_same "$(xattr_of "$MNT/lib/libcuda.so.535.1" gldriverfs.source)" "$HOST/libcuda.so.535.1" "$source"
done
# A policy that lies in a mount: this instance's and the other one's; nobody waits for himself.
for config in "$MNT/policy.conf" "$T/mnt2/lib/policy.conf" "$T/link/policy.conf" "$MNT/.gldriverfs/status.json"; do
  ln -sfn "$config" "$T/policy-link.conf"
  cp "$POLICY" "$T/good.conf"
  ln -sfn "$T/policy-link.conf" "$POLICY"
  expect_exit 4 timeout 2 "$GLDRIVERCTL" --mount "$MNT" reload
  timeout 2 ls "$MNT/lib" >/dev/null || fail "ls does not answer with the policy $config"
  rm "$POLICY"
  mv "$T/good.conf" "$POLICY"
done
host_policy
ctl reload
other=$("$GLDRIVERCTL" --name other --json status | jq .pid)
kill -TERM "$other"
wait_for not grep -qF " $T/mnt2 " /proc/self/mountinfo
