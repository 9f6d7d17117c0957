#!/bin/bash
# SPDX-License-Identifier: MIT
# Starting: arguments in any form, what ps shows, what the daemon keeps of its caller's, and what it finds on the
# mountpoint.
. "$(dirname "$0")/../lib/fixture.sh"
need_root
need_fuse

make_driver "$HOST" 535.1 host
host_policy
start_by() { # ARGUMENT...
  timeout 60 "$GLDRIVERFS" "$@" 2>>"$LOG" || fail "gldriverfs $* exits $?: $(tail -n 5 "$LOG")"
  is_mounted || fail "gldriverfs $* has not mounted"
}

# Relative paths hold though the daemon leaves the working directory.
cd "$T"
start_by --config policy.conf mnt
ctl reload
expect_same "$(status_of .config)" "$POLICY"
stop_daemon
cd /
