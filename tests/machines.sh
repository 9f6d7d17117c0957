#!/bin/bash
# SPDX-License-Identifier: MIT
# machines.sh [NAME-PATTERN...] — each line of tests/machines/*.txt is a machine and what `gldriverctl check` decides on
# it; its form is said at the head of tests/machines/jetson.txt.
set -euo pipefail
cd "$(dirname "$0")/.."
ctl=${BUILD:-build/release}/gldriverctl
work=$(mktemp -d "${T:-${TMPDIR:-/tmp}}/machines.XXXXXX")
trap 'rm -rf "$work"' EXIT
export CACHE=$work/cache
mkdir "$CACHE"
umask 022
. tests/lib/golden.sh
. tests/lib/machine.sh

# shellcheck disable=SC2016 # jq's variables
as_text='"\(if .compat.on then "on" else "off" end) \(.compat.rule) \(.compat.reason)", (.problems[]? | select(.level == "warning") | .text)'

check_machine() { # NAME FACTS EXPECTED
  local name=$1 words got warnings expected=${3%% ! *} warning=
  [ "$expected" = "$3" ] || warning=${3#* ! }
  export ROOT=$work/root
  rm -rf "$ROOT"
  mkdir "$ROOT"
  read -ra words <<<"$2"
  make_machine "$work/policy.conf" "${words[@]}"
  "$ctl" check --json --root "$ROOT" "$work/policy.conf" >"$work/json" || [ $? = 1 ]
  { read -r got && warnings=$(cat); } < <(jq -r "$as_text" "$work/json")
  case $got in
  "${expected%% *} "*) ;;
  *) echo "$name: $got; expected: $3" && return 1 ;;
  esac
  expected=${expected#* }
  case ${got#* } in
  "${expected%% *} "*"${expected#* }"*) ;;
  *) echo "$name: $got; expected: $3" && return 1 ;;
  esac
  case $warnings in
  "") [ -z "$warning" ] || { echo "$name: no warning; expected: $warning" && return 1; } ;;
  *"${warning:-no warning at all}"*) ;;
  *) echo "$name: warns: $warnings; expected: ${warning:-none}" && return 1 ;;
  esac
}

count=0 failed=0
while IFS= read -r line; do
  case $line in '' | '#'*) continue ;; esac
  name=${line%% *}
  if [ $# -gt 0 ]; then
    # shellcheck disable=SC2254 # a glob
    case $name in $1) ;; *) continue ;; esac
  fi
  line=${line#* }
  count=$((count + 1))
  check_machine "$name" "${line%% => *}" "${line#* => }" || failed=$((failed + 1))
done < <(cat tests/machines/*.txt)
echo "$count machines, $failed failed"
[ "$failed" = 0 ] && [ "$count" -gt 0 ]
