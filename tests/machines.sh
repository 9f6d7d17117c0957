#!/bin/bash
# SPDX-License-Identifier: MIT
# machines.sh [NAME-PATTERN] — each line of tests/machines/*.txt is a machine and what `gldriverctl check` decides on
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

# One line for all findings of a machine: the decision, and the warnings that belong to it.
# shellcheck disable=SC2016 # jq's variables
as_text='[input_filename, "\(if .compat.on then "on" else "off" end) \(.compat.rule) \(.compat.reason)",
  ([.problems[]? | select(.level != "info" and (.id | IN("missing-libnvrm", "no-libcuda", "reflexive-link", "link-loop", "missing-library") | not)) | .text] | join("; "))] | join("\u001f")'

names=() facts=() expectations=()
while IFS= read -r line; do
  case $line in '' | '#'*) continue ;; esac
  # shellcheck disable=SC2254 # a glob
  case ${line%% *} in ${1:-*}) ;; *) continue ;; esac
  names+=("${line%% *}")
  line=${line#* }
  facts+=("${line%% => *}")
  expectations+=("${line#* => }")
done < <(cat tests/machines/*.txt)
[ ${#names[@]} -gt 0 ] || { echo "no machine" && exit 1; }

for i in "${!names[@]}"; do
  export ROOT=$work/$i
  mkdir "$ROOT"
  read -ra words <<<"${facts[$i]}"
  make_machine "$ROOT.conf" "${words[@]}"
  "$ctl" check --json --root "$ROOT" "$ROOT.conf" >"$ROOT.json" || [ $? = 1 ]
done

judge() { # NAME DECISION WARNINGS EXPECTATION
  local decision=${4%% ! *} warning='' rest=${2#* }
  [ "$decision" = "$4" ] || warning=${4#* ! }
  # on|off, the rule, part of the reason
  set -- "$1" "$2" "$3" "${decision%% *}" "${decision#* }"
  [[ $2 == "$4 "* && $rest == "${5%% *} "*"${5#* }"* ]] || { echo "$1: $2; expected: $decision" && return 1; }
  if [ -z "$warning" ]; then
    [ -z "$3" ] || { echo "$1: warns: $3" && return 1; }
  else
    [[ $3 == *"$warning"* ]] || { echo "$1: warns: ${3:-nothing}; expected: $warning" && return 1; }
  fi
}
judged=0 failed=0
while IFS=$'\x1f' read -r file decision warnings; do
  i=${file##*/}
  i=${i%.json}
  judged=$((judged + 1))
  judge "${names[$i]}" "$decision" "$warnings" "${expectations[$i]}" || failed=$((failed + 1))
done < <(jq -r "$as_text" "$work"/*.json)
echo "$judged machines, $failed failed"
[ "$failed" = 0 ] && [ "$judged" = ${#names[@]} ]
