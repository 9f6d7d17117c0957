#!/bin/bash
# SPDX-License-Identifier: MIT
# demo.sh — a small machine like a Jetson, made on the spot and mounted; a program asks libcuda for its CUDA version while
# compat is switched. REAL=1: with two real NVIDIA drivers of the Debian archive (470 as host, 535 as compat; DRIVER_470
# and DRIVER_535 may name directories where they are unpacked). As root in a mount namespace of its own, else through
# fusermount3. Leaves nothing behind.
set -euo pipefail
cd "$(dirname "$0")/.."
BUILD=${BUILD:-build/release}
unset LD_LIBRARY_PATH

if [ "$(id -u)" = 0 ] && [ -z "${GLDRIVERFS_DEMO:-}" ]; then
  GLDRIVERFS_DEMO=1 exec unshare -m --propagation private --pid --fork --kill-child --mount-proc "$0"
fi

if [ "$(id -u)" = 0 ]; then
  work=$(mktemp -d "${TMPDIR:-/tmp}/gldriverfs-demo.XXXXXX")
  mount -t tmpfs -o mode=755 tmpfs /run
else
  command -v fusermount3 >/dev/null || { echo "demo: as a user it needs fusermount3 (package fuse3)" >&2 && exit 1; }
  work=$(mktemp -d "${XDG_RUNTIME_DIR:-${TMPDIR:-/tmp}}/gldriverfs-demo.XXXXXX")
  # The daemon's socket and override stand here too, not beside the user's real ones.
  mkdir -m 700 "$work/run"
  export XDG_RUNTIME_DIR=$work/run
fi
mnt=$work/mnt root=$work/root pid=
mkdir -p "$mnt" "$root"

is_mounted() { grep -qF " $mnt " /proc/self/mountinfo; }
stop() {
  [ -z "$pid" ] || kill -TERM "$pid" 2>/dev/null || :
  pid=
  for _ in $(seq 200); do
    is_mounted || return 0
    read -rt 0.02 _ <>"$work/pause" || :
  done
  return 1
}
cleanup() {
  local rc=$?
  stop || umount -l "$mnt" 2>/dev/null || fusermount3 -uz "$mnt" 2>/dev/null || :
  rm -rf --one-file-system "$work"
  [ $rc = 0 ] || echo "demo: FAILED"
  exit $rc
}
trap cleanup EXIT
mkfifo "$work/pause"

library() { # PATH SONAME CUDA-VERSION-OR-0 [NEEDED-PATH...]
  local path=$1 soname=$2 version=$3
  shift 3
  mkdir -p "$(dirname "$path")"
  echo "int cuDriverGetVersion(int *v); int cuDriverGetVersion(int *v) { *v = $version; return 0; }" |
    cc -shared -fPIC -x c - -o "$path" "-Wl,-soname,$soname" -x none -Wl,--no-as-needed "$@"
}
jetson() {
  local native=$root/usr/lib/aarch64-linux-gnu/nvidia compat=$root/usr/local/cuda-12.2/compat
  library "$native/libnvos.so" libnvos.so 0
  library "$native/libnvrm_mem.so" libnvrm_mem.so 0 "$native/libnvos.so"
  library "$native/libnvrm_gpu.so" libnvrm_gpu.so 0 "$native/libnvos.so"
  library "$native/libnvidia-ml.so.1" libnvidia-ml.so.1 0
  library "$native/libcuda.so.1.1" libcuda.so.1 11040 "$native/libnvrm_gpu.so" "$native/libnvrm_mem.so"
  library "$native/libnvidia-ptxjitcompiler.so.1" libnvidia-ptxjitcompiler.so.1 0
  library "$compat/libcuda.so.1.1" libcuda.so.1 12020 "$native/libnvrm_gpu.so" "$native/libnvrm_mem.so"
  library "$compat/libnvidia-ptxjitcompiler.so.1" libnvidia-ptxjitcompiler.so.1 0
  library "$compat/libnvidia-nvvm.so.4" libnvidia-nvvm.so.4 0
  cat >"$work/policy.conf" <<END
[gldriverfs]
version = 1

[layer compat]
role = compat
dir = /usr/local/cuda-12.2/compat
cuda = 12.2

[layer tegra]
role = tegra
dir = /usr/lib/aarch64-linux-gnu/nvidia

[layer host]
role = host
dir = /usr/lib/aarch64-linux-gnu/nvidia
cuda = 11.4
END
  daemon=(--root "$root")
}
real() { # two drivers, unpacked where they are named or in the work directory
  local version suite variable
  for version in 470:bullseye 535:bookworm; do
    suite=${version#*:} version=${version%:*} variable=DRIVER_$version
    if [ -z "${!variable:-}" ]; then
      echo "getting the $version driver from the Debian archive …"
      tests/real/get-driver.sh "$suite" "$work/$version" || { echo "demo: the archive is out of reach; DRIVER_$version=DIRECTORY may name an unpacked driver" >&2 && exit 1; }
      printf -v "$variable" %s "$work/$version"
    fi
  done
  cat >"$work/policy.conf" <<END
[layer compat]
role = compat
dir = $DRIVER_535

[layer host]
role = host
dir = $DRIVER_470
END
  daemon=()
}

show() {
  printf '\n$ %s\n' "$*"
  "$@"
}
gldriverctl() { "$BUILD/gldriverctl" --mount "$mnt" "$@"; }
expect_version() { # VERSION
  local got
  got=$("$work/program")
  echo "  the program says: cuDriverGetVersion = $got"
  [ "$got" = "$1" ] || { echo "demo: $1 was expected" >&2 && exit 1; }
}

# A program as nixpkgs builds them, except that its path is a DT_RPATH: that serves what libcuda itself needs too.
cc -O1 -o "$work/program" tests/lib/cudaversion.c -ldl -Wl,--disable-new-dtags "-Wl,-rpath,$mnt/lib"
if [ "${REAL:-0}" = 1 ]; then real; else jetson; fi

echo "the policy:"
sed 's/^/  | /' "$work/policy.conf"
printf '\n$ gldriverfs %s\n' "${daemon[*]} --config $work/policy.conf $mnt"
"$BUILD/gldriverfs" "${daemon[@]}" --config "$work/policy.conf" "$mnt"
pid=$(sed -n 's/.*"pid": *\([0-9]*\).*/\1/p' <<<"$(gldriverctl --json status)" | head -n 1)
show ls -l "$mnt/lib"
show gldriverctl compat off
expect_version 11040
show gldriverctl compat on
expect_version 12020
show gldriverctl explain libcuda.so.1
show gldriverctl compat off
expect_version 11040
show gldriverctl compat auto
expect_version 12020
show gldriverctl status
stop || { echo "demo: the mount is still there" >&2 && exit 1; }
[ -z "$(ls -A "$mnt")" ]

echo
echo "demo: OK — libcuda was switched 11.4 → 12.2 → 11.4 → 12.2 under one mount, nothing was rebuilt, nothing is left behind"
