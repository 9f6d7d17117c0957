#!/bin/bash
# SPDX-License-Identifier: MIT
# Scale: 20,000 entries mount and reload in under 2 s with under 40 MB; 300 entries mount in under 30 ms with under 6 MB
# of private memory. With sanitizers only that it works is tested.
. "$(dirname "$0")/../lib/fixture.sh"
need_root
need_fuse

milliseconds() { # COMMAND...: how long it took, in $took
  local start=$EPOCHREALTIME
  "$@"
  took=$(awk "BEGIN {printf \"%d\", ($EPOCHREALTIME - $start) * 1000}")
}
private_kb() { awk '/^Private_(Clean|Dirty):/ {sum += $2} END {print sum}' "/proc/$(daemon_pid)/smaps_rollup"; }
limit() { # WHAT VALUE LIMIT UNIT
  echo "$1: $2 $4 (limit $3)"
  [ -n "$SANITIZED" ] || [ "$2" -lt "$3" ] || fail "$1: $2 $4, the limit is $3"
}
mount_plain() { "$GLDRIVERFS" --config "$POLICY" "$MNT" 2>>"$LOG"; }

echo 'const char *who(void); const char *who(void) { return "tag_00000"; }' |
  "$CC" -shared -fPIC -nostdlib -s -x c - -o "$T/template.so" -Wl,-soname,libnvmm_00000.so.1 -Wl,-z,noseparate-code \
    -Wl,--build-id=none
host_policy

# Each library has three names: its file, its SONAME and its .so.
"$HELPERS/mklibs" "$T/template.so" "$HOST" 100
best=999999
# A busy machine gets more tries: what counts is what it takes when it runs.
for _ in {1..40}; do
  milliseconds mount_plain
  [ "$took" -ge "$best" ] || best=$took
  expect_same "$(ls "$MNT/lib" | wc -l)" 300
  stat -L "$MNT"/lib/* >/dev/null
  private=$(private_kb)
  stop_daemon
  [ "$best" -ge 30 ] || break
done
limit "300 entries to mounted (best of the tries)" "$best" 30 ms
limit "300 entries, private memory" "$private" 6144 kB

"$HELPERS/mklibs" "$T/template.so" "$HOST" 6667
milliseconds mount_plain
limit "20,000 entries to mounted" "$took" 2000 ms
expect_same "$(ls "$MNT/lib" | wc -l)" 20001
milliseconds ctl reload
limit "reload without a change" "$took" 2000 ms
cp "$HOST/libnvmm_00001.so.1.1" "$T/again" && mv "$T/again" "$HOST/libnvmm_00001.so.1.1"
touch "$HOST"/libnvmm_0[1-5]*.so.1.1
milliseconds ctl reload
limit "reload with 5,001 replaced" "$took" 2000 ms
find "$MNT/lib" -ls >/dev/null
limit "20,000 entries, memory" "$(awk '/^VmRSS:/ {print $2}' "/proc/$(daemon_pid)/status")" 40960 kB
expect_who libnvmm_06667.so.1 tag_06667
