#!/bin/bash
# SPDX-License-Identifier: MIT
# driver-probe = yes: the daemon asks libcuda for its version in a child, once per file; one that crashes or hangs is an
# unknown fact with the reason, not an error; nothing of it runs in the daemon. `check` asks too, but nothing that lies
# in a directory (--root).
. "$(dirname "$0")/../lib/fixture.sh"
need_root
need_fuse

# cuda OUT BODY: a libcuda whose cuDriverGetVersion is BODY, and which tells who has run it.
cuda() {
  mkdir -p "$(dirname "$1")"
  rm -f "$1"
  echo "#include <stdlib.h>
    #include <unistd.h>
    int cuDriverGetVersion(int *v); int cuDriverGetVersion(int *v) { if (getuid() == 0) abort(); $2 }" |
    "$CC" -shared -fPIC -x c - -o "$1" -Wl,-soname,libcuda.so.1
}
fact() { status_of --arg name "$1" '.compat.facts[] | select(.name == $name) | "\(.value) \(.source)"'; }
asked() { # WORD
  policy "[gldriverfs]" "driver-probe = $1" "[layer compat]" "role = compat" "dir = $COMPAT" "[layer host]" "role = host" "dir = $HOST"
}
milliseconds() {
  local start=$EPOCHREALTIME
  "$@"
  awk "BEGIN {printf \"%d\", ($EPOCHREALTIME - $start) * 1000}"
}

cuda "$HOST/libcuda.so.1.1" "*v = 11040; return 0;"
cuda "$COMPAT/libcuda.so.1.1" "*v = 12020; return 0;"

# Not asked by default.
asked no
start_daemon
expect_has "$(fact host-cuda)" "null "
expect_same "$(status_of .compat.on)" false

# Asked: the facts, and by them the decision.
asked yes
ctl reload >/dev/null
expect_same "$(fact host-cuda)" "11.4 cuDriverGetVersion of $HOST/libcuda.so.1.1"
expect_same "$(fact compat-cuda)" "12.2 cuDriverGetVersion of $COMPAT/libcuda.so.1.1"
expect_exit 0 ctl facts
expect_has "$(cat "$T/out")" "cuDriverGetVersion of $HOST/libcuda.so.1.1"
expect_exit 0 ctl --json facts
expect_same "$(jq -r '.facts[] | select(.name == "host-cuda") | .value' "$T/out")" 11.4
not grep -q "$HOST/libcuda" "/proc/$(daemon_pid)/maps"
expect_exit 0 timeout 30 "$GLDRIVERCTL" check "$POLICY"
expect_has "$(cat "$T/out")" "cuDriverGetVersion of $COMPAT/libcuda.so.1.1"

# In a directory nothing is run.
mkdir -p "$T/root$T"
cp -a "$HOST" "$COMPAT" "$T/root$T/"
expect_exit 0 timeout 30 "$GLDRIVERCTL" check --root "$T/root" "$POLICY"
not grep -q cuDriverGetVersion "$T/out"
expect_exit 0 timeout 30 "$GLDRIVERCTL" facts --root "$T/root"
expect_has "$(cat "$T/out")" kernel-driver
expect_exit 2 timeout 30 "$GLDRIVERCTL" --mount "$MNT" facts --root "$T/root"

# A crash.
cuda "$COMPAT/libcuda.so.1.1" "return *(volatile int *)8;"
ctl reload >/dev/null
expect_has "$(fact compat-cuda)" "null cuDriverGetVersion could not be asked: it crashed when it was loaded (signal 11"
expect_same "$(status_of -c '[.problems[] | select(.id == "driver-probe") | .level]')" '["info"]'

# A hang: two seconds once, and never again for the same file; the mount answers meanwhile.
cuda "$COMPAT/libcuda.so.1.1" "for (;;) usleep(1000);"
ctl reload >/dev/null &
for _ in 1 2 3 4 5; do timeout 1 ls "$MNT/lib" >/dev/null; done
wait $!
expect_has "$(fact compat-cuda)" "it did not answer within 2 s"
took=$(milliseconds ctl reload | tail -n 1)
[ "${took##*[!0-9]}" -lt 1000 ] || fail "asked again: $took ms"
expect_same "$(pgrep -c gldriverfs-prob || :)" 0

# What it needs is in another layer.
make_lib "$HOST/libnvrm_gpu.so" libnvrm_gpu.so host
rm "$COMPAT/libcuda.so.1.1"
echo 'int cuDriverGetVersion(int *v); int cuDriverGetVersion(int *v) { *v = 12060; return 0; }' |
  "$CC" -shared -fPIC -x c - -o "$COMPAT/libcuda.so.1.1" -Wl,-soname,libcuda.so.1 -x none -Wl,--no-as-needed "$HOST/libnvrm_gpu.so"
ctl reload >/dev/null
expect_same "$(fact compat-cuda)" "12.6 cuDriverGetVersion of $COMPAT/libcuda.so.1.1"
rm "$HOST/libnvrm_gpu.so"
ctl reload >/dev/null
expect_has "$(fact compat-cuda)" "libnvrm_gpu.so: cannot open shared object file"
stop_daemon
