#!/bin/bash
# SPDX-License-Identifier: MIT
# lint.sh — format, clang-tidy, cppcheck, shellcheck, SPDX lines; sizes (STYLE) only warn. LINT_FLAGS: the compiler's.
set -euo pipefail
cd "$(dirname "$0")/.."
read -ra flags <<<"${LINT_FLAGS:?called by make lint}"

mapfile -t sources < <(find fs tools tests -name '*.c' | sort)
mapfile -t headers < <(find fs tools tests -name '*.h' | sort)
mapfile -t scripts < <(grep -rlE '^#!/bin/(ba)?sh' tests tools systemd .ci; find tests -name '*.sh' ! -perm -u+x)
rc=0
step() { # NAME COMMAND... — runs one checker, goes on after a failure
  local name=$1
  shift
  if "$@"; then echo "lint: $name: fine"; else echo "lint: $name: FAILED" && rc=1; fi
}

format() { clang-format --dry-run -Werror "${sources[@]}" "${headers[@]}"; }
tidy() {
  # shellcheck disable=SC2016 # the inner shell expands
  # Not the unit tests: cmocka's macros are all that would be found there.
  find fs tools tests/fuzz tests/lib -name '*.c' -print0 | xargs -0 -n 4 -P "$(nproc)" sh -c \
    'flags=$1; shift; exec clang-tidy --quiet "$@" -- $flags 2>/dev/null' sh "${flags[*]}"
}
check_c() {
  local define=()
  for flag in "${flags[@]}"; do
    case $flag in -D*) define+=("$flag") ;; esac
  done
  cppcheck --quiet --std=c11 --error-exitcode=1 --inline-suppr --suppressions-list=tests/cppcheck.txt \
    --enable=warning,portability,performance --library=posix,gnu,bsd -j "$(nproc)" -Ifs -D__x86_64__ "${define[@]}" \
    fs tools tests
}
shells() { shellcheck -x -S warning "${scripts[@]}"; }
spdx() {
  local bad=0 file
  while IFS= read -r file; do
    head -n 3 "$file" | grep -q 'SPDX-License-Identifier: MIT' || { echo "$file: no SPDX line" && bad=1; }
  done < <(printf '%s\n' Makefile flake.nix systemd/nixos/*.nix tests/nix/*.nix "${sources[@]}" "${headers[@]}" "${scripts[@]}")
  return "$bad"
}

step clang-format format
step shellcheck shells
step spdx spdx
step cppcheck check_c
step clang-tidy tidy
for file in "${sources[@]}" "${headers[@]}"; do
  lines=$(wc -l <"$file")
  [ "$lines" -le 400 ] || echo "lint: warning: $file has $lines lines"
  awk -v file="$file" '/^{/ {start = NR} /^}/ {if (start && NR - start > 80) print "lint: warning: " file ":" start ": function of " NR - start " lines"; start = 0}' "$file"
done
exit $rc
