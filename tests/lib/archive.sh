# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# archive.sh — packages of any Debian suite and architecture from the mirror that this machine's apt uses, with a state
# of its own: nothing of the machine's is changed, nothing is installed.

# archive_open DIRECTORY SUITE ARCHITECTURE: where the later calls look. Returns 1 and says why when it is out of reach.
archive_open() {
  local work=$1 mirror
  mirror=$(awk '/^URIs:/ {print $2; exit}' /etc/apt/sources.list.d/debian.sources 2>/dev/null || :)
  [ -n "$mirror" ] || mirror=$(awk '$1 == "deb" {for (i = 2; i <= NF; i++) if ($i ~ /:\/\//) {print $i; exit}}' \
    /etc/apt/sources.list /etc/apt/sources.list.d/*.list 2>/dev/null || :)
  case $mirror in *debian*) ;; *) echo "apt knows no Debian archive" && return 1 ;; esac
  mkdir -p "$work/state/lists/partial" "$work/cache/archives/partial"
  : >"$work/status"
  echo "deb [trusted=yes] $mirror $2 main" >"$work/list"
  archive_options=(-q -o "Dir::State=$work/state" -o "Dir::State::status=$work/status" -o "Dir::Cache=$work/cache"
    -o "Dir::Etc::sourcelist=$work/list" -o Dir::Etc::sourceparts=- -o APT::Sandbox::User=root -o Acquire::Retries=1
    -o Acquire::http::Timeout=20 -o "APT::Architecture=$3" -o "APT::Architectures=$3" -o Acquire::Languages=none)
  timeout 300 apt-get "${archive_options[@]}" update >"$work/log" 2>&1 ||
    { echo "$2 for $3 cannot be had: $(tail -n 1 "$work/log")" && return 1; }
}

# archive_depends PACKAGE PATTERN: the packages that it depends on and whose name matches.
archive_depends() {
  apt-cache "${archive_options[@]}" --no-all-versions show "$1" 2>/dev/null | sed -n 's/^\(Pre-\)\?Depends: //p' |
    tr ',|' '\n\n' | sed 's/^ *//; s/[ (:].*//' | grep -E -- "$2" | sort -u
}

# archive_get DIRECTORY PACKAGE...: downloads them there; dependencies are not followed.
archive_get() {
  local directory=$1
  shift
  (cd "$directory" && timeout 600 apt-get "${archive_options[@]}" download "$@" >>"$directory/log" 2>&1) ||
    { echo "$* cannot be had: $(tail -n 1 "$directory/log")" && return 1; }
}
