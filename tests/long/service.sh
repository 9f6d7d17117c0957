#!/bin/bash
# SPDX-License-Identifier: MIT
# The package and its service under systemd as PID 1 (nspawn, this machine's root with an overlay): lintian; install, start,
# reload, kill, restart, upgrade under a reader, the watchdog, a take-over that fails, a binary that cannot be executed, a
# user's service, remove, purge. SUITES (bullseye trixie): also Debians with another systemd, where the package is built.
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
pause() { read -rt "$1" _ <> <(:) || true; }
drop_in() { # LINE... — of the service, for its next process; none: as it was
  rm -rf /run/systemd/system/gldriverfs.service.d
  mkdir -p /run/systemd/system/gldriverfs.service.d
  [ $# = 0 ] || printf '%s\n' "$@" >/run/systemd/system/gldriverfs.service.d/test.conf
  systemctl daemon-reload
}
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
  status_is() { [[ $(systemctl show -P StatusText gldriverfs) = "generation $(gldriverctl --json status | jq -r '.generation[:8]'), compat off ("*")$1" ]]; }
  status_is "" || fail "STATUS= is $(systemctl show -P StatusText gldriverfs)"

  echo "reload"
  systemctl reload gldriverfs
  printf '[compat]\nmode = maybe\n' >/etc/gldriverfs/gldriverfs.conf.d/zz.conf
  ! systemctl reload gldriverfs 2>/dev/null || fail "a bad policy is taken"
  journalctl -u gldriverfs --no-pager | grep -F zz.conf:2 >/dev/null || fail "the error is not told"
  status_is "; the last reload failed" || fail "STATUS= is $(systemctl show -P StatusText gldriverfs)"
  rm /etc/gldriverfs/gldriverfs.conf.d/zz.conf
  cmp $lib /srv/driver/libcuda.so.1.1
  # A library's version is asked of it in a child that is another user.
  printf '[gldriverfs]\ndriver-probe = yes\n' >/etc/gldriverfs/gldriverfs.conf.d/probe.conf
  systemctl reload gldriverfs
  status_is "" || fail "STATUS= is $(systemctl show -P StatusText gldriverfs)"
  gldriverctl --json facts | jq -e '.facts[] | select(.name == "host-cuda" and .value == "12.3")' >/dev/null ||
    { gldriverctl facts && fail "the probe"; }

  drop_in '[Service]' 'WatchdogSec=1' # of the next process
  read_for_ever &
  reader=$!
  for how in "kill -9" "systemctl restart" "kill -STOP" "dpkg -i"; do
    echo "$how"
    before=$(main_pid)
    case $how in
    kill*) $how "$before" ;; # a stopped one is the watchdog's
    systemctl*) systemctl restart gldriverfs ;;
    dpkg*) dpkg -i /out/second.deb ;;
    esac
    until_true is_another "$before"
    cmp $lib /srv/driver/libcuda.so.1.1
  done
  # One that lives is left alone.
  before=$(main_pid)
  pause 3
  [ "$(main_pid)" = "$before" ] || fail "the watchdog took one that lives"
  journalctl -u gldriverfs --no-pager | grep -ci 'watchdog timeout' >/run/barks
  [ "$(cat /run/barks)" = 1 ] || fail "the watchdog barked $(cat /run/barks) times"

  echo "a take-over that fails once"
  drop_in '[Service]' 'ExecStart=' "ExecStart=/bin/sh -c 'if [ -s /run/short ]; then sed -i 1d /run/short; ulimit -n 8; fi; \\
    exec /usr/bin/gldriverfs --foreground --fd-store $mnt'"
  echo once >/run/short
  before=$(main_pid)
  kill -9 "$before"
  until_true is_another "$before"
  until_true [ ! -s /run/short ]
  until_true is_another "$before"
  cmp $lib /srv/driver/libcuda.so.1.1
  : >/run/enough
  wait $reader
  read -r reads failed </run/reads
  echo "$reads reads, $failed failed"
  [ "$reads" -gt 10 ] && [ "$failed" = 0 ] || fail "reads failed"

  echo "take-overs that fail for ever"
  seq 100 >/run/short
  kill -9 "$(main_pid)"
  until_true is_unmounted
  [ "$(systemctl is-active gldriverfs)" = failed ] || fail "$(systemctl is-active gldriverfs)"
  [ "$(wc -l </run/short)" = 94 ] || fail "it was tried $((100 - $(wc -l </run/short))) times"
  ls $mnt >/dev/null || fail "what lies under the mount is out of reach"
  drop_in
  systemctl reset-failed gldriverfs
  systemctl start gldriverfs

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
  ! pgrep -x gldriverfs || fail "stop leaves a process"
  bash /out/user-inside.sh || fail "a user's service"
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
  systemctl --version | head -n 1
  inside
  exit
fi

. tests/lib/nspawn.sh
[ "$(id -u)" = 0 ] || { echo "needs root" && exit 77; }
for program in systemd-nspawn dpkg-deb lintian jq; do
  command -v $program >/dev/null || { echo "needs $program" && exit 77; }
done
echo 'int cuDriverGetVersion(int *version); int cuDriverGetVersion(int *version) { *version = 12030; return 0; }' >"$T/cuda.c"

run_in() { # ROOT DEB
  local out rc=0
  out=$(mktemp -d "$T/out.XXXX")
  chmod 755 "$T" "$out"
  cp "$2" "$out/first.deb"
  rm -rf "$T/second"
  dpkg-deb -R "$2" "$T/second"
  sed -i 's/^Version: .*/&.1/' "$T/second/DEBIAN/control"
  dpkg-deb --root-owner-group -b "$T/second" "$out/second.deb" >/dev/null
  cc -shared -fPIC -Wl,-soname,libcuda.so.1 -o "$out/libcuda.so.1.1" "$T/cuda.c"
  sed 's|^cd "$(dirname.*|cd /|' "$0" >"$out/service.sh"
  cp tests/lib/user-inside.sh "$out"
  echo 'bash -euo pipefail /out/service.sh --inside' >"$out/inside"
  boot "$1" "$out" inside || rc=$?
  cat "$out/log" 2>/dev/null || tail -n 20 "$out/console"
  return $rc
}
# A suite's root with what the package is built with; kept, it takes minutes.
suite_root() { # SUITE
  local root=${GLDRIVERFS_CACHE:-${TMPDIR:-/tmp}/gldriverfs-cache-$(id -u)}/root-$1
  [ ! -d "$root" ] || { echo "$root" && return; }
  command -v debootstrap >/dev/null || { echo "needs debootstrap" >&2 && return 77; }
  rm -rf --one-file-system "$root.new"
  mkdir -p "${root%/*}" && chmod 700 "${root%/*}"
  { debootstrap --variant=minbase "$1" "$root.new" && cp /etc/resolv.conf "$root.new/etc/" &&
    printf '#!/bin/sh\nexit 101\n' >"$root.new/usr/sbin/policy-rc.d" && chmod 755 "$root.new/usr/sbin/policy-rc.d" &&
    DEBIAN_FRONTEND=noninteractive chroot "$root.new" apt-get -q -y install --no-install-recommends systemd systemd-sysv dbus \
      dbus-user-session libpam-systemd fuse3 libfuse3-dev libinih-dev libjansson-dev uuid-dev pkg-config gcc libc6-dev make jq \
      procps bash-completion scdoc dpkg-dev; } >"$T/suite.log" 2>&1 ||
    { echo "$1 cannot be had: $(tail -n 1 "$T/suite.log")" >&2 && return 77; }
  mv "$root.new" "$root"
  echo "$root"
}
build_in() { # ROOT — its package, built from the commit; prints the name
  rm -rf "$T/src"
  mkdir "$T/src"
  git archive HEAD | tar -x -C "$T/src"
  # shellcheck disable=SC2016 # the inner shell's
  unshare -m --propagation private sh -c 'mkdir -p "$1/src" && mount --bind "$2" "$1/src" && chroot "$1" make -C /src \
    --no-print-directory deb' sh "$1" "$T/src" >"$T/make" 2>&1 || { tail -n 20 "$T/make" >&2 && return 1; }
  echo "$T/src/$(tail -n 1 "$T/make")"
}

rc=0
if [ -z "${ONLY_SUITES:-}" ]; then
  make --no-print-directory deb >"$T/make" 2>&1 || { tail -n 20 "$T/make" && exit 1; }
  deb=$(realpath "$(tail -n 1 "$T/make")")
  lintian --allow-root --fail-on error "$deb" 2>&1 | grep -v ^W: || true
  lintian --allow-root --fail-on error "$deb" >/dev/null 2>&1 || fail "lintian"
  run_in / "$deb"
fi
for suite in ${SUITES:-bullseye trixie}; do
  root=$(suite_root "$suite") || { rc=$? && continue; }
  deb=$(build_in "$root") || fail "$suite: the package"
  run_in "$root" "$deb" || fail "$suite"
done
exit $rc
