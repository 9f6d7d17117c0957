#!/bin/bash
# SPDX-License-Identifier: MIT
# Case A09: the wrong class, machine, type or byte order, or no ELF at all: skipped, the good one served.
. "$(dirname "$0")/../lib/fixture.sh"
need_root
need_fuse

make_lib "$T/good.so" libcuda.so.1 good
cp "$T/good.so" "$HOST2/libcuda.so.1"

poke() { # OFFSET BYTES: in $HOST/libcuda.so.1
  printf '%b' "$2" | dd of="$HOST/libcuda.so.1" bs=1 seek="$1" conv=notrunc status=none
}
case $(uname -m) in
x86_64) other='\xb7\x00' ;;
*) other='\x3e\x00' ;;
esac

for kind in class big-endian machine executable relocatable text five-bytes directory fifo pie; do
  rm -rf "$HOST/libcuda.so.1"
  cp "$T/good.so" "$HOST/libcuda.so.1"
  case $kind in
  class) poke 4 '\x01' ;;
  big-endian) poke 5 '\x02' ;;
  machine) poke 18 "$other" ;;
  executable) poke 16 '\x02\x00' ;;
  relocatable) poke 16 '\x01\x00' ;;
  text) echo "INPUT(libcuda.so.1.1)" >"$HOST/libcuda.so.1" ;;
  five-bytes) printf '\x7fELF\x02' >"$HOST/libcuda.so.1" ;;
  directory) rm "$HOST/libcuda.so.1" && mkdir "$HOST/libcuda.so.1" ;;
  fifo) rm "$HOST/libcuda.so.1" && mkfifo "$HOST/libcuda.so.1" ;;
  pie) echo 'int main(void) { return 0; }' | "$CC" -fPIE -pie -x c - -o "$HOST/libcuda.so.1" ;;
  esac
  policy "[layer a]" "role = host" "dir = $HOST" "[layer b]" "role = host" "dir = $HOST2"
  start_daemon
  expect_who libcuda.so.1 good
  expect_same "$(xattr_of "$MNT/lib/libcuda.so.1" gldriverfs.layer)" b "$kind"
  expect_same "$(status_of --arg p "$HOST/libcuda.so.1" '[.rejected[] | select(.path == $p)] | length')" 1 "$kind rejected"
  stop_daemon
done
