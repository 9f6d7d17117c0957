#!/bin/bash
# SPDX-License-Identifier: MIT
# Case A10: two versions in one directory: the kernel driver's if known, else what the host's link says, else the
# numerically highest; the same pick for all libraries.
. "$(dirname "$0")/../lib/fixture.sh"
need_root
need_fuse

R=$T/root
mkdir -p "$R/lib" "$R/proc/driver/nvidia" "$R/etc"

kernel() { # VERSION, or "" for none
  rm -f "$R/proc/driver/nvidia/version"
  [ -z "$1" ] || printf 'NVRM version: NVIDIA UNIX x86_64 Kernel Module  %s  Fri Sep 13 10:10:01 UTC 2024\nGCC version:  gcc version 13.2.0\n' "$1" >"$R/proc/driver/nvidia/version"
}
case_of() { # LOWER HIGHER LINK-TO KERNEL EXPECTED
  local name version
  rm -f "$R"/lib/*
  for name in libcuda libnvidia-ptxjitcompiler libnvidia-ml; do
    for version in "$1" "$2"; do
      make_lib "$R/lib/$name.so.$version" $name.so.1 "$version"
    done
    [ -z "$3" ] || ln -s "$name.so.$3" "$R/lib/$name.so.1"
  done
  kernel "$4"
  policy "[layer host]" "role = host" "dir = /lib"
  start_daemon --root "$R"
  for name in libcuda.so.1 libcuda.so libnvidia-ptxjitcompiler.so.1 libnvidia-ml.so.1; do
    expect_who $name "$5"
  done
  stop_daemon
}

case_of 430.14 440.33.01 430.14 "" 430.14
case_of 430.14 440.33.01 430.14 440.33.01 440.33.01
case_of 430.14 440.33.01 440.33.01 430.14 430.14
case_of 430.14 440.33.01 "" "" 440.33.01
case_of 9.2 10.1 "" "" 10.1
case_of 9.2 10.1 9.2 "" 9.2
