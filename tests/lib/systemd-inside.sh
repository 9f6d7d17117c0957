#!/bin/bash
# SPDX-License-Identifier: MIT
# systemd-inside.sh — run by tests/long/systemd.sh in a booted system: a service whose state systemd keeps.
# /out has: gldriverfs, gldriverctl, hammer, libs/, kills.
set -euo pipefail

MNT=/run/opengl-driver
fail() {
  echo "FAIL: $*"
  systemctl status gldriverfs --no-pager -l || :
  journalctl -u gldriverfs --no-pager -n 50 || :
  exit 1
}
trap 'echo "FAIL: $BASH_COMMAND (line $LINENO)"' ERR
wait_for() {
  local end=$((SECONDS + 10))
  until "$@"; do
    [ $SECONDS -lt $end ] || fail "waited 10 s for: $*"
    read -rt 0.02 _ <>/run/pause || :
  done
}
mkfifo /run/pause
pid() { systemctl show -p MainPID --value gldriverfs; }
other_pid() { [ "$(pid)" != "$1" ] && [ "$(pid)" != 0 ]; }

systemctl --version | head -n 1
[ -c /dev/fuse ] || mknod -m 666 /dev/fuse c 10 229
mkdir -p $MNT/lib /run/gldriverfs
touch $MNT/lib/under
cat >/run/policy.conf <<EOF_POLICY
[layer host]
role = host
dir = /out/libs
EOF_POLICY
cat >/run/systemd/system/gldriverfs.service <<EOF_UNIT
[Service]
Type=notify
NotifyAccess=main
ExecStart=/out/gldriverfs --foreground --fd-store --config /run/policy.conf $MNT
ExecReload=/out/gldriverctl --mount $MNT reload
Restart=always
RestartSec=0
RestartKillSignal=SIGUSR2
RestartPreventExitStatus=1 2 3 127 203
FileDescriptorStoreMax=16
KillMode=process
[Unit]
StartLimitIntervalSec=0
EOF_UNIT
systemctl daemon-reload

# Started means that the mount answers, and that everybody sees it.
systemctl start gldriverfs || fail "the start failed"
[ -e $MNT/lib/libcuda.so.1 ] || fail "started, but the mount does not answer"
grep -q " $MNT " /proc/1/mountinfo || fail "PID 1 does not see the mount"
[ "$(/out/gldriverctl --mount $MNT --json status | grep -c '"keeper_pid": *null')" = 1 ] || fail "there is a keeper"

# hammered WHAT COMMAND...
hammered() {
  local what=$1 rc=0
  shift
  /out/hammer $MNT 600 4 >/run/hammer.out 2>/run/hammer.err &
  local hammer=$!
  wait_for grep -q ready /run/hammer.out
  "$@"
  kill -TERM $hammer
  wait $hammer || rc=$?
  echo "$what: $(tail -n 1 /run/hammer.out)"
  [ $rc = 0 ] || fail "$what: $(cat /run/hammer.err)"
}
kills() {
  local i main
  for ((i = 0; i < $(cat /out/kills); i++)); do
    main=$(pid)
    [ "$main" = 0 ] || kill -KILL "$main" || :
    wait_for other_pid "$main"
  done
}
restarts() {
  local i
  for i in 1 2 3 4 5 6 7 8 9 10; do systemctl restart gldriverfs; done
}
hammered "$(cat /out/kills) kills" kills
wait_for systemctl is-active -q gldriverfs
hammered "10 restarts" restarts
systemctl is-active -q gldriverfs || fail "not active after the restarts"

# A reload blocks, and fails with the policy's error.
systemctl reload gldriverfs || fail "the reload failed"
echo nonsense >>/run/policy.conf
! systemctl reload gldriverfs 2>/dev/null || fail "a bad policy is no error of the reload"
journalctl -u gldriverfs --no-pager | grep -q "policy.conf:4" || fail "the error is not in the journal"
sed -i '$d' /run/policy.conf
systemctl reload gldriverfs || fail "the policy is mended, and the reload fails"

# A stop takes all away and shows what was there.
systemctl stop gldriverfs
[ -e $MNT/lib/under ] || fail "what lay under the mount does not show"
! grep -q " $MNT " /proc/1/mountinfo || fail "a mount is left"
systemctl start gldriverfs
[ -e $MNT/lib/libcuda.so.1 ] || fail "no second start"
systemctl stop gldriverfs
! systemctl is-failed -q gldriverfs || fail "the unit has failed"
