#!/bin/bash
# SPDX-License-Identifier: MIT
# on-jetson.sh [REPORT] — for machines that the developers do not have: what gldriverfs finds here, what it would serve, and
# whether libcuda loads through a mount of it, with compat off, on and auto. The mount is a directory of its own, taken away
# at the end; nothing else of the machine is changed. The report (gldriverfs-report.txt) is what to send back: no host name,
# address or serial number is asked for. After `make`, or with gldriverfs installed; as root or as a user with fusermount3.
# Exit: 0 all of it worked, 1 some did not (the report says what).
set -uo pipefail
source=$(cd "$(dirname "$0")/.." && pwd)
report=${1:-gldriverfs-report.txt}
unset LD_LIBRARY_PATH LD_PRELOAD
PATH=$source/build:$PATH:/usr/local/sbin:/usr/sbin:/sbin
command -v gldriverfs >/dev/null && command -v gldriverctl >/dev/null || { echo "on-jetson: run make first" >&2 && exit 1; }
: >"$report" || exit 1
report=$(realpath "$report")
work=$(mktemp -d "${TMPDIR:-/tmp}/gldriverfs-jetson.XXXXXX") || exit 1
mnt=$work/mnt failed=0
mkdir "$mnt"
chmod 755 "$work"
cleanup() {
  if grep -qF " $mnt " /proc/self/mountinfo; then
    gldriverctl --mount "$mnt" compat reset >/dev/null 2>&1
    umount "$mnt" 2>/dev/null || fusermount3 -u "$mnt" || umount -l "$mnt"
  fi
  rm -rf --one-file-system "$work"
}
trap cleanup EXIT

step() { # WHAT COMMAND... — what it says, and what it returned if not 0
  local rc=0
  printf '\n== %s\n' "$1"
  shift
  timeout -k 5 60 "$@" 2>&1 || rc=$?
  [ $rc = 0 ] || echo "-- exit $rc"
  return $rc
}
wrong() { failed=1 && echo "-- WRONG: $*"; }

machine() {
  uname -srm
  getconf PAGESIZE
  grep -hE '^(PRETTY_NAME|VERSION_ID)=' /etc/os-release
  ldd --version | head -n 1
  fusermount3 --version
  systemctl --version | head -n 1
  for file in /etc/nv_tegra_release /proc/driver/nvidia/version /sys/module/nvidia/version /proc/device-tree/model /proc/device-tree/compatible; do
    [ ! -r $file ] || { echo "$file:" && tr '\0' '\n' <$file | sed 's/^/  /' && echo; }
  done
  dpkg-query -W -f '${binary:Package} ${Version}\n' 'nvidia-l4t-c*' 'nvidia-l4t-3d*' 'cuda-compat*' 'nvidia-jetpack' 'libcuda1*' | grep ' .'
}
where_drivers_are() {
  find -L /usr/lib /usr/lib64 /usr/local/cuda* /opt/nvidia /run/opengl-driver -maxdepth 4 \( -name 'libcuda.so*' -o -name 'libnvrm_gpu.so*' \
    -o -name 'libnvidia-ptxjitcompiler.so*' -o -name 'libnvidia-nvvm.so*' \) -printf '%y %8s %p -> %l\n'
  ls -ld /dev/nvhost-ctrl-gpu /dev/nvgpu /dev/nvmap /dev/nvidia0 /dev/nvidiactl /dev/fuse
  true
}
export -f machine where_drivers_are

{
  echo "gldriverfs report, $(gldriverfs --version), $(id -u | sed 's/^0$/as root/; t; s/.*/as a user/')"
  step machine bash -c 'machine 2>/dev/null; true'
  step "driver files" bash -c 'where_drivers_are 2>/dev/null'
  step facts gldriverctl facts --root / || wrong facts
  step check gldriverctl check || wrong "check finds errors"
  # Another mountpoint is another instance: the machine's policy has to be named.
  policy=()
  for file in /run/gldriverfs /etc/gldriverfs /usr/lib/gldriverfs; do
    [ ! -r $file/gldriverfs.conf ] || { policy=(--config "$file/gldriverfs.conf") && break; }
  done
  if step "mount ${policy[*]}" gldriverfs "${policy[@]}" "$mnt"; then
    ctl=(gldriverctl --mount "$mnt")
    step list "${ctl[@]}" list || wrong list
    program=$work/cudadevice
    step "a program with its RUNPATH into the mount" cc -O1 -D_GNU_SOURCE -o "$program" "$source/tests/lib/cudadevice.c" -ldl \
      "-Wl,-rpath,$mnt/lib" -Wl,--enable-new-dtags || wrong "the program could not be made: is gcc installed?"
    for mode in off on auto; do
      step "compat $mode" "${ctl[@]}" compat $mode || wrong "compat $mode"
      step "compat $mode: explain" "${ctl[@]}" explain libcuda.so.1
      [ ! -x "$program" ] || step "compat $mode: libcuda" "$program" || wrong "with compat $mode libcuda does not work"
    done
    step status "${ctl[@]}" --json status || wrong status
  else
    wrong "no mount"
  fi
  [ "$failed" = 0 ]
} >"$report"
rc=$?
if [ $rc = 0 ]; then echo "all worked: $report"; else echo "not all worked, which is what the report is for: $report" && grep -e '-- WRONG' "$report"; fi
exit $rc
