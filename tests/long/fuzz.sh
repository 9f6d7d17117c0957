#!/bin/bash
# SPDX-License-Identifier: MIT
# Fuzzes every target for FUZZ_SECONDS (600) with ASan and UBSan. What it finds is kept in build/fuzz/found.
set -euo pipefail
cd "$(dirname "$0")/../.."
command -v clang >/dev/null || { echo "needs clang" && exit 77; }

make -s VARIANT=fuzz CC=clang CFLAGS="-O1 -g" \
  SANFLAGS="-fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=undefined" fuzzers
mkdir -p build/fuzz/found
rc=0
for source in tests/fuzz/fuzz_*.c; do
  name=$(basename "$source" .c)
  mkdir -p "$T/$name"
  build/fuzz/tests/fuzz/"$name" -max_total_time="${FUZZ_SECONDS:-600}" -timeout=5 -rss_limit_mb=1024 -print_final_stats=1 \
    -verbosity=0 -artifact_prefix="build/fuzz/found/$name-" "$T/$name" "tests/fuzz/corpus/${name#fuzz_}" >"$T/log" 2>&1 ||
    { rc=1 && tail -n 40 "$T/log"; }
  echo "$name: $(sed -n 's/^stat::number_of_executed_units: *//p' "$T/log") inputs"
done
exit $rc
