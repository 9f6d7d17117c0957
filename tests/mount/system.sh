#!/bin/bash
# SPDX-License-Identifier: MIT
# The system's instance as the README starts it: policy files in /etc, no arguments, the runtime override, --persist.
. "$(dirname "$0")/../lib/fixture.sh"
need_root
need_fuse

own_etc
rm -rf /etc/gldriverfs
mkdir -p /etc/gldriverfs/gldriverfs.conf.d /run/opengl-driver
MNT=/run/opengl-driver
make_driver "$HOST" 470.1 host
make_driver "$COMPAT" 535.1 compat
toggle_policy "mode = off"
cp "$POLICY" /etc/gldriverfs/gldriverfs.conf
drop_in=/etc/gldriverfs/gldriverfs.conf.d/99-gldriverctl.conf

start() {
  "$GLDRIVERFS" || fail "gldriverfs exits $?"
  is_mounted || fail "no mount"
}
# No --mount: the system's is found.
ctl() { timeout 30 "$GLDRIVERCTL" "$@"; }
shows() { expect_same "$(readlink "$MNT/lib/libcuda.so.1")" "libcuda.so.$1"; }

start
shows 470.1
[[ $(ps -o args= -p "$(daemon_pid)") == *" $MNT" ]] || fail "the mountpoint is not the last argument in ps"
[ -S /run/gldriverfs/gldriverfs.sock ]
expect_same "$(stat -c %a /run/gldriverfs)" 755

# An override outlives the daemon, until reboot or reset.
ctl compat on
shows 535.1
[ -s /run/gldriverfs/gldriverfs.override.conf ]
stop_daemon
start
shows 535.1
ctl compat reset
shows 470.1

# --persist: a drop-in, and the override is gone.
ctl compat off
ctl compat on --persist
shows 535.1
grep -qE '^mode *= *on' $drop_in
[ ! -e /run/gldriverfs/gldriverfs.override.conf ] || ! grep -q mode /run/gldriverfs/gldriverfs.override.conf || fail "the override is still there"
stop_daemon
start
shows 535.1
ctl compat off --persist
shows 470.1

# A drop-in of one's own, one that is masked by an empty file in /run, and a bad one.
printf '[compat]\nmode = on\n' >/etc/gldriverfs/gldriverfs.conf.d/zz.conf
ctl reload
shows 535.1
mkdir -p /run/gldriverfs/gldriverfs.conf.d
: >/run/gldriverfs/gldriverfs.conf.d/zz.conf
ctl reload
shows 470.1
printf '[compat]\nmood = on\n' >/run/gldriverfs/gldriverfs.conf.d/zz.conf
expect_exit 4 ctl reload
expect_has "$(cat "$T/out")" /run/gldriverfs/gldriverfs.conf.d/zz.conf:2:
shows 470.1
stop_daemon
expect_exit 3 ctl status
# No socket of a daemon that has ended.
[ ! -e /run/gldriverfs/gldriverfs.sock ]
