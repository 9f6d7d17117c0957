# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Case A09: wrong machine, class, byte order, an executable, five bytes: passed over for the good one.
for directory in /machine /class /endian /exec /good; do
  lib $directory/libcuda.so.1 libcuda.so.1
done
byte /machine/libcuda.so.1 18 363 # EM_AARCH64 and EM_X86_64 become EM_RISCV
byte /class/libcuda.so.1 4 1      # ELFCLASS32
byte /endian/libcuda.so.1 5 2     # ELFDATA2MSB
byte /exec/libcuda.so.1 16 2      # ET_EXEC
printf hello | put /short/libcuda.so.1
