#!/bin/bash
# SPDX-License-Identifier: MIT
# run.sh [NAME-PATTERN...] — runs the tests and ends with "N passed, N failed, N skipped".
# Environment: BUILD=build/release; JOBS=2; CI=true makes a skipped test a failure; LONG=1 adds the soaks, fuzzing, real
# drivers and other systems of `make check-long`. A test exits 0 (passed), 77 (skipped, its last line says why) or else
# (failed). Patterns are shell globs on names such as "mount/toggle".
set -euo pipefail
cd "$(dirname "$0")/.."

export BUILD=${BUILD:-build/release} LONG=${LONG:-0}
logs=$BUILD/tests/log

list_tests() {
  local file
  for file in tests/include.sh tests/golden.sh tests/machines.sh tests/probes.sh tests/completion.sh tests/install.sh tests/manual.sh tests/readme.sh; do
    [ ! -x "$file" ] || echo "script/$(basename "$file" .sh) $file"
  done
  for file in tests/unit/test_*.c; do
    [ ! -e "$file" ] || echo "unit/$(basename "$file" .c) $BUILD/${file%.c}"
  done
  for file in tests/proto/test_*.c; do
    [ ! -e "$file" ] || echo "proto/$(basename "$file" .c) $BUILD/${file%.c}"
  done
  for file in tests/fuzz/fuzz_*.c; do
    [ ! -e "$file" ] || echo "replay/$(basename "${file#tests/fuzz/fuzz_}" .c) $BUILD/tests/fuzz/replay_$(basename "${file#tests/fuzz/fuzz_}" .c)"
  done
  for file in tests/mount/*.sh; do
    [ ! -x "$file" ] || echo "mount/$(basename "$file" .sh) $file"
  done
  [ ! -x tests/demo.sh ] || echo "script/demo tests/demo.sh"
  [ "$LONG" = 1 ] || return 0
  for file in tests/real/*.sh; do
    [ "$file" = tests/real/get-driver.sh ] || [ ! -x "$file" ] || echo "real/$(basename "$file" .sh) $file"
  done
  for file in tests/long/*.sh; do
    [ ! -x "$file" ] || echo "long/$(basename "$file" .sh) $file"
  done
}

# These measure times or use the whole machine: nothing runs beside them.
is_alone() {
  case $1 in
  mount/storm | mount/scale | mount/lowfd | script/demo | real/* | long/*) return 0 ;;
  esac
  return 1
}

seconds_allowed() {
  case $1 in
  long/*) echo 7200 ;;
  real/* | script/golden | script/machines) echo 300 ;;
  mount/storm | mount/kill | mount/rounds) [ "$LONG" = 1 ] && echo 900 || echo 120 ;;
  *) echo 120 ;;
  esac
}

# A mount test has its own mounts and processes: whatever it leaves behind ends with it.
mount_wrapper() {
  if [ "$(id -u)" = 0 ]; then
    echo "unshare -m --propagation private --pid --fork --kill-child --mount-proc"
  else
    echo "unshare -r -m --propagation private --pid --fork --kill-child --mount-proc"
  fi
}

run_one() { # NAME FILE
  local name=$1 file=$2 log=$logs/${1//\//-}.log rc=0 start=$EPOCHREALTIME took wrapper=() verdict
  T=$(mktemp -d "${TMPDIR:-/tmp}/gldriverfs-test.XXXXXX")
  export T
  case $name in
  mount/* | real/*) read -ra wrapper <<<"$(mount_wrapper)" ;;
  replay/*) set -- "$@" "tests/fuzz/corpus/${name#replay/}" ;;
  esac
  shift 2
  # NixOS has no /bin/bash.
  [[ $file != *.sh ]] || wrapper+=(bash)
  timeout -k 10 "$(seconds_allowed "$name")" "${wrapper[@]}" "$file" "$@" </dev/null >"$log" 2>&1 || rc=$?
  rm -rf --one-file-system "$T"
  took=$(awk "BEGIN {printf \"%.1f\", $EPOCHREALTIME - $start}")
  case $rc in
  0) verdict=passed ;;
  77) verdict=skipped ;;
  124 | 137) verdict=failed && echo "timed out" >>"$log" ;;
  *) verdict=failed ;;
  esac
  # Anything left out in CI is a hole that nobody sees.
  if [ $verdict = skipped ] && [ "${CI:-}" = true ]; then verdict=failed; fi
  echo "$verdict" >"$logs/${name//\//-}.verdict"
  {
    case $verdict in
    passed) printf 'ok    %-24s %6s s\n' "$name" "$took" ;;
    skipped) printf 'skip  %-24s %6s s  %s\n' "$name" "$took" "$(tail -n 1 "$log")" ;;
    failed)
      printf 'FAIL  %-24s %6s s  exit %s, %s:\n' "$name" "$took" "$rc" "$log"
      tail -n 40 "$log" | sed 's/^/      | /'
      ;;
    esac
  } | cat
}

if [ "${1:-}" = --one ]; then
  run_one "$2" "$3"
  exit 0
fi

wanted() { # NAME PATTERN...
  local name=$1 pattern
  shift
  [ $# -gt 0 ] || return 0
  for pattern; do
    # shellcheck disable=SC2254 # patterns are meant to be globs
    case $name in $pattern) return 0 ;; esac
  done
  return 1
}

rm -rf "$logs"
mkdir -p "$logs"
together=() alone=()
while read -r name file; do
  wanted "$name" "$@" || continue
  if is_alone "$name"; then alone+=("$name" "$file"); else together+=("$name" "$file"); fi
done < <(list_tests)
[ ${#together[@]} = 0 ] || printf '%s\0' "${together[@]}" | xargs -0 -n 2 -P "${JOBS:-2}" bash "$0" --one
[ ${#alone[@]} = 0 ] || printf '%s\0' "${alone[@]}" | xargs -0 -n 2 bash "$0" --one

count() { cat "$logs"/*.verdict 2>/dev/null | grep -c "^$1\$" || true; }
passed=$(count passed) failed=$(count failed) skipped=$(count skipped)
# A test that left no verdict did not run to its end.
lost=$(((${#together[@]} + ${#alone[@]}) / 2 - passed - failed - skipped))
[ "$lost" = 0 ] || echo "$lost tests left no verdict"
echo "$passed passed, $((failed + lost)) failed, $skipped skipped"
[ $((failed + lost)) = 0 ] && [ "$((passed + skipped))" -gt 0 ]
