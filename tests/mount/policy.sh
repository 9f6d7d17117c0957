#!/bin/bash
# SPDX-License-Identifier: MIT
# Which policy files count (DESIGN 4), on a machine in a directory: the first main file of /run, /etc, /usr/lib; the
# drop-ins of all three by file name; masks; profiles; the override last. What `check --root` says is what is mounted.
. "$(dirname "$0")/../lib/fixture.sh"
need_root
need_fuse

R=$T/root
mkdir -p "$R/proc"
for driver in usr etc run dropin; do make_lib "$R/drivers/$driver/libcuda.so.1" libcuda.so.1 $driver; done
make_lib "$R/drivers/compat/libcuda.so.1" libcuda.so.1 compat
main() { # DIRECTORY TAG
  mkdir -p "$R/$1/gldriverfs/inst.conf.d"
  printf '[layer host]\ndir = /drivers/%s\n' "$2" >"$R/$1/gldriverfs/inst.conf"
}
drop() { # DIRECTORY NAME LINE...
  local file=$R/$1/gldriverfs/inst.conf.d/$2
  shift 2
  printf '%s\n' "$@" >"$file"
}
mode() { # MODE WHERE-IT-IS-FROM
  ctl reload >/dev/null
  expect_same "$(status_of '.compat | [.mode, .mode_from] | join(" ")')" "$1 $2"
}

main usr/lib usr
"$GLDRIVERFS" --root "$R" --name inst "$MNT" 2>>"$LOG"
pid=$(daemon_pid)
expect_who libcuda.so.1 usr
main etc etc
ctl reload
expect_who libcuda.so.1 etc
main run run
ctl reload
expect_who libcuda.so.1 run
rm "$R/run/gldriverfs/inst.conf"
ctl reload
expect_who libcuda.so.1 etc
: >"$R/run/gldriverfs/inst.conf" # a main file of 0 bytes is an accident
expect_exit 4 ctl reload
expect_has "$(cat "$T/out")" "/run/gldriverfs/inst.conf"
rm "$R/run/gldriverfs/inst.conf"

# By file name, wherever they are; of one name the first directory's.
drop etc 50-a.conf "[layer compat]" "dir = /drivers/compat"
drop usr/lib 20.conf "[compat]" "mode = on"
mode on "$R"/usr/lib/gldriverfs/inst.conf.d/20.conf:2
drop run 10.conf "[compat]" "mode = off"
mode on "$R"/usr/lib/gldriverfs/inst.conf.d/20.conf:2
drop etc 20.conf "# of etc" "[compat]" "mode = off"
mode off "$R"/etc/gldriverfs/inst.conf.d/20.conf:3
drop etc 20.conf.bak "nonsense"
mode off "$R"/etc/gldriverfs/inst.conf.d/20.conf:3
ln -s /dev/null "$R/run/gldriverfs/inst.conf.d/20.conf"
mode off "$R"/run/gldriverfs/inst.conf.d/10.conf:2
rm "$R"/*/gldriverfs/inst.conf.d/10.conf

# A later file's list replaces the earlier one.
drop etc 60.conf "[layer host]" "dir = /drivers/dropin"
ctl reload
expect_who libcuda.so.1 dropin

# Files, then the active profile, then the override; each is named as the reason.
drop etc 70.conf "[gldriverfs]" "profile = compat-on"
mode on "profile compat-on"
expect_who libcuda.so.1 compat
expect_has "$(ctl compat)" "profile compat-on"
ctl compat off
mode off /run/gldriverfs/inst.override.conf:3
ctl compat reset
drop etc 70.conf "[gldriverfs]" "profile = own" "[profile own]" "compat.mode = off" "layer host.dir = /drivers/usr"
mode off "$R"/etc/gldriverfs/inst.conf.d/70.conf:4
expect_who libcuda.so.1 usr
drop etc 70.conf "[gldriverfs]" "profile = owm" "[profile own]" "compat.mode = off"
expect_exit 4 ctl reload
expect_has "$(cat "$T/out")" "$R/etc/gldriverfs/inst.conf.d/70.conf:2: error: there is no profile 'owm'; did you mean 'own'?"
expect_exit 1 "$GLDRIVERCTL" check --root "$R" --name inst
expect_has "$(cat "$T/out")" "inst.conf.d/70.conf:2:"
# What is in a RUNPATH depends on the mountpoint.
drop etc 70.conf "[gldriverfs]" "mountpoint = $MNT"
ctl reload
expect_same "$("$GLDRIVERCTL" --json check --root "$R" --name inst | jq -r .generation)" "$(generation)" "check --root"
# No file at all: the built-in policy.
rm -r "$R"/{run,etc,usr/lib}/gldriverfs
make_driver "$R/usr/lib64" 470.1 builtin
make_driver "$R/usr/local/cuda-12.2/compat" 535.1 compat
ctl reload
expect_who libcuda.so.1 compat
ctl compat off
expect_who libcuda.so.1 builtin
expect_same "$(daemon_pid)" "$pid"
