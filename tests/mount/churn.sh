#!/bin/bash
# SPDX-License-Identifier: MIT
# Random changes in layer directories and in compat's mode, each followed by a reload, while programs list the mount and
# look names up: afterwards the listings, the lookups of every name ever seen and of new ones, the links, the bytes and
# the inode numbers are those of the view. SEED and ROUNDS repeat a run.
. "$(dirname "$0")/../lib/fixture.sh"
need_root
need_fuse

RANDOM=${SEED:=$((RANDOM + 1))}
ROUNDS=${ROUNDS:-$([ "${LONG:-0}" = 1 ] && echo 500 || echo 25)}
echo "SEED=$SEED ROUNDS=$ROUNDS"
make_driver "$HOST" 470.1 host
make_driver "$COMPAT" 535.1 compat
for i in 0 1 2 3; do make_lib "$T/lib$i.so" "libnvmm_x$i.so.1" "tag$i"; done
make_lib "$T/lib4.so" - none
mkdir -p "$T"/tree/{lib/dri,share/x}
places=("$HOST" "$HOST2" "$T/tree/lib" "$T/tree/lib/dri" "$T/tree/share" "$T/tree/share/x")

# Each in $REPLY, without a process.
random_name() {
  local names=("libnvmm_x$((RANDOM % 6)).so.$((RANDOM % 2 + 1))" "libnvmm_x$((RANDOM % 6)).so" "libnvos_$((RANDOM % 4)).so"
    "file$((RANDOM % 5))" "directory$((RANDOM % 3))")
  REPLY=${names[RANDOM % ${#names[@]}]}
}
random_entry() { # DIRECTORY
  local entries=("$1"/*)
  REPLY=${entries[RANDOM % ${#entries[@]}]}
}
change() {
  local directory=${places[RANDOM % ${#places[@]}]} path
  random_name
  path=$directory/$REPLY
  random_entry "$directory"
  case $((RANDOM % 8)) in
  0 | 1 | 2) { cat "$T/lib$((RANDOM % 5)).so" && echo "$RANDOM"; } >"$T/new" && mv -T "$T/new" "$path" ;;
  3 | 4) rm "$REPLY" ;;
  5) ln -s "${REPLY##*/}" "$path" ;;
  6) mv -T "$REPLY" "$path" ;;
  7) [[ $directory != "$T"/tree/* ]] || { mkdir "$path" && echo in >"$path/file0"; } ;;
  esac 2>/dev/null || :
}
look() { # what programs do meanwhile
  local path
  while :; do
    for path in "$MNT"/*/* "$MNT"/lib/libnvmm_x{0..5}.so.{1,2} "$MNT"/lib/dri/file{0..4} "$MNT"/share/{x,directory1}/file{0..4}; do
      [ ! -e "$path" ] || read -rn 4 _ <"$path" || :
    done 2>/dev/null
  done
}

toggle_policy "mode = off" "[gldriverfs]" "present = file" "runpath = none" "[layer second]" "role = extra" "dir = $HOST2" \
  "[layer tree]" "role = extra" "tree = $T/tree"
start_daemon
look &
look &
declare -A ever number
for ((round = 0; round < ROUNDS; round++)); do
  for ((i = RANDOM % 4; i >= 0; i--)); do change; done
  if [ $((RANDOM % 3)) = 0 ]; then
    modes=(on off)
    expect_exit 0 ctl compat "${modes[RANDOM % 2]}"
  else
    expect_exit 0 ctl reload
  fi
  ctl --json list | jq -r '.entries[] | [.path, .type, .target // .source // "-"] | @tsv' | LC_ALL=C sort >"$T/view"
  find "$MNT" -mindepth 1 -printf '%P\t%y\n' | LC_ALL=C sort >"$T/listed"
  diff <(cut -f1,2 "$T/view" | sed 's/\t\(.\).*/\t\1/') "$T/listed" >&2 || fail "round $round: the listing"
  declare -A now=()
  files=() sources=()
  while IFS=$'\t' read -r path type where; do
    now[$path]=1 ever[$path]=1
    case $type in
    link) [ "$(readlink "$MNT/$path")" = "$where" ] || fail "round $round: $path leads elsewhere" ;;
    file) files+=("$MNT/$path") sources+=("$where") ;;
    esac
  done <"$T/view"
  for path in "${!ever[@]}" "lib/never$round.so" "lib/libnvmm_x$((RANDOM % 9)).so.$((RANDOM % 3))" "share/new$round/x"; do
    if [ -e "$MNT/$path" ] || [ -L "$MNT/$path" ]; then
      [ -n "${now[$path]:-}" ] || fail "round $round: $path should be absent"
    else
      [ -z "${now[$path]:-}" ] || fail "round $round: $path should exist"
    fi
  done
  cmp <(cat "${files[@]}") <(cat "${sources[@]}") || fail "round $round: the bytes"
  # A number is always that of one file.
  while read -r inode identity; do
    [ "${number[$inode]:-$identity}" = "$identity" ] || fail "round $round: inode $inode of ${number[$inode]} is now $identity"
    number[$inode]=$identity
  done < <(paste -d' ' <(stat -c %i "${files[@]}") <(stat -c %d:%i:%s:%.9Y "${sources[@]}"))
done
