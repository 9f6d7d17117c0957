#!/bin/bash
# SPDX-License-Identifier: MIT
# Looking at a machine in --root touches nothing of the real one: every path that is opened or looked at lies in the root,
# also where links in it are absolute or climb too far. What a program itself needs is named below.
set -euo pipefail
cd "$(dirname "$0")/.."
ctl=${BUILD:-build/release}/gldriverctl
T=${T:-$(mktemp -d)}
command -v strace >/dev/null || { echo "no strace" && exit 77; }
umask 022
export ROOT=$T/root CACHE=$T/cache
mkdir -p "$ROOT" "$CACHE"
. tests/lib/golden.sh
. tests/lib/machine.sh

make_machine "$T/policy.conf" soc=tegra234 l4t=36.4.7 open=540.4.0 gpu=Orin host=/usr/lib/aarch64-linux-gnu/nvidia:1.1 \
  compat=/usr/local/cuda-12.9/compat:1.1
# The links that real machines have, and one that climbs.
mkdir -p "$ROOT/sys/firmware/devicetree"
mv "$ROOT/proc/device-tree" "$ROOT/sys/firmware/devicetree/base"
ln -s /sys/firmware/devicetree/base "$ROOT/proc/device-tree"
mv "$ROOT/etc/nv_tegra_release" "$ROOT/etc/release"
ln -s ../../../../../../../../etc/release "$ROOT/etc/nv_tegra_release"

# No leaks can be sought in a traced process.
ASAN_OPTIONS=detect_leaks=0 strace -f -y -o "$T/trace" -e trace=%file,open_by_handle_at "$ctl" check --json --root "$ROOT" "$T/policy.conf" >"$T/json" ||
  { [ $? = 1 ] || { cat "$T/json" && exit 1; }; }
jq -e '.compat.on and .compat.rule == "support-window"' "$T/json" >/dev/null || { jq .compat "$T/json" && exit 1; }

# Its own libraries and locales, its mounts, the policy, the installed tables.
own='execve\(|/etc/ld\.so\.|["<]/(usr/)?lib[^">]*/lib[a-z]+[^">/]*\.so|["<]/proc/(self|thread-self|[0-9]+)/(mountinfo|uid_map|maps|exe|fd/)|"/(etc|usr/lib|usr/local/lib)/gldriverfs'
own+='|locale|"/sys/(devices/system/cpu|fs/cgroup)|"/proc/(sys/vm|meminfo|self/cgroup)|"/etc/gnutls|"/dev/(null|urandom)"'
# A sanitizer's start.
[[ ${BUILD:-} != *san* ]] || own+='|"/proc/self/(cmdline|environ)"'
# The ways to the root and the policy.
way=$T
while [ -n "$way" ]; do
  own+="|readlink\\(\"$way\","
  way=${way%/*}
done
stray=$(grep -E '^[0-9]+ +[a-z0-9_]+\(' "$T/trace" | grep -vF -e "$ROOT" -e "$T/policy.conf" -e "$T/json" | grep -vE "$own" || true)
[ -z "$stray" ] || { echo "outside the root:" && echo "$stray" && exit 1; }
# It has looked, and through the root's descriptors.
for name in nv_tegra_release compatible version; do
  grep -qF "$ROOT" <(grep -E "\"$name\"" "$T/trace") || { echo "$name was not looked at" && exit 1; }
  ! grep -E "\"/[^\"]*/$name\"" "$T/trace" | grep -vF "$ROOT" || { echo "$name was looked at outside" && exit 1; }
done
echo "$(grep -cF "$ROOT" "$T/trace") calls inside the root, none outside"
