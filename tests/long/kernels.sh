#!/bin/bash
# SPDX-License-Identifier: MIT
# Other kernels, emulated: mount, toggle, steady state, kills, hand-overs under load, and the unit tests of what depends
# on the kernel. x86-64: Debian's 5.10, 6.1, 6.12 and the newest; arm64 with an arm64 daemon: 5.10 (JetPack 5's) and 6.1.
# KERNELS: which ones (SUITE-ARCHITECTURE); KILLS: how many.
set -euo pipefail
cd "$(dirname "$0")/../.."
BUILD=${BUILD:-build/release}
skip() { echo "$*" && exit 77; }
[ "$(uname -m)" = x86_64 ] || skip "needs an x86-64 machine"
for program in apt-get dpkg-deb qemu-system-x86_64 qemu-system-aarch64 aarch64-linux-gnu-gcc readelf; do
  command -v $program >/dev/null || skip "needs $program"
done
. tests/lib/archive.sh
. tests/lib/vm.sh
vm_cache_open || skip "there is no place for kernels"
T=${T:-$(mktemp -d)}
mkdir -p "$T/vm"

# Unit tests of modules that rest on the kernel's behaviour.
UNITS="chest fdpool state crash keeper nodes"
BASE=bookworm
LIBRARIES=(libc6 libgcc-s1 libfuse3-3 libinih1 libuuid1 libjansson4 libcmocka0)
HEADERS=(libc6-dev linux-libc-dev libcrypt-dev libfuse3-dev libinih-dev uuid-dev libjansson-dev libcmocka-dev)

# build_for ARCHITECTURE: sets compiler, programs (a make variant) and libraries (where its libraries are).
build_for() {
  local name targets=() root=$VM_CACHE/$BASE-arm64
  for name in $UNITS; do
    [ ! -e "tests/unit/test_$name.c" ] || targets+=("tests/unit/test_$name")
  done
  targets+=(gldriverfs gldriverctl tests/lib/hammer)
  if [ "$1" = amd64 ]; then
    compiler=${CC:-cc} programs=$BUILD libraries="/lib/x86_64-linux-gnu /usr/lib/x86_64-linux-gnu"
  else
    vm_packages $BASE-arm64 $BASE arm64 "${LIBRARIES[@]}" "${HEADERS[@]}" || return 1
    compiler="aarch64-linux-gnu-gcc --sysroot=$root" programs=$T/arm64
    libraries="$root/usr/lib/aarch64-linux-gnu"
    env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL "PKG_CONFIG_SYSROOT_DIR=$root" "PKG_CONFIG_LIBDIR=$libraries/pkgconfig" \
      make -j 2 "CC=$compiler" AR=aarch64-linux-gnu-ar "B=$programs" "${targets[@]/#/$programs/}" >"$T/make.log" 2>&1 ||
      { tail -n 20 "$T/make.log" && return 2; }
  fi
  binaries=("${targets[@]/#/$programs/}")
}

# drivers ROOT: two drivers of the libraries that the toggle knows, and some more.
drivers() {
  local row name version tag
  for row in cuda:1.1:off cuda:2.2:on nvidia-ptxjitcompiler:1.1:off nvidia-ptxjitcompiler:2.2:on nvidia-ml:1.1:off \
    nvidia-glcore:1.1:off nvidia-fbc:1.1:off nvidia-tls:1.1:off; do
    IFS=: read -r name version tag <<<"$row"
    # shellcheck disable=SC2086 # the compiler and its sysroot
    echo "const char *who(void); const char *who(void) { return \"tag-$tag-$name\"; }" | $compiler -shared -fPIC -O1 -x c - \
      -o "$1/drv/$tag/lib$name.so.$version" "-Wl,-soname,lib$name.so.1"
    ln -s "lib$name.so.$version" "$1/drv/$tag/lib$name.so.1"
  done
}

# initramfs ARCHITECTURE: to $T/ARCHITECTURE.cpio.gz.
initramfs() {
  local root=$T/vm/$1 file
  build_for "$1" || return
  vm_packages busybox-"$1" $BASE "$1" busybox-static || return
  mkdir -p "$root"/{bin,lib,drv/off,drv/on,tests}
  vm_add "$root" "$libraries" "${binaries[@]}" || return 2
  for file in "$root"/bin/test_*; do [ ! -e "$file" ] || mv "$file" "$root/tests/"; done
  cp "$VM_CACHE/busybox-$1/bin/busybox" "$root/bin/"
  ln -s busybox "$root/bin/sh"
  drivers "$root"
  cp tests/lib/vm-inside.sh "$root/init"
  chmod 755 "$root/init"
  printf '%s\n' "[layer compat]" "role = compat" "dir = /drv/on" "[layer host]" "role = host" "dir = /drv/off" \
    "[compat]" "mode = off" >"$root/policy.conf"
  echo "${KILLS:-30}" >"$root/kills"
}

vm_packages busybox-amd64 $BASE amd64 busybox-static || skip "the Debian archive is out of reach"
result=0 tried=0
for kernel in ${KERNELS:-bullseye-amd64 bookworm-amd64 trixie-amd64 sid-amd64 bullseye-arm64 bookworm-arm64}; do
  arch=${kernel##*-}
  why=$(vm_packages "kernel-$kernel" "${kernel%-*}" "$arch" kernel) || { echo "$kernel: left out: $why" && continue; }
  if [ ! -d "$T/vm/$arch" ]; then
    rc=0
    initramfs "$arch" || rc=$?
    [ $rc != 1 ] || { echo "$kernel: left out" && rm -rf "$T/vm/$arch" && continue; }
    [ $rc = 0 ] || exit 1
  fi
  rm -f "$T/vm/$arch/fuse.ko"
  [ ! -e "$VM_CACHE/kernel-$kernel/fuse.ko" ] || cp "$VM_CACHE/kernel-$kernel/fuse.ko" "$T/vm/$arch/"
  vm_pack "$T/vm/$arch" "$VM_CACHE/busybox-amd64/bin/busybox" "$T/initramfs"
  tried=$((tried + 1))
  start=$SECONDS
  vm_boot "$arch" "$VM_CACHE/kernel-$kernel/vmlinuz" "$T/initramfs" "$T/console" || echo "qemu exits with $?"
  tr -d '\r' <"$T/console" >"$T/console.txt"
  if grep -q '^VM: passed$' "$T/console.txt" && [ "$(grep -c ' failed=0 hung=0 ' "$T/console.txt")" = 6 ]; then
    echo "$kernel, $((SECONDS - start)) s: $(sed -n '/^Linux /,$p' "$T/console.txt")"
  else
    echo "$kernel: FAILED:"
    tail -n 60 "$T/console.txt"
    result=1
  fi
done
[ $tried -gt 0 ] || skip "no kernel could be had"
exit $result
