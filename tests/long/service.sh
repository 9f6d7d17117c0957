#!/bin/bash
# SPDX-License-Identifier: MIT
# The package and its service under systemd as PID 1 (nspawn, this machine's root with an overlay): lintian; install, start,
# reload, kill, restart, upgrade under a reader, a binary that cannot be executed, remove, purge.
set -euo pipefail
cd "$(dirname "$0")/../.."
T=${T:-$(mktemp -d)}
mnt=/run/opengl-driver lib=/run/opengl-driver/lib/libcuda.so.1

fail() { echo "FAIL: $*" && exit 1; }
until_true() { # COMMAND... — for what systemd does on its own
  local end=$((SECONDS + 20))
  until "$@"; do [ $SECONDS -lt $end ] || fail "never: $*"; done
}
main_pid() { systemctl show -P MainPID gldriverfs; }
is_another() { [ "$(main_pid)" != "$1" ] && [ "$(main_pid)" != 0 ] && [ "$(systemctl is-active gldriverfs)" = active ]; }
is_mounted() { findmnt -n -o SOURCE "$mnt" | grep -x gldriverfs:gldriverfs >/dev/null; }
is_unmounted() { ! findmnt "$mnt" >/dev/null; }
# What a program does all the time; it counts what failed.
read_for_ever() {
  local failed=0 done=0
  while [ ! -e /run/enough ]; do
    stat -f "$mnt" >/dev/null 2>&1 && cmp -s "$lib" /srv/driver/libcuda.so.1.1 || failed=$((failed + 1))
    done=$((done + 1))
  done
  echo "$done $failed" >/run/reads
}

inside() {
  local before reader rc=0
  [ -c /dev/fuse ] || mknod -m 666 /dev/fuse c 10 229
  mkdir -p /srv/driver && cp /out/libcuda.so.1.1 /srv/driver && ln -s libcuda.so.1.1 /srv/driver/libcuda.so.1
  dpkg -i /out/first.deb
  [ "$(systemctl is-enabled gldriverfs)" = disabled ] || fail "the package enables its service"
  [ -d /run/gldriverfs ] && [ -d $mnt ] || fail "tmpfiles"
  mkdir -p /etc/gldriverfs/gldriverfs.conf.d
  printf '[gldriverfs]\nrunpath = none\n[layer host]\ndir = /srv/driver\n' >/etc/gldriverfs/gldriverfs.conf.d/test.conf

  echo "start"
  systemctl start gldriverfs || { journalctl -u gldriverfs --no-pager && fail "start"; }
  is_mounted || fail "PID 1 does not see the mount"
  cmp $lib /srv/driver/libcuda.so.1.1
  gldriverctl status >/dev/null

  echo "reload"
  systemctl reload gldriverfs
  printf '[compat]\nmode = maybe\n' >/etc/gldriverfs/gldriverfs.conf.d/zz.conf
  ! systemctl reload gldriverfs 2>/dev/null || fail "a bad policy is taken"
  journalctl -u gldriverfs --no-pager | grep -F zz.conf:2 >/dev/null || fail "the error is not told"
  rm /etc/gldriverfs/gldriverfs.conf.d/zz.conf
  cmp $lib /srv/driver/libcuda.so.1.1
  # A library's version is asked of it in a child that is another user.
  printf '[gldriverfs]\ndriver-probe = yes\n' >/etc/gldriverfs/gldriverfs.conf.d/probe.conf
  systemctl reload gldriverfs
  gldriverctl --json facts | jq -e '.facts[] | select(.name == "host-cuda" and .value == "12.3")' >/dev/null ||
    { gldriverctl facts && fail "the probe"; }

  read_for_ever &
  reader=$!
  for how in "kill -9" "systemctl restart" "dpkg -i"; do
    echo "$how"
    before=$(main_pid)
    case $how in
    kill*) kill -9 "$before" ;;
    systemctl*) systemctl restart gldriverfs ;;
    dpkg*) dpkg -i /out/second.deb ;;
    esac
    until_true is_another "$before"
    cmp $lib /srv/driver/libcuda.so.1.1
  done
  : >/run/enough
  wait $reader
  read -r reads failed </run/reads
  echo "$reads reads, $failed failed"
  [ "$reads" -gt 10 ] && [ "$failed" = 0 ] || fail "reads failed"

  ! journalctl --no-pager | grep -F 'fchmod() of' || fail "tmpfiles touches the mount"
  echo "a binary that cannot be executed"
  chmod -x /usr/bin/gldriverfs
  kill -9 "$(main_pid)"
  until_true is_unmounted
  [ "$(systemctl is-active gldriverfs)" = failed ] || fail "$(systemctl is-active gldriverfs)"
  ls $mnt >/dev/null || fail "what lies under the mount is out of reach"
  chmod +x /usr/bin/gldriverfs

  echo "an administrator's start limit"
  mkdir -p /run/systemd/system/gldriverfs.service.d
  printf '[Unit]\nStartLimitIntervalSec=600\nStartLimitBurst=2\n' >/run/systemd/system/gldriverfs.service.d/limit.conf
  systemctl daemon-reload
  systemctl reset-failed gldriverfs
  systemctl start gldriverfs
  while before=$(main_pid) && [ "$before" != 0 ] && [ "$(systemctl is-active gldriverfs)" != failed ]; do
    kill -9 "$before" 2>/dev/null || true
    until_true eval '[ "$(main_pid)" != '"$before"' ]'
  done
  until_true is_unmounted
  rm -r /run/systemd/system/gldriverfs.service.d
  systemctl daemon-reload
  systemctl reset-failed gldriverfs

  echo "a mount that is served is not detached"
  systemctl enable --now gldriverfs 2>/dev/null
  systemctl start 'gldriverfs-detach@run-opengl\x2ddriver.service'
  is_mounted || fail "a living mount was detached"
  systemctl stop gldriverfs
  is_unmounted || fail "stop"
  printf '[gldriverfs]\nrunpath = none\n[layer host]\ndir = /srv/driver\n' >'/etc/gldriverfs/srv-the\x2dother.conf'
  systemctl start 'gldriverfs@srv-the\x2dother.service' || { journalctl --no-pager -u 'gldriverfs@*' && fail "a further mount"; }
  cmp /srv/the-other/lib/libcuda.so.1 /srv/driver/libcuda.so.1.1
  systemctl reload 'gldriverfs@srv-the\x2dother.service'
  systemctl restart 'gldriverfs@srv-the\x2dother.service'
  cmp /srv/the-other/lib/libcuda.so.1 /srv/driver/libcuda.so.1.1
  systemctl start gldriverfs

  echo "remove, purge"
  dpkg -r gldriverfs
  is_unmounted && ! findmnt /srv/the-other >/dev/null || fail "remove leaves a mount"
  [ -e /etc/gldriverfs/gldriverfs.conf ] || fail "remove takes the policy"
  dpkg -P gldriverfs
  for path in /etc/gldriverfs /usr/bin/gldriverfs /usr/lib/gldriverfs /usr/libexec/gldriverfs /usr/share/doc/gldriverfs \
    /etc/systemd/system/multi-user.target.wants/gldriverfs.service; do
    [ ! -e $path ] && [ ! -L $path ] || fail "purge leaves $path"
  done
  ! pgrep -x gldriverfs || rc=1
  return $rc
}
if [ "${1:-}" = --inside ]; then
  inside
  exit
fi

[ "$(id -u)" = 0 ] || { echo "needs root" && exit 77; }
for program in systemd-nspawn dpkg-deb lintian jq; do
  command -v $program >/dev/null || { echo "needs $program" && exit 77; }
done
make --no-print-directory deb >"$T/make" 2>&1 || { tail -n 20 "$T/make" && exit 1; }
deb=$(realpath "$(tail -n 1 "$T/make")")
lintian --allow-root --fail-on error "$deb" 2>&1 | grep -v ^W: || true
lintian --allow-root --fail-on error "$deb" >/dev/null 2>&1 || fail "lintian"

mkdir "$T/out" "$T/hostroot"
cp "$deb" "$T/out/first.deb"
dpkg-deb -R "$deb" "$T/second"
sed -i 's/^Version: .*/&.1/' "$T/second/DEBIAN/control"
dpkg-deb --root-owner-group -b "$T/second" "$T/out/second.deb" >/dev/null
cp "$0" "$T/out/service.sh"
echo 'int cuDriverGetVersion(int *version); int cuDriverGetVersion(int *version) { *version = 12030; return 0; }' >"$T/cuda.c"
cc -shared -fPIC -Wl,-soname,libcuda.so.1 -o "$T/out/libcuda.so.1.1" "$T/cuda.c"
cat >"$T/itest.service" <<END
[Unit]
SuccessAction=exit
FailureAction=exit
[Service]
Type=oneshot
WorkingDirectory=/
ExecStart=/out/inside
StandardOutput=file:/out/log
StandardError=inherit
END
printf '#!/bin/sh\nexec bash -euo pipefail /out/service.sh --inside\n' >"$T/out/inside"
chmod 755 "$T" "$T/out" "$T/out/inside"
sed -i 's|^cd "$(dirname.*|cd /|' "$T/out/service.sh"
# Without a cgroup manager of our own.
run=gldriverfs-$$
for hierarchy in /sys/fs/cgroup/systemd /sys/fs/cgroup/unified; do
  [ ! -d $hierarchy ] || { mkdir -p $hierarchy/$run && echo $$ >$hierarchy/$run/cgroup.procs; }
done
rc=0
# shellcheck disable=SC2016 # the inner shell's
unshare -m --propagation=slave sh -c 'mount --bind / "$1/hostroot" && SYSTEMD_NSPAWN_UNIFIED_HIERARCHY=1 exec systemd-nspawn -q \
  -D "$1/hostroot" --volatile=overlay --register=no --keep-unit -b --console=pipe --machine="$2" --capability=all \
  --system-call-filter=bpf --private-network --bind="$1/out:/out" \
  --bind-ro="$1/itest.service:/etc/systemd/system/itest.service" systemd.unit=itest.service' sh "$T" "$run" \
  >"$T/console" 2>&1 </dev/null || rc=$?
cat "$T/out/log" 2>/dev/null || tail -n 20 "$T/console"
exit $rc
