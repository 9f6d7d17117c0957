#!/bin/bash
# SPDX-License-Identifier: MIT
# A user's own mount through fusermount3 (case A17): for the owner alone without user_allow_other, and it says so; for
# everybody with it. Nobody writes. A system mount is readable by every uid.
. "$(dirname "$0")/../lib/fixture.sh"
need_root
need_fuse
command -v fusermount3 >/dev/null || skip "fusermount3 is not installed"

own_etc
useradd --no-create-home --uid 4321 --home-dir /nonexistent someone
useradd --no-create-home --uid 4322 --home-dir /nonexistent other
# This machine's node may be for root alone; its own one is left as it is.
mknod -m 666 "$T/fuse" c 10 229
mount --bind "$T/fuse" /dev/fuse
chmod 755 "$T"
mkdir -p /run/user/4321
chmod 700 /run/user/4321
chown 4321:4321 /run/user/4321
mkdir "$T/bin"
cp "$GLDRIVERFS" "$GLDRIVERCTL" "$HELPERS/writeops" "$T/bin/"

as() { # NAME COMMAND...
  local uid
  uid=$(id -u "$1")
  shift
  setpriv --reuid "$uid" --regid "$uid" --clear-groups env -i PATH="$PATH" HOME=/nonexistent \
    XDG_RUNTIME_DIR="/run/user/$uid" ASAN_OPTIONS="$ASAN_OPTIONS" UBSAN_OPTIONS="$UBSAN_OPTIONS" "$@"
}
make_driver "$HOST" 470.1 host
make_driver "$COMPAT" 535.1 compat
toggle_policy "mode = off" "[gldriverfs]" "runpath = none"
MNT=/run/user/4321/opengl-driver
as someone mkdir "$MNT"
sed -i '/^user_allow_other/d' /etc/fuse.conf 2>/dev/null || touch /etc/fuse.conf

start_as_someone() { as someone timeout 60 "$T/bin/gldriverfs" --config "$POLICY" "$MNT" 2>>"$LOG" || fail "exit $?: $(cat "$LOG")"; }
user_ctl() { as someone timeout 30 "$T/bin/gldriverctl" "$@"; }

# The helper is missing, or refuses: the message says so, and nothing is left behind.
mapfile -t helpers < <(PATH=$PATH:/usr/local/bin:/usr/bin:/bin type -aP fusermount3 | sort -u)
refused_helper() { # CONTENT MODE TEXT
  printf '%s\n' "$1" >"$T/fusermount3"
  chmod "$2" "$T/fusermount3"
  for helper in "${helpers[@]}"; do mount --bind "$T/fusermount3" "$helper"; done
  expect_exit 1 as someone "$T/bin/gldriverfs" --config "$POLICY" "$MNT"
  expect_has "$(cat "$T/out")" "$3"
  not is_mounted
  for helper in "${helpers[@]}"; do umount "$helper"; done
}
refused_helper "" 644 "fusermount3 was not found"
refused_helper "#!/bin/sh
echo 'fusermount3: mount failed: Permission denied' >&2
exit 1" 755 "AppArmor"

# A caller that ignores SIGCHLD hands that down.
as someone timeout 60 env --ignore-signal=CHLD "$T/bin/gldriverfs" --config "$POLICY" "$MNT" 2>>"$LOG" ||
  fail "with SIGCHLD ignored: exit $?: $(cat "$LOG")"
kill -TERM "$(user_ctl --json status | jq .pid)"
wait_for not is_mounted

start_as_someone
is_mounted || fail "no mount"
[[ $(grep -F " $MNT " /proc/self/mountinfo) != *allow_other* ]] || fail "allow_other without being allowed"
as someone cmp "$MNT/lib/libcuda.so.1" "$HOST/libcuda.so.470.1"
! as other ls /run/user/4321/opengl-driver/lib >/dev/null 2>&1 || fail "another user reads the mount"
# The user's own mount is found without naming it.
user_ctl compat on
as someone cmp "$MNT/lib/libcuda.so.1" "$COMPAT/libcuda.so.535.1"
user_ctl --json status >"$T/status"
pid=$(jq .pid "$T/status")
expect_same "$(stat -c %u "/proc/$pid")" 4321
as someone "$T/bin/writeops" strict "$POLICY" "$MNT/lib" "$MNT/lib/libcuda.so.535.1" "$MNT/lib/libcuda.so.1"
user_ctl compat reset
kill -TERM "$pid"
wait_for not is_mounted

# A policy that asks for allow-other where it is not allowed: mounted for the owner, with a word about it.
: >"$LOG"
toggle_policy "mode = off" "[gldriverfs]" "allow-other = yes" "runpath = none"
start_as_someone
grep -q user_allow_other "$LOG" || fail "no word about user_allow_other: $(cat "$LOG")"
as someone ls "$MNT/lib" >/dev/null
kill -TERM "$(user_ctl --json status | jq .pid)"
wait_for not is_mounted

echo user_allow_other >>/etc/fuse.conf
start_as_someone
chmod 755 /run/user/4321
as other cmp "$MNT/lib/libcuda.so.1" "$HOST/libcuda.so.470.1" || fail "user_allow_other has no effect"
expect_same "$(ls "$MNT/lib" | wc -l)" 9
# The daemon is the owner's, and root's: others do not talk to it.
expect_exit 3 as other "$T/bin/gldriverctl" --mount "$MNT" compat on
expect_same "$(status_of .owner)" 4321
as someone cmp "$MNT/lib/libcuda.so.1" "$HOST/libcuda.so.470.1"
kill -TERM "$(user_ctl --json status | jq .pid)"
wait_for not is_mounted

# No arguments: the default mountpoint is made, ps ends with it; the policy is the user's own before the system's, whose
# mountpoint does not count. --persist goes to the user's own files.
rmdir "$MNT"
mkdir -p /etc/gldriverfs "$T/config/gldriverfs"
printf '[gldriverfs]\nmountpoint = /run/elsewhere\nrunpath = none\n[layer host]\ndir = %s\n' "$HOST" >/etc/gldriverfs/gldriverfs.conf
printf '[gldriverfs]\nrunpath = none\n[layer host]\ndir = %s\n' "$COMPAT" >"$T/config/gldriverfs/gldriverfs.conf"
chown -R 4321 "$T/config"
as someone env XDG_CONFIG_HOME="$T/config" timeout 60 "$T/bin/gldriverfs" 2>>"$LOG"
is_mounted || fail "no mount at the default mountpoint"
expect_same "$(tr '\0' '\n' <"/proc/$(user_ctl --json status | jq .pid)/cmdline" | tail -n 1)" "$MNT"
as someone cmp "$MNT/lib/libcuda.so.1" "$COMPAT/libcuda.so.535.1"
as someone env XDG_CONFIG_HOME="$T/config" "$T/bin/gldriverctl" compat off --persist
grep -qE '^mode *= *off' "$T/config/gldriverfs/gldriverfs.conf.d/99-gldriverctl.conf"
rm -r "$T/config/gldriverfs"
user_ctl reload
as someone cmp "$MNT/lib/libcuda.so.1" "$HOST/libcuda.so.470.1"
as someone mkdir -p "/run/user/4321/gldriverfs"
printf '[gldriverfs]\nrunpath = none\n[layer host]\ndir = %s\n' "$COMPAT" | as someone tee /run/user/4321/gldriverfs/gldriverfs.conf >/dev/null
user_ctl reload
as someone cmp "$MNT/lib/libcuda.so.1" "$COMPAT/libcuda.so.535.1"
kill -TERM "$(user_ctl --json status | jq .pid)"
wait_for not is_mounted
expect_exit 2 as someone env -u XDG_RUNTIME_DIR "$T/bin/gldriverfs"
expect_has "$(cat "$T/out")" XDG_RUNTIME_DIR

# The system's mount: everybody reads, nobody but root changes.
MNT=$T/mnt
toggle_policy "mode = off" "[gldriverfs]" "runpath = none"
start_daemon
as other cmp "$MNT/lib/libcuda.so.1" "$HOST/libcuda.so.470.1"
as other "$T/bin/gldriverctl" --mount "$MNT" status >/dev/null
for verb in "compat on" reload; do
  # shellcheck disable=SC2086 # a verb and its argument
  expect_exit 4 as other "$T/bin/gldriverctl" --mount "$MNT" $verb
done
expect_who libcuda.so.1 host
