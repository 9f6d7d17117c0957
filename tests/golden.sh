#!/bin/bash
# SPDX-License-Identifier: MIT
# golden.sh [CASE...] — each tests/golden/CASE has a policy.conf, a make.sh that builds a machine in $ROOT, and in
# expect.txt everything that `gldriverctl check` says about the two; expect.json, where there is one, is its whole JSON. UPDATE=1 writes them anew (read the diff).
set -euo pipefail
cd "$(dirname "$0")/.."
ctl=${BUILD:-build/release}/gldriverctl
work=$(mktemp -d "${T:-${TMPDIR:-/tmp}}/golden.XXXXXX")
trap 'rm -rf "$work"' EXIT
export CACHE=$work/cache
mkdir "$CACHE"
umask 022

# shellcheck disable=SC2016 # jq's variables
as_text='
  def place: if .file then "\(.file)" + (if .line then ":\(.line)" else "" end) + ": " else "" end;
  (select(.compat) | "compat \(if .compat.on then "on" else "off" end) (\(.compat.rule)): \(.compat.reason)"),
  (.layers[]? | "layer \(.name) \(.role) \(.order) serves \(.served):" + ([.directories[] | " " + .path + (if .present then "" else " (missing)" end)] | add // "")),
  (.rejected[]? | "rejected \(.path) (\(.layer)): \(.reason)"),
  (.problems[]? | "\(.level) \(.id): \(place)\(.text)"),
  (.view[]? | select(.type != "directory") | "\(.type) \(.path) " + (if .type == "link" then "-> \(.target)" else "<- \(.layer) \(.source)" end))'

expect() { # FILE GOT
  if [ "${UPDATE:-}" = 1 ]; then
    cp "$2" "$1"
  else
    diff -u --label "$1" --label got "$1" "$2"
  fi
}

# Where make.sh has noted the SONAMEs that the machine's driver has: these are served, and no others.
check_sonames() {
  [ -e "$ROOT/.sonames" ] || return 0
  jq -r '.view[] | select(.type == "file" and (.path | test("^lib/[^/]*$"))) | .source' "$work/json" |
    xargs readelf -d | sed -n 's/.*(SONAME).*\[\(.*\)\]/\1/p' >"$work/sonames"
  diff -u --label has --label served <(sort "$ROOT/.sonames") <(sort "$work/sonames")
}

run_case() { # NAME
  local case=tests/golden/$1 rc=0
  export ROOT=$work/$1
  mkdir "$ROOT"
  bash -euo pipefail -c '. tests/lib/golden.sh; . "$1/make.sh"' - "$case" || { echo "$1: make.sh failed" && return 1; }
  "$ctl" check --json --root "$ROOT" "$case/policy.conf" >"$work/json" || rc=$?
  { jq -r "$as_text" "$work/json" | sed -E "s|$ROOT||g; s|$case/||g; s/it is for [^ ]+, this view is for .*/it is for another machine/" && echo "exit $rc"; } >"$work/got"
  check_sonames || { echo "$1: other SONAMEs are served than the machine has" && rc=failed; }
  expect "$case/expect.txt" "$work/got" || rc=failed
  if [ -e "$case/expect.json" ]; then
    jq '.version = "-" | .generation = "-"' "$work/json" | sed "s|$ROOT||g; s|$case/||g" >"$work/got.json"
    expect "$case/expect.json" "$work/got.json" || rc=failed
  fi
  rm -rf "$ROOT"
  [ "$rc" != failed ]
}

failed=0 count=0
[ $# -gt 0 ] || set -- tests/golden/*/
for name; do
  count=$((count + 1))
  run_case "$(basename "$name")" || failed=$((failed + 1))
done
echo "$count golden cases, $failed failed"
[ $failed = 0 ]
