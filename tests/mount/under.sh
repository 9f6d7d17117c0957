#!/bin/bash
# SPDX-License-Identifier: MIT
# `under = yes`: what the mountpoint showed before the mount is served, over reloads, under a compat layer, and as files
# where everything else is links (a link to what the mount covers would lead to itself). A source that names the
# mountpoint itself is refused before the mount as it is after it (case A16).
. "$(dirname "$0")/../lib/fixture.sh"
need_root
need_fuse

make_driver "$MNT/lib" 470.1 under
mkdir -p "$MNT/share/x"
echo text >"$MNT/share/x/y"
make_driver "$COMPAT" 535.1 compat
make_lib "$T/store/lib/libnvidia-tls.so.1" libnvidia-tls.so.1 store
ln -s "$T/store/lib/libnvidia-tls.so.1" "$MNT/lib/libnvidia-tls.so.1"
below=$(cd "$MNT" && find . -ls)

for present in auto file symlink; do
  policy "[gldriverfs]" "present = $present" "runpath = none" "[layer host]" "role = host" "under = yes" \
    "[layer compat]" "role = compat" "dir = $COMPAT" "[compat]" "mode = off"
  start_daemon
  served=$(generation)
  for _ in 1 2; do
    expect_who libcuda.so.1 under
    expect_who libnvidia-tls.so.1 store
    expect_same "$(cat "$MNT/share/x/y")" text
    expect_same "$(stat -L -c %F "$MNT/lib/libcuda.so.470.1")" "regular file"
    ctl compat on
    expect_who libcuda.so.1 compat
    expect_who libnvidia-ml.so.1 under
    ctl compat reset
    ctl reload
    expect_same "$(generation)" "$served"
  done
  [ $present != symlink ] || expect_same "$(readlink "$MNT/lib/libnvidia-tls.so.1")" "$T/store/lib/libnvidia-tls.so.1"
  stop_daemon
  expect_same "$(cd "$MNT" && find . -ls)" "$below" "below the mount"
done

ln -s "$MNT/lib" "$T/link"
for source in "dir = $MNT/lib" "dir = $T/link" "tree = $MNT"; do
  host_policy "[layer own]" "role = extra" "$source"
  expect_exit 2 timeout 2 "$GLDRIVERFS" --config "$POLICY" "$MNT"
  expect_has "$(cat "$T/out")" "$POLICY:6: error: layer own: "
  not is_mounted
done
# A parent of the mountpoint: all but the mountpoint is served, at the start as later.
make_lib "$T/parent/lib/libnvidia-tls.so.1" libnvidia-tls.so.1 parent
MNT=$T/parent/lib/own
mkdir "$MNT"
make_lib "$MNT/libnvidia-opencl.so.1" libnvidia-opencl.so.1 own
policy "[layer own]" "role = extra" "tree = $T/parent"
start_daemon
served=$(generation)
[ -e "$MNT/lib/libnvidia-tls.so.1" ]
expect_absent "$MNT/lib/own/libnvidia-opencl.so.1"
ctl reload
expect_same "$(generation)" "$served"
