#!/bin/sh
# SPDX-License-Identifier: MIT
# place.sh POINT DRIVER — makes the link POINT, in one step, a directory whose lib, share and etc lead into DRIVER; one
# that is missing is made. A directory, mounted on or not, is left alone.
set -eu
point=$1 driver=$2

if [ ! -L "$point" ] && [ -e "$point" ]; then
  exit 0
fi
new=$point.gldriverfs-$$
trap 'rm -rf "$new" "$new.old"' EXIT
mkdir -m 755 "$new"
for name in lib share etc; do
  ln -s "$driver/$name" "$new/$name"
done
if [ ! -L "$point" ]; then
  mv -T "$new" "$point"
elif ! mv --exchange -T "$new" "$point" 2>/dev/null; then
  # coreutils before 9.5: for a moment there is neither.
  mv -T "$point" "$new.old"
  mv -T "$new" "$point"
fi
