#!/bin/bash
# SPDX-License-Identifier: MIT
# user-inside.sh — run by tests/long/service.sh in a booted system with the package and /srv/driver: a real user logs in
# (through PAM and logind), has the user's service, is killed under, logs out and in.
set -euo pipefail
uid=4321 mnt=/run/user/4321/opengl-driver

fail() {
  echo "FAIL: a user's service: $*"
  journalctl --no-pager -n 30 "_UID=$uid" || :
  journalctl --no-pager -n 10 -u "user@$uid" || :
  exit 1
}
trap 'echo "FAIL: $BASH_COMMAND (line $LINENO)"' ERR
until_true() { # COMMAND... — for what systemd does on its own
  local end=$((SECONDS + 40))
  until "$@"; do [ $SECONDS -lt $end ] || fail "never: $*"; done
}
as_user() {
  setpriv --reuid $uid --regid $uid --init-groups env -i PATH=/usr/bin:/bin HOME=/home/someone XDG_RUNTIME_DIR=/run/user/$uid \
    DBUS_SESSION_BUS_ADDRESS=unix:path=/run/user/$uid/bus "$@"
}
# A session of its own kind, as login(1) and sshd make them: it opens the user's manager.
log_in() {
  systemd-run -q --unit=session-of-someone -p PAMName=login -p User=someone sleep infinity
  until_true as_user systemctl --user list-units >/dev/null 2>&1
}
log_out() { systemctl stop session-of-someone; }
is_mounted() { grep -F " $mnt " /proc/1/mountinfo >/dev/null; }
has_processes() { pgrep -U $uid >/dev/null; }
main_pid() { as_user systemctl --user show -P MainPID gldriverfs; }
is_another() { local now && now=$(main_pid) && [ "$now" != "$1" ] && [ "$now" != 0 ]; }
not() { ! "$@"; }
# The loader finds it through the mount.
load() {
  # shellcheck disable=SC2016 # the inner shell's
  as_user LD_LIBRARY_PATH=$mnt/lib sh -c 'LD_PRELOAD=libcuda.so.1 grep -F '"$mnt"'/lib/libcuda.so /proc/self/maps' >/run/user-maps 2>&1 ||
    fail "libcuda is not loaded: $(cat /run/user-maps)"
}

[ -u "$(command -v fusermount3)" ] || fail "fusermount3 is not setuid"
chmod 666 /dev/fuse
useradd --create-home --shell /bin/bash --uid $uid someone
mkdir -p /home/someone/.config/gldriverfs
printf '[gldriverfs]\nrunpath = none\n[layer host]\ndir = /srv/driver\n' >/home/someone/.config/gldriverfs/gldriverfs.conf
chown -R $uid:$uid /home/someone

echo "a user: start, load"
log_in
as_user systemctl --user start gldriverfs || fail "start"
is_mounted || fail "no mount"
grep -F " $mnt " /proc/1/mountinfo | grep -F "user_id=$uid" >/dev/null || fail "the mount is not the user's"
[ "$(stat -c %u "/proc/$(main_pid)")" = $uid ] || fail "the daemon is somebody else"
load
as_user systemctl --user reload gldriverfs || fail "reload"
[[ $(as_user systemctl --user show -P StatusText gldriverfs) = "generation "* ]] || fail "STATUS="

echo "a user: kill -9, restart, stop"
before=$(main_pid)
kill -9 "$before"
load
until_true is_another "$before"
before=$(main_pid)
as_user systemctl --user restart gldriverfs
until_true is_another "$before"
load
as_user systemctl --user stop gldriverfs
not is_mounted || fail "stop leaves a mount"
not pgrep -x gldriverfs || fail "stop leaves a process"

echo "a user: logout, login"
as_user systemctl --user enable gldriverfs 2>/dev/null
as_user systemctl --user start gldriverfs
log_out
until_true not has_processes
not is_mounted || fail "logout leaves a mount"
[ ! -e /run/user/$uid ] || until_true [ ! -e /run/user/$uid ]
log_in
until_true is_mounted
load
log_out
until_true not has_processes
not is_mounted || fail "logout leaves a mount"
userdel -r someone 2>/dev/null || :
