#!/bin/bash
# SPDX-License-Identifier: MIT
# `make install` puts below PREFIX in DESTDIR what README lists, and nothing else anywhere; `make uninstall` takes exactly
# that away. The units: units.sh. (The only test that runs make: two at once would make the same files.)
set -euo pipefail
cd "$(dirname "$0")/.."
build=${BUILD:-build/release}
T=${T:-$(mktemp -d)}
export T
prefix=$(cat "$build/prefix")
variant=()
[[ $build != *san* ]] || variant=(SAN=1)
tree=$T/tree

run_make() { make --no-print-directory "${variant[@]}" PREFIX="$prefix" DESTDIR="$tree" "$@" >"$T/make" 2>&1 || { cat "$T/make" && exit 1; }; }
umask 077 # an administrator's must not count
binary=$(stat -c %Y.%i "$build/gldriverfs")
run_make install
umask 022
[ "$binary" = "$(stat -c %Y.%i "$build/gldriverfs")" ] || { echo "install makes the daemon again" && exit 1; }

wanted=$(sed -n '/^    bin\/gldriverctl/,/^$/s/^    //p' README.md | tr -s ' ' '\n' | sort)
command -v scdoc >/dev/null || wanted=$(grep -v '^share/man/' <<<"$wanted")
got=$(find "$tree" ! -type d -printf '%P\n' | sort)
diff <(echo "$wanted") <(sed "s|^${prefix#/}/||" <<<"$got") || { echo "README (<) and install (>) differ" && exit 1; }
bad=$(find "$tree" -mindepth 1 \( -type d ! -perm 755 -o -type f -path '*bin/*' ! -perm 755 -o -type f -path '*/libexec/*' ! -perm 755 \
  -o -type f ! -path '*bin/*' ! -path '*/libexec/*' ! -perm 644 -o ! -type f ! -type d \) -printf '%M %P\n')
[ -z "$bad" ] || { echo "$bad" && exit 1; }
! grep -rlF "$tree" "$tree" || { echo "these know DESTDIR" && exit 1; }
"$tree$prefix/bin/gldriverfs" --version >/dev/null
grep -qF "ExecStart=$prefix/bin/gldriverfs " "$tree$prefix/lib/systemd/system/gldriverfs.service"
[ "$("$tree$prefix/bin/gldriverctl" --version)" = "gldriverctl $(sed -n 's/^VERSION = //p' Makefile)" ]

# The tables that it installs are those that it reads.
strings_of() { tr -c '[:print:]' '\n' <"$1"; }
strings_of "$tree$prefix/bin/gldriverfs" | grep -x "$prefix/lib/gldriverfs" >/dev/null || { echo "tables are sought elsewhere" && exit 1; }

rc=0
tests/units.sh "$tree" "$prefix" >"$T/units.log" 2>&1 || rc=$?
cat "$T/units.log"
[ $rc = 0 ] || [ $rc = 77 ] || exit 1

touch "$tree$prefix/share/doc/gldriverfs/mine" "$tree$prefix/bin/other"
run_make uninstall
left=$(find "$tree" ! -type d -printf '%P\n' | sort | paste -sd' ')
[ "$left" = "${prefix#/}/bin/other ${prefix#/}/share/doc/gldriverfs/mine" ] || { echo "uninstall leaves: $left" && exit 1; }
for directory in libexec/gldriverfs lib/gldriverfs share/doc/gldriverfs/examples; do
  [ ! -e "$tree$prefix/$directory" ] || { echo "uninstall leaves $directory" && exit 1; }
done
