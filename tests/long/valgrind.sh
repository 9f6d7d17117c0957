#!/bin/bash
# SPDX-License-Identifier: MIT
# The unit and proto tests under valgrind.
set -euo pipefail
cd "$(dirname "$0")/../.."
command -v valgrind >/dev/null || { echo "needs valgrind" && exit 77; }
[[ $BUILD != *san* ]] || { echo "valgrind and sanitizers exclude each other" && exit 77; }

rc=0
for test in "$BUILD"/tests/unit/test_* "$BUILD"/tests/proto/test_*; do
  case $test in *.o | *.d | *'*') continue ;; esac
  echo "$test"
  timeout 600 valgrind -q --error-exitcode=99 --leak-check=full --errors-for-leak-kinds=definite,indirect "$test" >"$T/log" 2>&1 ||
    { rc=1 && tail -n 40 "$T/log"; }
done
exit $rc
