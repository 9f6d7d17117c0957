#!/bin/bash
# SPDX-License-Identifier: MIT
# Real drivers 470, 535, 550 as host and as compat: the decision on each of the 9 pairs is NVIDIA's rule without a note,
# with the loaded kernel driver told and untold.
. "$(dirname "$0")/../lib/fixture.sh"
. tests/lib/drivers.sh
. tests/lib/golden.sh
declare -A suites=([470]=bullseye [535]=bookworm [550]=trixie) versions
export ROOT=$T/root
mkdir -p "$ROOT"
for branch in 470 535 550; do
  need_driver "$branch" "${suites[$branch]}"
  mkdir "$ROOT/$branch"
  cp -a "$DRIVER"/libcuda.so* "$DRIVER"/libnvidia-{ptxjitcompiler,nvvm,ml}* "$ROOT/$branch"
  file=$(compgen -G "$ROOT/$branch/libcuda.so.$branch.*")
  versions[$branch]=${file##*/libcuda.so.}
done

check_pair() { # HOST COMPAT
  local expected="off driver-numbers"
  [ "$1" -ge "$2" ] || expected="on driver-numbers"
  policy "[layer compat]" "role = compat" "dir = /$2" "[layer host]" "role = host" "dir = /$1"
  "$GLDRIVERCTL" check --json --root "$ROOT" "$POLICY" >"$T/json" || [ $? = 1 ]
  expect_same "$(jq -r '"\(if .compat.on then "on" else "off" end) \(.compat.rule)"' "$T/json")" "$expected" "$1, $2"
  expect_has "$(jq -r .compat.reason "$T/json")" "${versions[$1]}"
  expect_has "$(jq -r .compat.reason "$T/json")" "${versions[$2]}"
}
for host in 470 535 550; do
  for compat in 470 535 550; do
    rm -rf "$ROOT/proc"
    check_pair $host $compat
    kernel_driver "${versions[$host]}"
    check_pair $host $compat
  done
done
