#!/bin/bash
# SPDX-License-Identifier: MIT
# Real drivers 470, 535 and 550: with driver-probe = yes their libcudas say 11.4, 12.2 and 12.4; each as host with each as
# compat is decided as NVIDIA's rule 4 says (FACTS.md 3): on where the host's branch is the older one.
. "$(dirname "$0")/../lib/fixture.sh"
. tests/lib/drivers.sh
need_root

versions=(470 535 550) suites=(bullseye bookworm trixie) cuda=(11.4 12.2 12.4) directories=()
for i in 0 1 2; do
  need_driver "${versions[$i]}" "${suites[$i]}"
  directories+=("$DRIVER")
done
check() { timeout 60 "$GLDRIVERCTL" check --json "$POLICY" >"$T/json" || [ $? = 1 ]; }
value() { jq -r --arg name "$1" '.compat.facts[] | select(.name == $name) | .value' "$T/json"; }
for host in 0 1 2; do
  for compat in 0 1 2; do
    policy "[gldriverfs]" "driver-probe = yes" "[layer compat]" "role = compat" "dir = ${directories[$compat]}" "trust = yes" \
      "[layer host]" "role = host" "dir = ${directories[$host]}" "trust = yes"
    check
    pair="host ${versions[$host]}, compat ${versions[$compat]}"
    expect_same "$(value host-cuda)" "${cuda[$host]}" "$pair"
    expect_has "$(jq -r '.compat.facts[] | select(.name == "host-cuda") | .source' "$T/json")" cuDriverGetVersion
    expect_same "$(value compat-cuda)" "${cuda[$compat]}" "$pair"
    expect_same "$(jq -r .compat.rule "$T/json")" driver-numbers "$pair"
    [ "$host" -lt "$compat" ] && want=true || want=false
    expect_same "$(jq -r .compat.on "$T/json")" $want "$pair"
    expect_same "$(jq -c '[.problems[] | select(.id == "driver-probe")]' "$T/json")" "[]" "$pair"
  done
done
