# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# watch.sh — what the tests of `watch = yes` share, sourced behind fixture.sh.
command -v strace >/dev/null || skip "no strace"
TRACER=

# The policy and what is watched have directories where nothing else happens; /tmp, above $T, is everybody's.
W=/run/watched HOST=/run/watched/host HOST2=/run/watched/host2 R=/run/watched/root POLICY=/run/watched/policy/policy.conf
mkdir -p "$W/policy" "$HOST" "$HOST2" "$T/traces" "$R"/{run,etc,usr/lib}
make_probe "$T/probe" "$MNT/lib"
who_is() { [ "$("$T/probe" "$1" 2>/dev/null || :)" = "$2" ]; }
is_absent() { [ ! -e "$MNT/lib/$1" ]; }
has_problem() { status_of -c .problems | grep -qF "$1"; }
is_healthy() { [ "$(status_of -c '[.problems[] | select(.level == "error")]')" = "[]" ]; }

# System calls of the daemon are written to $T/traces/calls while they are followed.
follow() { # CALLS
  : >"$T/traces/calls"
  strace -f -qq -e trace="$1" -o "$T/traces/calls" -p "$(cat "$T/pid")" 2>"$T/traces/messages" &
  TRACER=$!
  wait_for grep -q "^TracerPid:.[1-9]" "/proc/$(cat "$T/pid")/status"
}
unfollow() {
  kill -INT "$TRACER"
  wait "$TRACER" || :
}
# Every load reads this policy file once.
reloads() { grep -c "openat(.*\"$POLICY\"" "$T/traces/calls" || :; }
# Nothing waits for quiet: the daemon's threads sleep, and have for some time.
switches() { cat /proc/"$(cat "$T/pid")"/task/*/status | awk '/ctxt_switches/ { n += $2 } END { print n }'; }
is_settled() {
  local before
  before=$(switches)
  read -rt 0.8 _ <>"$T/pause" || :
  [ "$(switches)" = "$before" ]
}

start() { # POLICY-LINE...
  policy "[gldriverfs]" "watch = yes" "runpath = none" "$@"
  start_daemon
  daemon_pid >"$T/pid"
}
