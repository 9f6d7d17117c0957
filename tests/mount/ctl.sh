#!/bin/bash
# SPDX-License-Identifier: MIT
# gldriverctl: finding the daemon, exit codes, explain, list, check, compat with and without --persist, and that one
# bad client stops nobody.
. "$(dirname "$0")/../lib/fixture.sh"
need_root
need_fuse
own_etc

run() { timeout 30 "$GLDRIVERCTL" "$@"; }

# Without a daemon, and usage.
expect_exit 3 run status
expect_exit 3 run --name nobody status
expect_exit 3 run --mount "$MNT" status
expect_exit 2 run
expect_exit 2 run nonsense
expect_exit 2 run status extra
expect_exit 2 run --persist status
expect_exit 2 run --bad status
expect_exit 2 run --name a --mount b status
expect_exit 2 run compat maybe
expect_exit 0 run --help
expect_exit 0 run --version

make_driver "$HOST" 470.1 host
make_driver "$COMPAT" 535.1 compat
make_lib "$HOST/libdrm.so.2" libdrm.so.2 drm

# check: exit 0, 1 for errors, and with --strict for warnings.
toggle_policy "mode = on"
expect_exit 0 run check "$POLICY"
expect_has "$(cat "$T/out")" "compat on"
make_lib "$HOST/libnvidia-glcore.so.470.1" libnvidia-glcore.so.470.1 host libnvidia-tls.so.470.1
expect_exit 0 run check "$POLICY"
expect_has "$(cat "$T/out")" "libnvidia-tls.so.470.1"
expect_exit 1 run --strict check "$POLICY"
rm "$HOST/libnvidia-glcore.so.470.1"
policy "[gldriverfs]" "nonsense = 1"
expect_exit 1 run check "$POLICY"
expect_has "$(cat "$T/out")" "$POLICY:2: error:"
expect_exit 1 run --json check "$POLICY"
expect_same "$(jq -r '.problems[0].line' "$T/out")" 2
expect_exit 1 run check "$T/absent.conf"

# --strict counts the warnings of a switch and a reload too.
host_policy "[compat]" "mode = on"
start_daemon
expect_exit 0 ctl reload
expect_exit 1 ctl --strict reload
expect_exit 0 ctl compat on
expect_exit 1 ctl --strict --json compat on
expect_exit 0 ctl --strict compat off
expect_exit 0 ctl compat reset
stop_daemon

# Of a long list of directories that are not there one line tells.
{
  echo "[layer host]" && echo "optional = yes" && echo "dir = $HOST"
  printf "dir = $T/gone%d\n" 1 2 3 4
} >"$POLICY"
expect_exit 0 run check "$POLICY"
expect_has "$(cat "$T/out")" "(4 are missing"
expect_same "$(grep -c "$T/gone" "$T/out")" 0
sed -i /gone4/d "$POLICY"
expect_exit 0 run check "$POLICY"
expect_has "$(cat "$T/out")" "$T/gone3 (missing)"
sed -i "s,^dir = $HOST\$,dir = $T/gone5," "$POLICY"
expect_exit 0 run check "$POLICY"
expect_has "$(cat "$T/out")" "the driver directory is empty"

# A daemon with --config.
toggle_policy "mode = off"
start_daemon
expect_exit 0 run status
expect_has "$(cat "$T/out")" "$MNT: gldriverfs"
expect_exit 0 run --mount "$MNT" status
expect_exit 0 run --name "$(status_of .name)" status
expect_exit 0 ctl explain libcuda.so.1
expect_has "$(cat "$T/out")" "comes from layer host"
expect_has "$(cat "$T/out")" "$COMPAT/libcuda.so.535.1 (layer compat)"
expect_exit 1 ctl explain libcuda.so.535.1
expect_has "$(cat "$T/out")" "libcuda.so.535.1 is not served: compat is off"
expect_exit 1 ctl explain libdrm.so.2
expect_has "$(cat "$T/out")" "include = libdrm.so.2"
expect_exit 0 ctl --json list lib/libcuda.so.1
expect_same "$(jq -r '.entries[0].target' "$T/out")" libcuda.so.470.1
expect_exit 1 ctl explain lib/
expect_has "$(cat "$T/out")" "lib is a directory of the view"
expect_exit 2 ctl explain ""
expect_exit 1 ctl list lib/absent
expect_same "$(ctl --json list | jq -r '.entries[] | select(.type != "directory") | .path' | sort)" \
  "$(cd "$MNT" && find . -not -type d -printf '%P\n' | LC_ALL=C sort)" "list"
expect_exit 0 ctl compat on
expect_same "$(readlink "$MNT/lib/libcuda.so.1")" libcuda.so.535.1
expect_exit 4 ctl compat off --persist
expect_has "$(cat "$T/out")" "$POLICY"
expect_same "$(readlink "$MNT/lib/libcuda.so.1")" libcuda.so.535.1
expect_exit 0 ctl compat reset
expect_same "$(readlink "$MNT/lib/libcuda.so.1")" libcuda.so.470.1

# What is wrong is said once.
cp "$POLICY" "$T/good.conf"
echo "nonsense = 1" >>"$POLICY"
expect_exit 4 ctl reload
expect_same "$(grep -c nonsense "$T/out")" 1
mv "$T/good.conf" "$POLICY"
expect_exit 0 ctl reload

# Clients that say nothing, half a line or nonsense: others are answered.
socket=/run/gldriverfs/$(status_of .name).sock
expect_same "$(stat -c %a "$socket")" 666
expect_has "$("$HELPERS/talk" "$socket" 40 <<<'{"v":1,"verb":"status"}')" '"pid":'
expect_has "$("$HELPERS/talk" "$socket" 0 <<<'nonsense')" '"code":"request"'
# More than are served at once: this one waits until the silent ones are dropped.
expect_has "$("$HELPERS/talk" "$socket" 70 <<<'{"v":1,"verb":"status"}')" '"pid":'
expect_exit 0 ctl status
stop_daemon
[ ! -e "$socket" ] || fail "the socket is left behind"

# Two daemons: one must be named.
mkdir "$T/mnt2"
start_daemon
timeout 60 "$GLDRIVERFS" --config "$POLICY" --name second "$T/mnt2" 2>>"$LOG"
expect_exit 2 run status
expect_has "$(cat "$T/out")" "--name second"
expect_exit 0 run --name second status
kill -TERM "$(run --name second --json status | jq -r .pid)"
wait_for not grep -qF " $T/mnt2 " /proc/self/mountinfo
stop_daemon

# --persist: without --config the drop-in is written, counts, and a later file that says otherwise is named.
mkdir -p /etc/gldriverfs
sed "s/^mode = .*//" "$POLICY" >/etc/gldriverfs/inst.conf
timeout 60 "$GLDRIVERFS" --name inst "$MNT" 2>>"$LOG"
dropin=/etc/gldriverfs/inst.conf.d/99-gldriverctl.conf
expect_exit 0 ctl compat on
expect_exit 0 ctl compat off --persist
expect_has "$(cat $dropin)" "mode = off"
[ ! -e /run/gldriverfs/inst.override.conf ] || fail "the override is left"
expect_same "$(readlink "$MNT/lib/libcuda.so.1")" libcuda.so.470.1
expect_exit 0 ctl compat on --persist
expect_same "$(readlink "$MNT/lib/libcuda.so.1")" libcuda.so.535.1
printf '[compat]\nmode = on\n' >/etc/gldriverfs/inst.conf.d/zz.conf
expect_exit 4 ctl compat off --persist
expect_has "$(cat "$T/out")" "zz.conf:2"
expect_has "$(cat $dropin)" "mode = on"
rm /etc/gldriverfs/inst.conf.d/zz.conf
expect_exit 0 ctl compat reset --persist
[ ! -e $dropin ] || fail "the drop-in is left"
stop_daemon

# Nothing that a terminal would obey, whatever a file or layer is called.
hostile=$T/$'a\033[31mb'
mkdir "$hostile"
printf '%s\n' "[layer x"$'\033'"[1m]" "role = host" "dir = $hostile" "[compat]" "mode = on" >"$hostile/policy.conf"
ln -s nowhere "$hostile/libcuda.so.1"
expect_exit 0 "$GLDRIVERCTL" check "$hostile/policy.conf"
expect_has "$(cat "$T/out")" "a?[31mb"
echo "nonsense = 1" >>"$hostile/policy.conf"
cp "$T/out" "$T/fine"
expect_exit 1 "$GLDRIVERCTL" check "$hostile/policy.conf"
! grep -l $'\033' "$T/fine" "$T/out" || fail "control characters are printed"
