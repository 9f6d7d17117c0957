#!/bin/bash
# SPDX-License-Identifier: MIT
# Each shell block of README.md is known here by its first line, and run as it stands: in namespaces of its own, on a
# machine with a driver and a compat package. What needs a systemd, a Nix or minutes is checked as far as it can be here,
# and named with the test that runs it.
if [ "$(id -u)" = 0 ] && [ -z "${GLDRIVERFS_README:-}" ]; then
  GLDRIVERFS_README=1 exec unshare -m --propagation private --pid --fork --kill-child --mount-proc "$0"
fi
. "$(dirname "$0")/lib/fixture.sh"

# blocks/N: what is indented by four spaces, or fenced as sh, bash or nothing.
mkdir "$T/blocks"
awk -v directory="$T/blocks" '
  function end() { if (inside) close(file); inside = 0 }
  function line(text) { if (!inside) { file = sprintf("%s/%02d", directory, ++n); inside = 1 } print text >file }
  /^```/ { end(); fence = fence ? "" : $0; next }
  fence { if (fence ~ /^```(sh|bash|shell|console)?$/) line($0); next }
  /^    / && (blank || inside) { line(substr($0, 5)); next }
  { end(); blank = /^$/ }' README.md

run=0 elsewhere=0
run_block() { # FILE — as root, each line must succeed
  run=$((run + 1))
  (cd "$here" && bash -euo pipefail "$1") >"$T/out" 2>&1 || fail "exit $?, README's block: $(cat "$1" "$T/out")"
}
elsewhere() { # TEST-FILE TEXT — another test runs it; TEXT is there
  elsewhere=$((elsewhere + 1))
  grep -qF -e "$2" "$1" || fail "$1 does not run it: no '$2'"
}
make_targets() { # FILE — each is one, with the variables that are told
  local words
  sed -n 's/ *#.*//; s/^make *//p' "$1" >"$T/targets"
  while read -ra words; do
    make -C "$T/source" -n "${words[@]}" >"$T/out" 2>&1 || fail "make ${words[*]}: $(cat "$T/out")"
  done <"$T/targets"
}
units_exist() { # FILE
  local unit
  for unit in $(grep -o 'gldriverfs[@a-z]*\.service\|gldriverfs@' "$1"); do
    [ -e "systemd/${unit%.service}.service.in" ] || fail "README names $unit"
  done
}

here=$PWD
mkdir "$T/bin" "$T/source"
cp -r Makefile fs tools tests conf systemd "$T/source"
ln -s "$GLDRIVERFS" "$GLDRIVERCTL" "$T/bin"
PATH=$T/bin:$PATH
able=yes
{ is_real_root && (: <>/dev/fuse) 2>/dev/null; } || able=
if [ -n "$able" ]; then
  own_etc
  mkdir -p /etc/gldriverfs
  make_driver "$HOST" 470.1 11040
  make_driver "$COMPAT" 535.1 12020
  printf '[layer compat]\nrole = compat\ndir = %s\n[layer host]\nrole = host\ndir = %s\n' "$COMPAT" "$HOST" >/etc/gldriverfs/gldriverfs.conf
  chmod 755 "$T"
fi
driver=/run/opengl-driver
is_up() { grep -qF " $driver " /proc/self/mountinfo; }
has() { grep -qF -e "$1" "$T/out" || fail "no '$1' in: $(cat "$T/out")"; }

for block in "$T"/blocks/*; do
  read -r first <"$block"
  case $first in
  "program with RUNPATH"* | bin/gldriverctl*) continue ;; # a picture; a list, which install.sh compares
  "make deps"*)
    make_targets "$block"
    elsewhere tests/run.sh "script/demo tests/demo.sh"
    continue
    ;;
  "make install"*)
    make_targets "$block"
    elsewhere tests/install.sh "run_make uninstall"
    continue
    ;;
  "systemctl daemon-reload"*)
    units_exist "$block"
    elsewhere tests/long/service.sh "systemctl start gldriverfs"
    continue
    ;;
  "gldriverctl compat reset"*)
    units_exist "$block"
    make_targets "$block"
    elsewhere tests/long/service.sh "dpkg -P"
    continue
    ;;
  "nix build"*)
    elsewhere tests/long/nix.sh "nix-on-ubuntu.sh"
    continue
    ;;
  esac
  [ -n "$able" ] || continue
  case $first in
  "gldriverctl check "*)
    run_block "$block"
    has "host-driver"
    ;;
  "gldriverfs "*"/run/opengl-driver;"*)
    run_block "$block"
    has "libcuda.so.1 comes from layer compat"
    has "compat.mode = on"
    wait_for not is_up
    rm -f /run/gldriverfs/gldriverfs.override.conf
    ;;
  "gldriverfs "*'$XDG_RUNTIME_DIR'*)
    # Root's run, with a user's directory: user.sh has the real user.
    sed -i "s|^gldriverfs .*|gldriverfs \"\$XDG_RUNTIME_DIR/opengl-driver\"|" "$block"
    mkdir -p /run/user/0/opengl-driver
    export XDG_RUNTIME_DIR=/run/user/0
    run_block "$block"
    unset XDG_RUNTIME_DIR
    elsewhere tests/mount/user.sh "as someone"
    wait_for not test -e /run/user/0/opengl-driver/lib
    ;;
  "bwrap "*)
    command -v bwrap >/dev/null || fail "no bwrap: make deps"
    gldriverfs
    run_block "$block"
    has libcuda.so.535.1
    # What is switched outside is seen inside, at the place that was bound.
    mkfifo "$T/told" "$T/asked"
    sed "s|ls /run/opengl-driver/lib|--bind $T $T sh -c 'echo >$T/told; read line <$T/asked; ls /run/opengl-driver/lib'|" "$block" >"$T/waiting"
    timeout 60 bash "$T/waiting" >"$T/out" 2>&1 &
    read -r _ <"$T/told"
    gldriverctl compat off >/dev/null
    echo >"$T/asked"
    wait $! || fail "bwrap: $(cat "$T/out")"
    has libcuda.so.470.1
    gldriverctl compat reset >/dev/null
    umount $driver
    wait_for not is_up
    wait_for not gldriverctl status >/dev/null 2>&1
    # Bound before there is a mount: it comes.
    timeout 60 bash "$T/waiting" >"$T/out" 2>&1 &
    read -r _ <"$T/told"
    gldriverfs
    echo >"$T/asked"
    wait $! || fail "bwrap before the mount: $(cat "$T/out")"
    has libcuda.so.535.1
    umount $driver
    wait_for not is_up
    ;;
  "make && tests/on-jetson.sh")
    # No GPU is here: the fake libcuda has no cuInit, and that is what the report says.
    run=$((run + 1))
    expect_exit 1 tests/on-jetson.sh "$T/report"
    [ "$(grep -c -e '-- WRONG: with compat [a-z]* libcuda does not work' "$T/report")" = 3 ] || fail "$(cat "$T/report")"
    [ "$(grep -c -e '-- WRONG' "$T/report")" = 3 ] || fail "$(grep -e '-- WRONG' "$T/report")"
    expect_same "$(sed -n 's/^cuDriverGetVersion: error 0, value //p' "$T/report" | paste -sd' ')" "11040 12020 12020"
    grep -q '^loaded: .*/mnt/lib/libcuda' "$T/report" || fail "$(grep loaded "$T/report")"
    not grep -qF "$(uname -n)" "$T/report" || fail "the report has the host's name"
    not grep -F gldriverfs-jetson /proc/self/mountinfo || fail "a mount is left"
    ;;
  *) fail "README has a block that no test runs; it begins: $first" ;;
  esac
done
[ -n "$able" ] || skip "what mounts: needs root and /dev/fuse"
echo "$run blocks run here, $elsewhere by other tests"
[ "$run" -ge 5 ] && [ "$elsewhere" -ge 6 ] || fail "README's blocks are not found"
