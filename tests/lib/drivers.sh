# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# drivers.sh — real NVIDIA drivers for tests/real: sourced after fixture.sh.

# need_driver VERSION SUITE [PACKAGE...]: prints the directory where it is: $DRIVER_VERSION, or a fresh one in $T.
need_driver() {
  local variable=DRIVER_$1 directory=$T/driver-$1 suite=$2
  shift 2
  if [ -n "${!variable:-}" ]; then
    DRIVER=${!variable}
    return
  fi
  tests/real/get-driver.sh "$suite" "$directory" "$@" >"$T/get.log" 2>&1 ||
    skip "the Debian archive is out of reach: $(tail -n 1 "$T/get.log")"
  # shellcheck disable=SC2034 # the result
  DRIVER=$directory
}
