#!/bin/bash
# SPDX-License-Identifier: MIT
# arm64's real driver, served by an arm64 daemon: both and the arm64 program that loads every library with RTLD_NOW run
# under qemu-user in a Debian 12 root, where the program has nothing but a RUNPATH to lib/ of the mount. The count that
# fails from the host path is printed. Neither binfmt nor the root's maintainer scripts are needed.
set -euo pipefail
[ "${1:-}" = --inside ] ||
  exec unshare -m --propagation private --pid --fork --kill-child --mount-proc "$0" --inside
. "$(dirname "$0")/../lib/fixture.sh"
need_root
need_fuse
for program in debootstrap dpkg-deb aarch64-linux-gnu-gcc qemu-aarch64-static; do
  command -v $program >/dev/null || skip "needs $program"
done

# The programs inside get their arguments without $ROOT before them.
# shellcheck disable=SC2034 # for the fixture
ROOT=$T/root MNT=$T/root/mnt POLICY=$T/root/policy.conf
# shellcheck disable=SC2034
GLDRIVERFS=$T/gldriverfs GLDRIVERCTL=$T/gldriverctl
packages=libfuse3-dev,libinih-dev,uuid-dev,libjansson-dev,libc6-dev,libx11-6,libxext6,libegl1,libgl1
debootstrap --arch=arm64 --variant=minbase --foreign --include=$packages bookworm "$ROOT" >"$T/debootstrap.log" 2>&1 ||
  skip "the Debian archive is out of reach: $(tail -n 1 "$T/debootstrap.log")"
for package in "$ROOT"/var/cache/apt/archives/*.deb; do
  dpkg-deb --fsys-tarfile "$package" | tar -x --keep-directory-symlink -C "$ROOT"
done
DRIVER_ARCH=arm64 tests/real/get-driver.sh bookworm "$ROOT/driver" libnvidia-glcore libglx-nvidia0 libegl-nvidia0 \
  libnvidia-eglcore libnvidia-encode1 libnvcuvid1 libnvidia-allocator1 libnvidia-cfg1 libgles-nvidia2 libgles-nvidia1 \
  libnvidia-fbc1 libnvoptix1 libnvidia-glvkspirv libnvidia-rtcore libnvidia-opticalflow1 libnvidia-tls \
  >"$T/get.log" 2>&1 || skip "the Debian archive is out of reach: $(tail -n 1 "$T/get.log")"

libraries=$ROOT/usr/lib/aarch64-linux-gnu
env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL "PKG_CONFIG_SYSROOT_DIR=$ROOT" "PKG_CONFIG_LIBDIR=$libraries/pkgconfig" \
  make -j 2 "CC=aarch64-linux-gnu-gcc --sysroot=$ROOT" AR=aarch64-linux-gnu-ar "B=$T/arm64" \
  "$T/arm64/gldriverfs" "$T/arm64/gldriverctl" >"$T/make.log" 2>&1 || fail "make: $(tail -n 20 "$T/make.log")"
aarch64-linux-gnu-gcc "--sysroot=$ROOT" -O1 -o "$ROOT/load" "$SOURCES/load.c" -ldl -Wl,--enable-new-dtags \
  -Wl,-rpath,/mnt/lib
cp "$T/arm64/gldriverfs" "$T/arm64/gldriverctl" "$(command -v qemu-aarch64-static)" "$ROOT/"

# debootstrap may have made a link to /proc.
[ ! -L "$ROOT/proc" ] || rm "$ROOT/proc"
mkdir -p "$MNT" "$ROOT/proc"
mount -t proc proc "$ROOT/proc"
mount -t tmpfs -o mode=755 tmpfs "$ROOT/dev"
for node in null:1:3 zero:1:5 urandom:1:9 fuse:10:229; do
  IFS=: read -r name major minor <<<"$node"
  mknod -m 666 "$ROOT/dev/$name" c "$major" "$minor"
done
inside() { chroot "$ROOT" /qemu-aarch64-static "$@"; }
for program in gldriverfs gldriverctl; do
  # shellcheck disable=SC2016 # the script expands it
  printf '#!/bin/bash\nexec chroot "%s" /qemu-aarch64-static /%s "${@#%s}"\n' "$ROOT" $program "$ROOT" >"$T/$program"
  chmod 755 "$T/$program"
done
expect_has "$(file -b "$ROOT/gldriverfs" 2>/dev/null || readelf -h "$ROOT/gldriverfs")" ARM\ aarch64

# What the driver takes from the system: where that is missing it loads nowhere.
loadable() {
  ! inside -E LD_LIBRARY_PATH=/driver /lib/ld-linux-aarch64.so.1 --list "/driver/$1" 2>/dev/null | grep -q 'not found'
}

for present in file symlink; do
  policy "[gldriverfs]" "present = $present" "[layer host]" "role = host" "dir = /driver" "trust = yes"
  start_daemon
  served=0 failed=0 host=0 left=0
  for path in "$MNT"/lib/*.so*; do
    name=${path##*/}
    if [ ! -e "$ROOT/driver/$name" ] || [ -L "$ROOT/driver/$name" ]; then continue; fi
    if ! loadable "$name"; then
      left=$((left + 1))
      continue
    fi
    served=$((served + 1))
    inside /load "$name" >"$T/out" 2>&1 || { failed=$((failed + 1)) && echo "$name: $(cat "$T/out")"; }
    inside /load "/driver/$name" >"$T/out" 2>&1 || host=$((host + 1))
  done
  echo "arm64, present = $present: $served libraries, $failed fail through the mount, $host from the host path ($left need what the root lacks)"
  if [ $served = 0 ] || [ $failed != 0 ]; then fail "not every library loads"; fi
  stop_daemon
done
