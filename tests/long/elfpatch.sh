#!/bin/bash
# SPDX-License-Identifier: MIT
# elfpatch.sh [PART...] — RUNPATHs put into real libraries. Parts:
#   drivers  the libraries in DRIVERS (directories; else Debian's 535 driver is fetched): same as before, 95 % in place
#   system   every library under /usr/lib and /usr/local/cuda: same as before
#   time     a plan takes under 20 us (median) and at most 10 reads
#   glibc    a library that only the RUNPATH reaches, with the glibc of bullseye, bookworm, trixie (ROOTS: where they are)
#   pages    the same on arm64 with pages of 4, 16 and 64 KiB
set -euo pipefail
cd "$(dirname "$0")/../.."
own=
[ -n "${T:-}" ] || { T=$(mktemp -d) && own=$T; }
trap '[ -z "$own" ] || rm -rf --one-file-system "$own"' EXIT
BUILD=${BUILD:-build/release}
top=$PWD
export LC_ALL=C
for program in readelf patchelf; do
  command -v "$program" >/dev/null || { echo "needs $program" && exit 77; }
done
[[ $BUILD != *san* ]] || { echo "loads libraries that sanitizers do not know" && exit 77; }

make -s "$BUILD/tests/long/elfpatch_tool" "$BUILD/tests/long/elfpatch_sweep"
tool=$top/$BUILD/tests/long/elfpatch_tool sweep=$top/$BUILD/tests/long/elfpatch_sweep
# As long as what `runpath = pin` gives.
# shellcheck disable=SC2016 # ld.so expands it
wanted='$ORIGIN/../.gldriverfs/set/0123abcd/lib:/run/opengl-driver/.gldriverfs/set/0123abcd/lib'
failed=0

drivers() {
  local directory in_place=0 tail=0
  mkdir -p "$T/o" "$T/p"
  if [ -z "${DRIVERS:-}" ]; then
    tests/real/get-driver.sh bookworm amd64 "$T/driver" || { echo "no driver" && return; }
    DRIVERS=$T/driver
  fi
  for directory in $DRIVERS; do
    # Siblings are found, as by a program that has the directory.
    find "$directory" -type f -name '*.so*' -print0 | LD_LIBRARY_PATH=$directory xargs -0 "$sweep" "$wanted" "$T" >"$T/log" ||
      failed=1
    sed "s|^|$(basename "$directory"): |" "$T/log"
    in_place=$((in_place + $(sed -n 's/^\([0-9]*\) in place.*/\1/p' "$T/log")))
    tail=$((tail + $(sed -n 's/.* \([0-9]*\) tail.*/\1/p' "$T/log")))
    ! grep -q '([1-9][0-9]* of them with more than 200 bytes)' "$T/log" || failed=1
  done
  echo "drivers: $in_place in place, $tail with a tail"
  [ $((in_place * 100)) -ge $(((in_place + tail) * 95)) ] || failed=1
}

libraries() {
  find /usr/lib /usr/local/cuda/ -type f \( -name '*.so' -o -name '*.so.*' \) -not -path '*/debug/*' -print0 2>/dev/null
}

system() {
  mkdir -p "$T/o" "$T/p"
  # One process: the counts are of all.
  libraries | xargs -0 -x -n 100000 -s 2000000 nice "$sweep" "$wanted" "$T" || failed=1
}

time_() {
  libraries | xargs -0 -x -n 100000 -s 2000000 "$tool" bench "$wanted" || failed=1
}

# build DIRECTORY COMPILER FLAG...: the libraries of tests/long/reach: as they are, patched in place, patched with a tail.
build() {
  local out=$1 cc=$2 name from=$top/tests/long/reach
  shift 2
  # shellcheck disable=SC2054 # commas for the linker
  local flags=(-O2 -fPIC -nostdlib -fno-stack-protector "$@")
  mkdir -p "$out"/{stub,hidden,plain,in-place,tail}
  for name in libc.so.6 libdl.so.2; do
    "$cc" "${flags[@]}" -shared "$from/stub.c" "-Wl,-soname,$name" -o "$out/stub/$name"
  done
  "$cc" "${flags[@]}" -shared "$from/hidden.c" -Wl,-soname,libhidden.so -o "$out/hidden/libhidden.so"
  "$cc" "${flags[@]}" -shared "$from/needed.c" "$out/hidden/libhidden.so" -o "$out/plain/needed.so"
  "$cc" "${flags[@]}" -shared "$from/inside.c" -o "$out/plain/inside.so"
  for name in needed inside; do
    "$cc" "${flags[@]}" -fPIE -pie -DLIBRARY="\"./$name.so\"" "$from/probe.c" -Wl,--no-as-needed "$out"/stub/lib*.so.* -o "$out/$name"
    "$tool" apply "\$ORIGIN/../hidden" "$out/plain/$name.so" "$out/in-place/$name.so" | grep -q '^in place' || failed=1
    "$tool" fill "$out/plain/$name.so" "$out/stub/$name.so"
    "$tool" apply "\$ORIGIN/../hidden" "$out/stub/$name.so" "$out/tail/$name.so" | grep -q '^tail' || failed=1
  done
}

# reach WHAT DIRECTORY COMMAND...: runs the probes by `COMMAND DIRECTORY/KIND PROBE`.
reach() {
  local what=$1 out=$2 kind name rc result=()
  shift 2
  for kind in plain in-place tail; do
    for name in needed inside; do
      rc=0
      "$@" "$out/$kind" "../$name" 2>"$T/error" || rc=$?
      result+=("$kind/$name=$rc")
      # Without a RUNPATH the hidden library must not be found, or the rest says nothing.
      if [ "$kind" = plain ]; then [ "$rc" = 1 ] || [ "$rc" = 2 ]; else [ "$rc" = 0 ]; fi ||
        { failed=1 && cat "$T/error" && result+=("(wrong)"); }
    done
  done
  echo "$what: ${result[*]}"
}

in_root() { # ROOT DIRECTORY PROBE
  # shellcheck disable=SC2016,SC2317 # the inner shell's; reach calls it
  chroot "$1" /bin/sh -c 'cd "$1" && exec "$2"' sh "$2" "$3"
}

glibc() {
  local suite root place
  [ "$(id -u)" = 0 ] || { echo "glibc: needs root" && return; }
  build "$T/reach" "${CC:-gcc}" -Wl,-dynamic-linker,/lib64/ld-linux-x86-64.so.2
  for suite in bullseye bookworm trixie; do
    root=${ROOTS:-$T/roots}/$suite
    if [ ! -d "$root" ]; then
      command -v debootstrap >/dev/null || { echo "$suite: needs debootstrap" && continue; }
      mkdir -p "${root%/*}"
      debootstrap --variant=minbase "$suite" "$root" >"$T/log" 2>&1 ||
        { echo "$suite: cannot be had: $(tail -n 1 "$T/log")" && rm -rf "$root" && continue; }
    fi
    place=$(mktemp -d "$root/tmp/reach.XXXXXX")
    cp -r "$T/reach/." "$place"
    reach "$suite, $(chroot "$root" ldd --version | sed -n '1s/.* /glibc /p')" "${place#"$root"}" in_root "$root"
    rm -rf "$place"
  done
}

in_qemu() { # PAGE DIRECTORY PROBE
  # shellcheck disable=SC2317 # reach calls it
  (cd "$2" && qemu-aarch64-static -p "$1" -L /usr/aarch64-linux-gnu "$3")
}

pages() {
  local page
  for page in aarch64-linux-gnu-gcc qemu-aarch64-static; do
    command -v "$page" >/dev/null || { echo "pages: needs $page" && return; }
  done
  build "$T/arm64" aarch64-linux-gnu-gcc -Wl,-dynamic-linker,/lib/ld-linux-aarch64.so.1
  for page in 4096 16384 65536; do
    reach "arm64, pages of $page" "$T/arm64" in_qemu "$page"
  done
}

[ $# -gt 0 ] || set -- drivers system time glibc pages
for part; do
  case $part in
  drivers) drivers ;;
  system) system ;;
  glibc) glibc ;;
  pages) pages ;;
  time) time_ ;;
  *) echo "unknown part $part" >&2 && exit 2 ;;
  esac
done
exit $failed
