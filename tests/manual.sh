#!/bin/bash
# SPDX-License-Identifier: MIT
# The man pages have every key, command, option, exit status, signal and finding of the code, and no other.
set -euo pipefail
cd "$(dirname "$0")/.."
build=${BUILD:-build/release}
T=${T:-$(mktemp -d)}
command -v scdoc >/dev/null || { echo "no scdoc" && exit 77; }
command -v mandoc >/dev/null || { echo "no mandoc" && exit 77; }

for source in fs/gldriverfs.8.scd tools/gldriverctl.1.scd conf/gldriverfs.conf.5.scd; do
  page=$T/$(basename "$source" .scd)
  tools/man.sh "$source" >"$page"
  mandoc -Tlint "$page" || exit 1
done
printf 'x(1)\n\n# NAME\n\nx *y\n\n# SEE\n' >"$T/bad.scd"
! tools/man.sh "$T/bad.scd" >/dev/null 2>&1 || { echo "a misprint passes" && exit 1; }

section() { sed -n "/^# $2\$/,/^# /p" "$1"; } # FILE HEADING
# The terms that a list explains: lines before an indented one.
terms() { awk '/^\t/ && !inside { print before } { inside = /^\t/; before = $0 }'; }
same() { # WHAT CODE MANUAL
  [ -n "$2" ] && [ "$2" = "$3" ] || {
    echo "$1: < the code, > the man page"
    diff <(echo "$2") <(echo "$3")
    exit 1
  }
}

# Keys, with their sections.
words='s/.*SECTION_GENERAL, "\([a-z-]*\)".*/gldriverfs \1/p; s/.*{ GENERAL("\([a-z-]*\)".*/gldriverfs \1/p
  s/.*{ COMPAT("\([a-z-]*\)".*/compat \1/p; s/.*{ LAYER("\([a-z-]*\)".*/layer \1/p'
same keys "$(sed -n "$words" fs/policy_keys.c | sort)" "$(for name in gldriverfs compat layer; do
  sed -n "/^# SECTION \[$name/,/^# /p" conf/gldriverfs.conf.5.scd | terms | sed -n "s/^\*\([a-z-]*\)\* = .*/$name \1/p"
done | sort)"
[ "$(sed -n "$words" fs/policy_keys.c | wc -l)" = "$(sed -n '/^const struct policy_key policy_keys/,/^};/p' fs/policy_keys.c | grep -c '^	{ ')" ] ||
  { echo "keys that this test does not see" && exit 1; }
# Their words.
for list in presents machines modes roles discovers; do
  for word in $(sed -n "/ $list\[\] = {/,/^};/s/^	{ \"\([a-z0-9_-]*\)\".*/\1/p" fs/policy_keys.c); do
    grep -E "^\*[a-z-]*\* = .*\b$word\b" conf/gldriverfs.conf.5.scd >/dev/null || { echo "no word '$word'" && exit 1; }
  done
done
# The commented configuration has the same keys.
same "the default configuration" "$(sed -n "$words" fs/policy_keys.c | sed 's/.* //' | sort -u)" \
  "$(sed -n 's/^#\([a-z-]*\) = .*/\1/p' conf/gldriverfs.conf | sort -u)"

# Commands, in the tool's table and the protocol's.
same commands "$(sed -n 's/^	{ "\([a-z]*\)", cmd_.*/\1/p' tools/main.c | sort)" \
  "$(section tools/gldriverctl.1.scd COMMANDS | terms | sed -n 's/^\*\([a-z]*\)\*.*/\1/p' | sort)"
same verbs "$(sed -n 's/^	{ "\([a-z]*\)", answer_.*/\1/p' fs/verbs.c | sort)" \
  "$(section tools/gldriverctl.1.scd PROTOCOL | sed -n 's/.*"verb":"\([a-z]*\)".*/\1/p' | sort -u)"

# Options: what getopt_long is given.
options_of() { sed -n 's/^\t*{ "\([a-z-]*\)", \(no\|required\)_argument.*/--\1/p' "$1" | sort; }
options_in() { section "$1" OPTIONS | terms | grep -o -e '--[a-z-]*' | sort; }
same "gldriverfs' options" "$(options_of fs/main.c)" "$(options_in fs/gldriverfs.8.scd)"
same "gldriverctl's options" "$(options_of tools/main.c)" "$(options_in tools/gldriverctl.1.scd)"
for program in gldriverfs gldriverctl; do
  case $program in gldriverfs) page=fs/gldriverfs.8.scd ;; *) page=tools/gldriverctl.1.scd ;; esac
  same "$program --help" "$("$build/$program" --help | grep -o -e '--[a-z][a-z-]*' | sort -u)" "$(options_in $page)"
done

# Exit statuses: DAEMON_UNUSABLE (99) is between the daemon's own processes.
codes_in() { section "$1" "EXIT STATUS" | terms | tr -d '*' | sort -n; }
same "gldriverfs' exit statuses" \
  "$(sed -n '/^enum daemon_exit/,/^};/s/^	DAEMON_[A-Z_]* = \([0-9]*\),.*/\1/p' fs/daemon.h | grep -vx 99 | sort -n)" \
  "$(codes_in fs/gldriverfs.8.scd)"
tool_codes=$(sed -n 's/^enum tool_exit { \(.*\) };/\1/p' tools/cmd.h | tr ',' '\n' | grep -c TOOL_)
same "gldriverctl's exit statuses" "$(seq 0 $((tool_codes - 1)))" "$(codes_in tools/gldriverctl.1.scd)"
# The units do not restart for those that another try cannot change; it may change 4.
for unit in systemd/*.service.in systemd/user/*.service.in; do
  ! grep -q '^Type=notify' "$unit" ||
    grep -qx "RestartPreventExitStatus=$(codes_in fs/gldriverfs.8.scd | grep -vx '[04]' | paste -sd' ') 127 203" "$unit" ||
    { echo "$unit: RestartPreventExitStatus" && exit 1; }
done

same signals "$(grep -oh 'sigaddset(&[a-z_]*, SIG[A-Z0-9]*' fs/*.c | sed 's/.* //' | grep -v 'SIGCHLD\|SIGPIPE' | sort -u)" \
  "$(section fs/gldriverfs.8.scd SIGNALS | terms | grep -o 'SIG[A-Z0-9]*' | sort -u)"
same findings "$(grep -o '^	{ "[a-z-]*"' fs/findings_kinds.c | tr -d '\t{" ' | sort)" \
  "$(section tools/gldriverctl.1.scd FINDINGS | tail -n +4 | grep -o '\*[a-z-]*\*' | tr -d '*' | sort)"
same facts "$(sed -n 's/^	\[FACT_[A-Z_0-9]*\] = "\([a-z0-9-]*\)".*/\1/p' fs/facts.c | sort)" \
  "$(section tools/gldriverctl.1.scd JSON | sed -n '/The names:/,/\.$/p' | sed 's/.*The names://' | grep -o '\*[a-z0-9-]*\*' | tr -d '*' | sort)"
# The environment: what is read of it.
variables() { grep -ohE '(getenv|take_variable)\("[A-Z_]*"' "$@" | grep -o '[A-Z][A-Z_]*' | sort -u; }
same "gldriverfs' environment" "$( (variables fs/*.c && grep -o '"WATCHDOG_[A-Z]*"' fs/notify.c | tr -d '"') | sort -u)" \
  "$(section fs/gldriverfs.8.scd ENVIRONMENT | terms | grep -o '[A-Z][A-Z_]*' | sort -u)"
same "gldriverctl's environment" "$(variables tools/*.c)" \
  "$(section tools/gldriverctl.1.scd ENVIRONMENT | terms | grep -o '[A-Z][A-Z_]*' | sort -u)"
