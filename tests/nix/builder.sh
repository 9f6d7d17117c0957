# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# builder.sh — nixpkgs' generic builder, its phases and hooks as far as package.nix uses them.
# shellcheck disable=SC2154 # what a derivation has is in the environment
set -euo pipefail
export NIX_CFLAGS_COMPILE
patchShebangs() { echo "patchShebangs $*"; }
wrapProgram() { # PROGRAM --prefix NAME SEPARATOR VALUE
  local hidden
  hidden=$(dirname "$1")/.$(basename "$1")-wrapped
  mv "$1" "$hidden"
  printf '#!/bin/bash\nexport %s=%q%s$%s\nexec %q "$@"\n' "$3" "$5" "$4" "$3" "$hidden" >"$1"
  chmod +x "$1"
}

cp -r "$src" source
chmod -R u+w source
cd source
eval "$postPatch"
# As stdenv: split, and $(out) is make's.
read -ra flags <<<"$makeFlags"
make -j2 "${flags[@]}"
make install "${flags[@]}"
eval "$postFixup"
