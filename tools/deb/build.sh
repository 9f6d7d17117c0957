#!/bin/bash
# SPDX-License-Identifier: MIT
# build.sh TREE — makes build/gldriverfs_VERSION_ARCH.deb of what `make install PREFIX=/usr` put into TREE.
# Environment: VERSION.
set -euo pipefail
cd "$(dirname "$0")/../.."
tree=$1
for program in dpkg-deb dpkg-shlibdeps dpkg-gencontrol; do
  command -v $program >/dev/null || { echo "make deb: no $program: install dpkg-dev" >&2 && exit 1; }
done
umask 022
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || date +%s)}
doc=$tree/usr/share/doc/gldriverfs

# Debian's places for what `make install` has elsewhere.
install -D -m 644 conf/gldriverfs.conf "$tree/etc/gldriverfs/gldriverfs.conf"
rm "$doc/LICENSE" "$doc/gldriverfs.conf"
install -m 644 tools/deb/copyright "$doc/copyright"
sed "s/@VERSION@/$VERSION/; s/@DATE@/$(LC_ALL=C date -u -R -d "@$SOURCE_DATE_EPOCH")/" tools/deb/changelog.in >"$doc/changelog"
mv "$doc/NEWS" "$doc/NEWS.upstream"
gzip -n9 "$doc/changelog" "$doc/NEWS.upstream"
if [ -d "$tree/usr/share/man" ]; then find "$tree/usr/share/man" -type f -exec gzip -n9 {} +; fi
find "$tree" -type f -path '*/gldriver*' -perm /111 ! -name gldriverfs-detach -exec strip --strip-unneeded -R .comment -R .note {} +

# dpkg's tools want a source package around them.
work=build/deb/work
rm -rf $work
mkdir -p $work/debian "$tree/DEBIAN"
cp tools/deb/control $work/debian/control
zcat "$doc/changelog.gz" >$work/debian/changelog
tree=$(realpath "$tree")
mapfile -t binaries < <(find "$tree/usr" -type f -perm /111 ! -name gldriverfs-detach)
(
  cd $work
  dpkg-shlibdeps -Tdebian/substvars "${binaries[@]/#/-e}"
  dpkg-gencontrol -pgldriverfs -P"$tree" -Tdebian/substvars -fdebian/files -O"$tree/DEBIAN/control"
)
find "$tree/etc" -type f -printf '/etc/%P\n' | sort >"$tree/DEBIAN/conffiles"
for script in postinst prerm postrm; do install -m 755 tools/deb/$script "$tree/DEBIAN/$script"; done
(cd "$tree" && find . -type f ! -path "./DEBIAN/*" ! -path "./etc/*" -printf "%P\0" | xargs -0 md5sum | sort -k 2 >DEBIAN/md5sums)
dpkg-deb --root-owner-group -b "$tree" build >/dev/null
echo "build/gldriverfs_${VERSION}_$(dpkg --print-architecture).deb"
