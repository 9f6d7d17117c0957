#!/bin/bash
# SPDX-License-Identifier: MIT
# What gldriverctl prints: the keys of every --json answer, errors as JSON too; colour only on a terminal and not with
# NO_COLOR; no control characters of a file's name; a full disk is an error.
. "$(dirname "$0")/../lib/fixture.sh"
need_root
need_fuse

make_driver "$HOST" 470.1 host
make_driver "$COMPAT" 535.1 compat
: >"$HOST"/libnvcuvid.so.1
make_lib "$HOST/libnvidia-glcore.so.470.1" libnvidia-glcore.so.470.1 host libnvidia-nothing.so.1
toggle_policy "mode = off"
start_daemon

keys() { # WANTED COMMAND...
  local wanted=$1 rc=0
  shift
  ctl --json "$@" >"$T/json" || rc=$?
  [ $rc -le 1 ] || fail "exit $rc: $*"
  expect_same "$(jq -r 'keys | join(" ")' "$T/json")" "$wanted" "$*"
}
field() { expect_same "$(jq -r "$1" "$T/json")" "$2" "$1"; }
compat="directory facts layer mode mode_from on reason rule"
keys "compat config entries files generation keeper_pid layers mountpoint name override owner pid present problems rejected requests unpinned version watched" status
field '.compat | keys | join(" ")' "$compat"
field '.compat.facts[0] | keys | join(" ")' "name source value"
field '.layers[1] | keys | join(" ")' "directories name order role served"
field '.rejected[0] | [.path, .layer] | join(" ")' "$HOST/libnvcuvid.so.1 host"
field '.problems[0] | [.level, .text] | join(" ")' "warning libnvidia-nothing.so.1 is needed by libnvidia-glcore.so.470.1 and no layer provides it"
field '.mountpoint' "$MNT"
field '.version' "$("$GLDRIVERFS" --version | cut -d' ' -f2)"
keys "$compat" compat
for verb in "compat on" reload; do
  # shellcheck disable=SC2086 # a verb and its argument
  keys "changed compat generation ok problems" $verb
done
field .changed false
keys "entries path" list
field '.entries[0] | keys | join(" ")' "layer path size source target type"
keys "aliases compat found lost name rejected served summary" explain libcuda.so.1
field '.served[0] | keys | join(" ")' "layer names needed path plan soname source why"
field '.lost[0].source' "$HOST/libcuda.so.470.1"
expect_exit 1 ctl --json explain libnothing.so.1
expect_same "$(jq .found "$T/out")" false
echo "nonsense" >>"$POLICY"
expect_exit 4 ctl --json reload
expect_same "$(jq -r '.problems[0] | [.file, .line, .level] | join(" ")' "$T/out")" "$POLICY 11 error"
toggle_policy "mode = off"
ctl reload

# Colour: this terminal's.
coloured() { # ENVIRONMENT...: whether the answer on a terminal has an escape
  script -qec "env $* '$GLDRIVERCTL' --mount '$MNT' status" /dev/null </dev/null >"$T/typescript" || :
  grep -q "generation" "$T/typescript" || fail "no answer on a terminal: $(cat "$T/typescript")"
  grep -q $'\033' "$T/typescript"
}
# A root without a terminal of its own.
[ -e /dev/ptmx ] || ln -s pts/ptmx /dev/ptmx
[ -e /dev/pts/ptmx ] || { mkdir -p /dev/pts && mount -t devpts -o newinstance,ptmxmode=666 devpts /dev/pts; }
if command -v script >/dev/null; then
  coloured TERM=xterm || fail "no colour on a terminal"
  not coloured TERM=xterm NO_COLOR=1 || fail "colour with NO_COLOR"
  not coloured TERM=dumb || fail "colour on a dumb terminal"
fi
not grep -q $'\033' <<<"$(TERM=xterm ctl status)" || fail "colour in a pipe"
[ ! -e /dev/full ] || expect_exit 4 sh -c "'$GLDRIVERCTL' --mount '$MNT' status >/dev/full"

name=$(printf 'libnvidia-\033[31m\n.so.1')
: >"$HOST/$name"
ctl reload
not grep -q $'\033' <<<"$(ctl status)" || fail "a file's name reaches the terminal"
