#!/bin/bash
# SPDX-License-Identifier: MIT
# What the NixOS module puts below the mount: laid out by its tmpfiles rules, it shows the plain driver whenever nobody
# serves the mount; a switch of the system, which applies the rules again, does not touch it. place.sh: a link in use
# becomes that directory in one step.
. "$(dirname "$0")/../lib/fixture.sh"
need_root
need_fuse

driver=$T/graphics-drivers
make_driver "$driver/lib" 535.1 driver
mkdir -p "$driver/share" "$driver/etc"
echo plain >"$driver/share/mark"
make_driver "$COMPAT" 550.1 compat
own_etc
mkdir -p /etc/gldriverfs
ln -s "$driver" /etc/gldriverfs/driver
MNT=/run/opengl-driver
policy "[layer host]" "role = host" "tree = $driver" "[layer compat]" "role = compat" "dir = $COMPAT" "[compat]" "mode = on"

sed -n '/^== tmpfiles$/,/^$/p' tests/nix/expected/plain | grep '^[a-zA-Z]' >"$T/rules"
[ "$(grep -c "$MNT" "$T/rules")" -ge 4 ] || fail "there are no rules in tests/nix/expected/plain"
# Where there is no systemd-tmpfiles: the two kinds of rule, as tmpfiles.d(5) has them.
apply_rules() { # [--boot]
  local kind path mode to
  if command -v systemd-tmpfiles >/dev/null; then
    systemd-tmpfiles --create --remove "$@" "$T/rules" 2>"$T/tmpfiles"
    [ ! -s "$T/tmpfiles" ] || fail "tmpfiles: $(cat "$T/tmpfiles")"
    return
  fi
  while read -r kind path mode _ _ _ to; do
    [[ $kind != *! ]] || [ "${1:-}" = --boot ] || continue
    case $kind in
    d*) [ -d "$path" ] || mkdir -m "$mode" "$path" ;;
    L*) [ -L "$path" ] || ln -s "$to" "$path" ;;
    esac
  done < <(sort -k 2 "$T/rules")
}
expect_plain() {
  not is_mounted
  expect_who libcuda.so.1 driver
  expect_same "$(cat $MNT/share/mark)" plain
}

apply_rules --boot
[ -d $MNT ] && [ ! -L $MNT ] || fail "$MNT is no directory"
expect_same "$(readlink $MNT/lib)" /etc/gldriverfs/driver/lib
expect_plain

start_daemon
expect_who libcuda.so.1 compat
expect_same "$(cat $MNT/share/mark)" plain
[ -d $MNT/lib ] && [ ! -L $MNT/lib ] || fail "the links are seen through the mount"
# A switch: no rule fails on the mount, where names are missing and nothing can be made.
expect_absent $MNT/nothing
rmdir "$driver/etc"
ctl reload
expect_absent $MNT/etc
served=$(generation)
apply_rules
sh systemd/nixos/place.sh $MNT /etc/gldriverfs/driver
expect_same "$(generation)" "$served"
is_mounted || fail "the mount is gone"
expect_absent $MNT/etc

# Stopped, and lost: what OnFailure= detaches.
stop_daemon
expect_plain
start_daemon
expect_who libcuda.so.1 compat
kill_daemon
expect_exit 1 cat $MNT/share/mark
umount -l $MNT
expect_plain

# A new driver: the links stay what they are.
make_driver "$T/newer/lib" 550.1 newer
ln -sfn "$T/newer" /etc/gldriverfs/driver
expect_who libcuda.so.1 newer
ln -sfn "$driver" /etc/gldriverfs/driver

# ---- place.sh; with a mv that can exchange, where this system's cannot.
mkdir "$T/bin" "$T/run"
if ! mv --help | grep -e --exchange >/dev/null; then
  cat >"$T/bin/mv" <<'END'
#!/usr/bin/perl
exec "/bin/mv", @ARGV unless $ARGV[0] eq "--exchange";
my ($new, $old) = @ARGV[2, 3];
exit(syscall($ENV{RENAMEAT2}, -100, $new, -100, $old, 2) == 0 ? 0 : 1);
END
  chmod +x "$T/bin/mv"
fi
RENAMEAT2=$([ "$(uname -m)" = x86_64 ] && echo 316 || echo 276)
export RENAMEAT2
point=$T/run/opengl-driver
place() { sh systemd/nixos/place.sh "$point" /etc/gldriverfs/driver; }
expect_placed() {
  expect_same "$(cd "$T/run" && find . | sort | xargs)" \
    ". ./opengl-driver ./opengl-driver/etc ./opengl-driver/lib ./opengl-driver/share" "$1"
  expect_same "$(readlink "$point/lib") $(stat -c %a "$point")" "/etc/gldriverfs/driver/lib 755" "$1"
}

place
expect_placed "none before"
inode=$(stat -c %i "$point")
place
expect_same "$(stat -c %i "$point")" "$inode" "a directory is left alone"

# Readers of a link see no moment without it.
before=$PATH
PATH=$T/bin:$PATH
for round in {1..10}; do
  rm -r "$point"
  ln -s "$driver" "$point"
  perl -e 'my ($file, $started, $stop) = @ARGV; my $failed = 0;
    do { open(my $f, "<", $file) or $failed++; -e $started or open(my $s, ">", $started) } until -e $stop;
    print "$failed\n"' "$point/lib/libcuda.so.1" "$T/started.$round" "$T/stop.$round" >"$T/failed" &
  wait_for test -e "$T/started.$round"
  place
  : >"$T/stop.$round"
  wait $!
  expect_same "$(cat "$T/failed")" 0 "failed opens in round $round"
  expect_placed "exchanged"
done
PATH=$before
rm -r "$point"
ln -s "$driver" "$point"
place
expect_placed "moved"

# What cannot be made leaves nothing behind.
rm -r "$point"
ln -s "$driver" "$point"
mount --bind "$T/run" "$T/run"
mount -o remount,bind,ro "$T/run"
not place 2>/dev/null
expect_same "$(cd "$T/run" && find . | sort | xargs)" ". ./opengl-driver"
