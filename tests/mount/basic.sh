#!/bin/bash
# SPDX-License-Identifier: MIT
# A mount is there when gldriverfs returns: listing, bytes, statfs, options, xattrs, EROFS for every write, a clean end.
. "$(dirname "$0")/../lib/fixture.sh"
need_root
need_fuse

make_driver "$HOST" 535.1 host
printf 'x%.0s' {1..9000} >>"$HOST/libcuda.so.535.1" # behind the ELF: more than one page that nothing maps
chmod 4755 "$HOST/libcuda.so.535.1"

for present in auto file symlink; do
  host_policy "[gldriverfs]" "present = $present" "runpath = none"
  start_daemon
  pid=$(daemon_pid)

  expect_same "$(ls "$MNT")" lib
  expect_same "$(ls "$MNT/lib" | tr '\n' ' ')" "libcuda.so libcuda.so.1 libcuda.so.535.1 libnvidia-ml.so libnvidia-ml.so.1 libnvidia-ml.so.535.1 libnvidia-ptxjitcompiler.so libnvidia-ptxjitcompiler.so.1 libnvidia-ptxjitcompiler.so.535.1 "
  expect_same "$(readlink "$MNT/lib/libcuda.so")" libcuda.so.1
  expect_same "$(readlink "$MNT/lib/libcuda.so.1")" libcuda.so.535.1
  for file in "$HOST"/*; do
    cmp "$file" "$MNT/lib/${file##*/}"
  done
  real=$MNT/lib/libcuda.so.535.1
  if [ $present = symlink ]; then
    expect_same "$(readlink "$real")" "$HOST/libcuda.so.535.1"
  else
    expect_same "$(stat -c '%F %s %a %u' "$real")" "regular file $(stat -c %s "$HOST/libcuda.so.535.1") 755 0"
    # A read across the end, one at an odd place.
    cmp <(tail -c +5000 "$real" | head -c 7777) <(tail -c +5000 "$HOST/libcuda.so.535.1" | head -c 7777)
  fi
  jq -e .generation "$MNT/.gldriverfs/status.json" >/dev/null
  [ -n "$(stat -f -c '%T %l' "$MNT")" ]
  expect_absent "$MNT/lib/libnothing.so.1"
  expect_absent "$MNT/nothing"

  line=$(grep -F " $MNT " /proc/self/mountinfo)
  for option in ro nosuid nodev; do
    [[ ",$(cut -d' ' -f6 <<<"$line")," == *,$option,* ]] || fail "not mounted $option: $line"
  done
  expect_has "$line" default_permissions
  expect_has "$line" allow_other
  expect_has "$line" " gldriverfs:"
  [[ $line != *noexec* ]] || fail "mounted noexec"

  expect_same "$(xattr_of "$real" gldriverfs.layer)" host
  expect_same "$(xattr_of "$real" gldriverfs.source)" "$HOST/libcuda.so.535.1"
  expect_has "$(generation)" "$(xattr_of "$real" gldriverfs.generation | cut -c1-8)"
  expect_same "$(xattr_of "$MNT/lib/libcuda.so.1" gldriverfs.layer)" host

  file=$real
  [ $present != symlink ] || file=$MNT/.gldriverfs/status.json
  "$HELPERS/writeops" strict "$POLICY" "$MNT/lib" "$file" "$MNT/lib/libcuda.so.1" || fail "a write was not refused"
  cmp "$HOST/libcuda.so.535.1" "$real"

  [[ $(tr '\0' '\n' <"/proc/$pid/cmdline" | tail -n 1) == "$MNT" ]] || fail "the mountpoint is not the last argument"
  stop_daemon
  expect_same "$(ls -A "$MNT")" ""
done

# What lies under the mount is visible again.
touch "$MNT/below"
start_daemon
expect_absent "$MNT/below"
stop_daemon
[ -e "$MNT/below" ]

# However the mountpoint is written, ps ends with it and nothing else.
ln -s "$T" "$T/link"
for arguments in "$MNT --config $POLICY" "--config $POLICY $MNT/" "--config $POLICY $T/link/mnt" "--config $POLICY -- mnt"; do
  # shellcheck disable=SC2086 # several arguments
  (cd "$T" && timeout 60 "$GLDRIVERFS" $arguments 2>>"$LOG") || fail "exit $? with $arguments"
  expect_same "$(tr '\0' '\n' <"/proc/$(daemon_pid)/cmdline" | tail -n 1)" "$MNT" "$arguments"
  stop_daemon
done
