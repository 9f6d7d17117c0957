#!/bin/bash
# SPDX-License-Identifier: MIT
# deps.sh [lint|deb] — installs what `make`, `make check` and `make demo` need (with a word: what `make lint` or `make deb`
# needs too) on Debian and Ubuntu. Does nothing, at once, where nothing is missing.
set -euo pipefail

# A program that must be there, a library's pkg-config name, or the SONAME of one that is only loaded, and the package
# that has it.
needed="
program:cc:gcc
program:make:make
program:pkg-config:pkg-config
program:ar:binutils
program:jq:jq
program:fusermount3:fuse3
program:ldconfig:libc-bin
program:unshare:util-linux
program:ps:procps
program:strace:strace
program:bwrap:bubblewrap
soname:libvulkan.so.1:libvulkan1
library:fuse3:libfuse3-dev
library:inih:libinih-dev
library:uuid:uuid-dev
library:jansson:libjansson-dev
library:cmocka:libcmocka-dev"
lint="
program:clang-format:clang-format
program:clang-tidy:clang-tidy
program:cppcheck:cppcheck
program:shellcheck:shellcheck"
deb="
program:dpkg-shlibdeps:dpkg-dev
program:scdoc:scdoc"
case ${1:-} in
lint) needed+=$lint ;;
deb) needed+=$deb ;;
esac

has_program() {
  command -v "$1" >/dev/null || [ -x "/sbin/$1" ] || [ -x "/usr/sbin/$1" ]
}

# Where the library has no .pc file on this system, its package tells.
has_library() {
  pkg-config --exists "$1" 2>/dev/null ||
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$2" 2>/dev/null)" = installed ]
}

# A user's PATH may be without sbin; a Nix shell has what it lists, and no cache of the loader's.
has_soname() {
  [ -z "${IN_NIX_SHELL:-}" ] || return 0
  PATH=$PATH:/sbin:/usr/sbin ldconfig -p 2>/dev/null | grep -F "$1 " >/dev/null
}

missing=()
for row in $needed; do
  IFS=: read -r kind name package <<<"$row"
  "has_$kind" "$name" "$package" || missing+=("$package")
done
[ ${#missing[@]} -gt 0 ] || exit 0

echo "deps: missing: ${missing[*]}"
if ! command -v apt-get >/dev/null; then
  if [ -e /etc/NIXOS ] || command -v nix >/dev/null; then
    echo "deps: there is no apt-get here; on Nix: nix develop -c make" >&2
  else
    echo "deps: there is no apt-get here; install what your system calls these" >&2
  fi
  exit 1
fi
run=()
if [ "$(id -u)" != 0 ]; then
  run=(sudo)
  # CI must never be asked for a password.
  if [ "${CI:-}" = true ]; then run=(sudo -n); fi
  if ! command -v sudo >/dev/null || ! "${run[@]}" true; then
    echo "deps: not root and no sudo: run  apt-get install ${missing[*]}" >&2
    exit 1
  fi
fi
run+=(env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Lock::Timeout=120)
echo "deps: ${run[*]} install --no-install-recommends ${missing[*]}"
# Lists that are there may do; without, or when they are too old, they are fetched.
"${run[@]}" install --no-install-recommends "${missing[@]}" >/dev/null 2>&1 || {
  "${run[@]}" update
  "${run[@]}" install --no-install-recommends "${missing[@]}"
}
