#!/bin/bash
# SPDX-License-Identifier: MIT
# Every write operation on every kind of entry is refused, as root and as a user, also where root makes the mount
# writable; nothing on the host is changed, and the daemon is not asked for anything that it does not know.
# shellcheck source=../lib/fixture.sh
. "$(dirname "$0")/../lib/fixture.sh"
need_root
need_fuse

chmod 755 "$T"
make_driver "$HOST" 470.1 host
mkdir -p "$HOST2/lib" "$HOST2/share/vulkan/icd.d"
make_lib "$HOST2/lib/libGLX_nvidia.so.0" libGLX_nvidia.so.0 tree
echo '{"file_format_version":"1.0.0","ICD":{"library_path":"libGLX_nvidia.so.0","api_version":"1.3"}}' >"$HOST2/share/vulkan/icd.d/nvidia_icd.json"
echo '<driconf/>' >"$HOST2/share/drirc"
chmod 666 "$HOST2/share/drirc" # not even what everybody may write
echo outside >"$T/outside"
chmod 666 "$T/outside"
cp "$HELPERS/writeops" "$T/writeops"
snapshot() {
  find "$HOST" "$HOST2" "$T/outside" -printf '%p %y %m %U %G %s %T@ %C@ %l\n' | sort
  find "$HOST" "$HOST2" "$T/outside" -type f -exec md5sum {} + | sort
}

for present in file symlink; do
  policy "[gldriverfs]" "present = $present" "[layer host]" "role = host" "dir = $HOST" "[layer tree]" "role = extra" "tree = $HOST2" "trust = yes"
  start_daemon
  set=$(basename "$(dirname "$(find "$MNT/.gldriverfs/set" -mindepth 2 -maxdepth 2 -name lib)")")
  entries=("$MNT" "$MNT/lib" "$MNT/lib/libcuda.so.1" "$MNT/lib/libcuda.so.470.1" "$MNT/lib/libnvidia-ml.so"
    "$MNT/lib/libnvidia-ml.so.470.1" "$MNT/share" "$MNT/share/drirc" "$MNT/share/vulkan/icd.d/nvidia_icd.json"
    "$MNT/.gldriverfs" "$MNT/.gldriverfs/status.json" "$MNT/.gldriverfs/set" "$MNT/.gldriverfs/set/$set"
    "$MNT/.gldriverfs/set/$set/lib" "$MNT/.gldriverfs/set/$set/lib/libcuda.so.470.1"
    "$MNT/.gldriverfs/set/$set/.gldriverfs")
  # What is a link to the host's file is the host's to protect.
  inside=()
  for entry in "${entries[@]}"; do
    [[ $(readlink "$entry" || :) == /* ]] || inside+=("$entry")
  done
  [ ${#inside[@]} -ge 12 ] || fail "only ${#inside[@]} entries"
  before=$(snapshot)
  listing=$(find "$MNT" "$MNT/.gldriverfs" -printf '%p %y %m %U %s %l\n' | sort)
  nothing_changed() {
    expect_same "$(snapshot)" "$before" "$1: the host"
    expect_same "$(find "$MNT" "$MNT/.gldriverfs" -printf '%p %y %m %U %s %l\n' | sort)" "$listing" "$1: the mount"
    [ ! -e /tmp/writeops.fresh ] || fail "$1: something came out of the mount"
  }

  "$T/writeops" strict "$T/outside" "${inside[@]}" || fail "root, present = $present"
  nothing_changed "root, $present"
  setpriv --reuid 4321 --regid 4321 --clear-groups "$T/writeops" strict "$T/outside" "${inside[@]}" || fail "a user, present = $present"
  nothing_changed "a user, $present"

  # Root makes the mount, or its file system too, writable.
  mount -o remount,bind,rw "$MNT"
  "$T/writeops" strict "$T/outside" "${inside[@]}" || fail "root after a bind remount, present = $present"
  nothing_changed "root after a bind remount, $present"
  if mount -o remount,rw "$MNT" 2>/dev/null; then
    "$T/writeops" any "$T/outside" "${inside[@]}" || fail "root after a remount, present = $present"
    setpriv --reuid 4321 --regid 4321 --clear-groups "$T/writeops" any "$T/outside" "${inside[@]}" || fail "a user after a remount"
    nothing_changed "after a remount, $present"
  fi
  ctl reload
  stop_daemon
done
