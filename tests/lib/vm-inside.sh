#!/bin/sh
# SPDX-License-Identifier: MIT
# vm-inside.sh — /init of the initramfs that tests/long/kernels.sh boots; busybox's shell. The last line on the console
# is "VM: passed" or "VM: failed".
# In /drv: host/ and compat/; in /tests: unit tests; /kills: how many.
if [ "${1:-}" != --inside ]; then
  /bin/busybox mkdir -p /proc /sys /dev /run /tmp /sbin
  /bin/busybox --install -s /bin
  mount -t proc proc /proc
  mount -t sysfs sysfs /sys
  mount -t devtmpfs dev /dev
  mount -t tmpfs -o mode=755 run /run
  mount -t tmpfs tmp /tmp
  if sh /init --inside >/dev/console 2>&1; then echo "VM: passed"; else echo "VM: failed"; fi >/dev/console
  # The serial port is drained before the machine goes.
  sync
  reboot -f
fi
set -eu

MNT=/run/opengl-driver
fail() {
  echo "FAIL: $*"
  # Who waits where.
  for process in $(ps -o pid,comm | awk '$2 ~ /^(gldriver|hammer)/ {print $1}'); do
    for task in /proc/"$process"/task/*; do
      echo "$task $(cat "$task/comm" 2>/dev/null): $(sed -n 's/^State:.//p' "$task/status" 2>/dev/null)"
      head -n 5 "$task/stack" 2>/dev/null || :
    done
  done
  tail -n 30 /tmp/daemon.log
  exit 1
}
# wait_for COMMAND...: 20 s at most: the machine is emulated.
wait_for() {
  left=1000
  until "$@"; do
    left=$((left - 1))
    [ $left -gt 0 ] || fail "waited for: $*"
    usleep 20000
  done
}
ctl() { gldriverctl --mount $MNT "$@"; }
number() { ctl --json status 2>/dev/null | sed -n "s/.*\"$1\": *\([0-9][0-9]*\).*/\1/p" | head -n 1; }
requests() { ctl --json status | tr -d ' \n' | sed 's/.*"requests":{//; s/[{}]/,/g; s/"problems".*//' | tr ',' '\n' | awk -F: '{n += $2} END {print n + 0}'; }
workers() { cat "/proc/$1/task/$1/children" 2>/dev/null || :; }
other_worker() { now=$(workers "$keeper") && [ -n "$now" ] && [ "$now" != "$1" ]; }
other_answers() { now=$(number pid) && [ -n "$now" ] && [ "$now" != "$1" ]; }
descriptors() { ls "/proc/$1/fd" | wc -l; }
is_mounted() { grep -q " $MNT " /proc/self/mountinfo; }
not() { ! "$@"; }
processes() { ps -o comm | grep -c '^gldriverfs' || :; }
nobody() { [ "$(processes)" = 0 ]; }

start() {
  gldriverfs --config /policy.conf "$@" $MNT 2>>/tmp/daemon.log || fail "gldriverfs exits with $?"
  is_mounted || fail "started, and nothing is mounted"
  keeper=$(number keeper_pid)
  [ -n "$keeper" ] || fail "there is no keeper"
}
stop() {
  kill -TERM "$(number pid)"
  wait_for not is_mounted
  wait_for nobody
}
# hammered WHAT COMMAND...; $OR: directories whose contents are right too.
hammered() {
  what=$1 rc=0
  shift
  hammer $MNT 600 4 ${OR:-} >/tmp/hammer.out 2>/tmp/hammer.err &
  hammer=$!
  wait_for grep -q ready /tmp/hammer.out
  "$@"
  kill -TERM $hammer 2>/dev/null || : # it ends by itself where something hangs
  wait $hammer || rc=$?
  echo "  $what: $(tail -n 1 /tmp/hammer.out)"
  [ $rc = 0 ] || fail "$what: $(cat /tmp/hammer.err)"
}
kills() {
  done=0
  while [ $done -lt "$(cat /kills)" ]; do
    worker=$(workers "$keeper")
    [ -z "$worker" ] || kill -KILL $worker 2>/dev/null || :
    wait_for other_worker "$worker"
    done=$((done + 1))
    usleep 30000
  done
}
hand_overs() {
  for _ in 1 2 3 4 5; do
    worker=$(number pid)
    kill -USR2 "$keeper"
    wait_for other_answers "$worker"
  done
}
toggles() {
  while :; do
    ctl compat on >/dev/null 2>&1 || :
    ctl compat off >/dev/null 2>&1 || :
  done
}
read_all() {
  ls -l $MNT/lib/ >/dev/null
  for file in $MNT/lib/*; do cat "$file" >/dev/null; done
  [ ! -e $MNT/lib/absent ] || fail "lib/absent is there"
}

echo "Linux $(uname -r) $(uname -m)"
[ -c /dev/fuse ] || insmod /fuse.ko || fail "FUSE's module"
wait_for test -c /dev/fuse
cd /tests
for test in test_*; do
  [ -e "$test" ] || continue
  "./$test" >/tmp/unit.log 2>&1 || fail "$test: $(cat /tmp/unit.log)"
  echo "  $test: $(grep -c '\[       OK \]' /tmp/unit.log) passed"
done
cd /
mkdir -p $MNT/lib
touch $MNT/lib/under

for how in "" --no-cache; do
  label=${how:-cached}
  start $how
  for mode in off on; do
    ctl compat $mode >/dev/null || fail "compat $mode"
    [ $mode = off ] && want=1.1 || want=2.2
    [ -e $MNT/lib/libcuda.so.$want ] || fail "compat $mode shows no libcuda.so.$want"
    [ "$(readlink $MNT/lib/libcuda.so.1)" = libcuda.so.$want ] || fail "compat $mode: libcuda.so.1 is $(readlink $MNT/lib/libcuda.so.1)"
    grep -q "tag-$mode-cuda" $MNT/lib/libcuda.so.1 || fail "compat $mode: other content"
    rm -rf /tmp/$mode
    cp -a $MNT/lib /tmp/$mode
  done
  ctl compat off >/dev/null
  [ "$(ls $MNT/lib | wc -l)" = "$(ls /tmp/off | wc -l)" ] || fail "another list after the toggles"
  if [ -z "$how" ]; then
    read_all
    before=$(requests)
    read_all
    echo "  steady state: $(($(requests) - before)) requests"
    [ "$(requests)" = "$before" ] || fail "the steady state makes requests: $(ctl --json status)"
  fi
  before=$(descriptors "$keeper")
  hammered "$label, $(cat /kills) kills" kills
  wait_for number pid >/dev/null
  [ "$(number keeper_pid)" = "$keeper" ] || fail "another keeper"
  [ "$(descriptors "$keeper")" = "$before" ] || fail "the keeper has $(descriptors "$keeper") descriptors, $before before"
  hammered "$label, 5 hand-overs" hand_overs
  toggles &
  toggler=$!
  OR="/tmp/on /tmp/off"
  hammered "$label, $(cat /kills) kills and toggles" kills
  OR=
  kill $toggler || :
  wait $toggler || :
  for mode in on off; do
    wait_for ctl compat $mode >/dev/null
    diff -r /tmp/$mode $MNT/lib || fail "compat $mode shows something else after the kills"
  done
  stop
  [ -e $MNT/lib/under ] || fail "what lay under the mount does not show"
done
