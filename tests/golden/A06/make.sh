# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Case A06: empty and cut libraries are passed over; the good one of the last layer is served.
for directory in /empty /header /cut /good; do
  lib $directory/libcuda.so.1.1 libcuda.so.1
done
truncate -s 0 "$ROOT/empty/libcuda.so.1.1"
truncate -s 40 "$ROOT/header/libcuda.so.1.1"
truncate -s 1000 "$ROOT/cut/libcuda.so.1.1"
