#!/bin/bash
# SPDX-License-Identifier: MIT
# Core modules include nothing but core modules, and no header of the world outside.
set -euo pipefail
cd "$(dirname "$0")/.."

core="util overlay csv cdi hostplace ldcache namemap diag inifile policy facts decide soname elf elfpatch layer candidate pick view viewdiff resolve tables note machine jsonhelp findings generation driver_closure runpath sets manifest snapshot"
# I/O, clocks, processes. <sys/stat.h> is for its mode bits.
outside='fcntl|unistd|dirent|pthread|poll|signal|syslog|spawn|time|sys/(socket|mount|mman|time|inotify|epoll|signalfd|wait|xattr|statvfs|syscall)|fuse.*|fuse3/.*'

is_core() { # name of a file without .c or .h: a module or a part of one (resolve_names)
  local module
  for module in $core; do
    case $1 in "$module" | "$module"_*) return 0 ;; esac
  done
  return 1
}

rc=0 checked=0
for file in fs/*.[ch]; do
  name=$(basename "${file%.*}")
  is_core "$name" || continue
  checked=$((checked + 1))
  while read -r included; do
    is_core "${included%.h}" || { echo "$file: core includes the edge \"$included\"" && rc=1; }
  done < <(sed -nE 's/^[[:space:]]*#[[:space:]]*include[[:space:]]*"([^"]*)".*/\1/p' "$file")
  # util closes descriptors for the edges' cleanup attributes.
  [ "$name" != util ] || continue
  if grep -nE "^[[:space:]]*#[[:space:]]*include[[:space:]]*<($outside)\.h>" "$file" /dev/null; then
    echo "$file: core includes a header of I/O, processes or clocks"
    rc=1
  fi
done
echo "$checked core files checked"
[ "$checked" -gt 10 ] || rc=1
exit $rc
