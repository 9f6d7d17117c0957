#!/bin/bash
# SPDX-License-Identifier: MIT
# Real drivers, 470 as host and 535 as compat: a program that has loaded libcuda finds its JIT compiler and nvvm in the
# set of that libcuda, over 1000 toggles, in 100 of 100 runs.
# shellcheck source=../lib/fixture.sh
. "$(dirname "$0")/../lib/fixture.sh"
. tests/lib/drivers.sh
need_root
need_fuse
need_driver 470 bullseye
host=$DRIVER
need_driver 535 bookworm
compat=$DRIVER

"$CC" -O1 -o "$T/pinned" -D_GNU_SOURCE "$SOURCES/pinned.c" -ldl -Wl,--enable-new-dtags "-Wl,-rpath,$MNT/lib"
policy "[layer compat]" "role = compat" "dir = $compat" "trust = yes" \
  "[layer host]" "role = host" "dir = $host" "trust = yes" "[compat]" "mode = off"
start_daemon
"$T/pinned" 100 1000 25 "$GLDRIVERCTL" --mount "$MNT" compat
