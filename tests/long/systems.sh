#!/bin/bash
# SPDX-License-Identifier: MIT
# `make check` from a clean clone on minimal systems: Debian bullseye (libfuse 3.10), bookworm (3.14), trixie (3.17), as
# the README says. SUITES: which ones.
set -euo pipefail
cd "$(dirname "$0")/../.."
[ "$(id -u)" = 0 ] || { echo "needs root" && exit 77; }
command -v debootstrap >/dev/null || { echo "needs debootstrap" && exit 77; }
[ -d .git ] || [ -f .git ] || { echo "needs a git checkout" && exit 77; }

if [ "${1:-}" = --inside ]; then # in a mount namespace: SUITE
  chroot=$T/$2
  # pivot_root, not chroot: the tests make namespaces of their own, for which the root must be a mount.
  mount --bind "$chroot" "$chroot"
  mount -t proc proc "$chroot/proc"
  mount -t sysfs -o ro sysfs "$chroot/sys"
  mount -t tmpfs -o mode=755 tmpfs "$chroot/dev"
  mkdir "$chroot/dev/pts" "$chroot/dev/shm" "$chroot/old"
  for node in null:1:3 zero:1:5 full:1:7 random:1:8 urandom:1:9 tty:5:0 fuse:10:229; do
    IFS=: read -r name major minor <<<"$node"
    mknod -m 666 "$chroot/dev/$name" c "$major" "$minor"
  done
  ln -s /proc/self/fd "$chroot/dev/fd"
  cd "$chroot"
  pivot_root . old
  umount -l /old
  cd /src
  export DEBIAN_FRONTEND=noninteractive TMPDIR=/tmp HOME=/root
  apt-get -q update >/dev/null
  apt-get -q -y install --no-install-recommends make >/dev/null
  exec make check
fi

rc=0
for suite in ${SUITES:-bullseye bookworm trixie}; do
  debootstrap --variant=minbase "$suite" "$T/$suite" >"$T/log" 2>&1 ||
    { echo "$suite: cannot be had: $(tail -n 1 "$T/log")" && rc=77 && continue; }
  git clone -q . "$T/$suite/src"
  cp /etc/resolv.conf "$T/$suite/etc/"
  echo "$suite:"
  unshare -m --propagation private --pid --fork --kill-child "$0" --inside "$suite" >"$T/$suite.log" 2>&1 || {
    rc=1
    tail -n 60 "$T/$suite.log"
  }
  tail -n 1 "$T/$suite.log"
  rm -rf --one-file-system "${T:?}/$suite"
done
exit $rc
