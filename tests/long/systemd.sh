#!/bin/bash
# SPDX-License-Identifier: MIT
# The daemon as a service of a real systemd whose fd store keeps its state: start, kills and restarts under load,
# reload, stop. On this machine's own system, booted under systemd-nspawn.
set -euo pipefail
cd "$(dirname "$0")/../.."
. tests/lib/nspawn.sh
BUILD=${BUILD:-build/release}
skip() { echo "$*" && exit 77; }
[ "$(id -u)" = 0 ] || skip "needs root"
command -v systemd-nspawn >/dev/null || skip "systemd-nspawn (package systemd-container) is not installed"
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
mkdir "$out/libs"
cp "$BUILD/gldriverfs" "$BUILD/gldriverctl" "$BUILD/tests/lib/hammer" "$out"
for name in cuda nvidia-ml nvidia-ptxjitcompiler nvidia-fbc nvidia-glcore; do
  echo "int f(void); int f(void) { return 1; }" | cc -shared -fPIC -x c - -o "$out/libs/lib$name.so.1" "-Wl,-soname,lib$name.so.1"
done
cp tests/lib/systemd-inside.sh "$out"
echo "${KILLS:-200}" >"$out/kills"
rc=0
boot / "$out" systemd-inside.sh || rc=$?
cat "$out/log" || cat "$out/console"
exit $rc
