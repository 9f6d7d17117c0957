#!/bin/sh
# SPDX-License-Identifier: MIT
# nix-on-ubuntu.sh install PACKAGE | remove — the system service of the Nix-built PACKAGE (a path in the store, or a link
# to one) where no NixOS and no .deb installs it. The package is set in a profile, which is a GC root and keeps earlier
# versions; the units in /etc/systemd/system lead into the profile. Installing over an older version is a hand-over.
# DESTDIR: another machine's root; nothing is started there then.
set -eu
profile=${GLDRIVERFS_PROFILE:-/nix/var/nix/profiles/gldriverfs}
units=${DESTDIR:-}/etc/systemd/system tmpfiles=${DESTDIR:-}/etc/tmpfiles.d/gldriverfs.conf
PATH=$PATH:/nix/var/nix/profiles/default/bin
names="gldriverfs.service gldriverfs@.service gldriverfs-detach@.service"

live() {
  [ -n "${DESTDIR:-}" ] || "$@"
}

case ${1:-}:$# in
install:2)
  package=$(readlink -f "$2")
  [ -x "$package/bin/gldriverfs" ] || { echo "$2 is no package of gldriverfs" >&2 && exit 2; }
  nix-env --profile "$profile" --set "$package"
  mkdir -p "$units" "${tmpfiles%/*}"
  for name in $names; do
    sed "s|$package/|$profile/|g" "$package/lib/systemd/system/$name" >"$units/$name.new"
    mv "$units/$name.new" "$units/$name"
  done
  cp "$package/lib/tmpfiles.d/gldriverfs.conf" "$tmpfiles"
  live systemd-tmpfiles --create "$tmpfiles"
  live systemctl daemon-reload
  live systemctl enable gldriverfs.service
  # Starts it, or hands the mount over.
  live systemctl restart gldriverfs.service
  ;;
remove:1)
  live systemctl disable --now gldriverfs.service
  for name in $names; do rm -f "$units/$name"; done
  rm -f "$tmpfiles" "$profile" "$profile"-*-link
  live systemctl daemon-reload
  ;;
*)
  echo "usage: nix-on-ubuntu.sh install PACKAGE | remove" >&2
  exit 2
  ;;
esac
