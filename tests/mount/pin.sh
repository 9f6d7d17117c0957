#!/bin/bash
# SPDX-License-Identifier: MIT
# runpath = pin: what a running program loads later belongs to the libcuda that it loaded first, whatever was toggled
# since; a file has the same bytes and inode in every generation, in all presentations; set directories serve what lib/
# served, and cost no request in steady state.
. "$(dirname "$0")/../lib/fixture.sh"
need_root
need_fuse

make_late_driver "$HOST" 470.1 host
make_late_driver "$COMPAT" 535.1 compat
rm "$COMPAT/libnvidia-ml.so"*

other_worker() { [ "$(daemon_pid)" != "$1" ]; }

# Loads libcuda, says so, and loads the rest from inside libcuda for each line that it reads.
"$CC" -O1 -x c - -o "$T/program" "-Wl,-rpath,$MNT/lib" -Wl,--enable-new-dtags -ldl <<'EOF'
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
int main(void) {
  void *cuda = dlopen("libcuda.so.1", RTLD_NOW);
  void *(*sibling)(const char *) = cuda ? (void *(*)(const char *))dlsym(cuda, "sibling") : 0;
  char line[256];
  if (!sibling)
    return puts(dlerror()), 1;
  puts(((const char *(*)(void))dlsym(cuda, "who"))());
  fflush(stdout);
  while (fgets(line, sizeof(line), stdin)) {
    line[strcspn(line, "\n")] = 0;
    void *library = sibling(line);
    puts(library ? ((const char *(*)(void))dlsym(library, "who"))() : dlerror());
    fflush(stdout);
  }
  return 0;
}
EOF

# The bytes and inodes of all files, by their names' targets.
state() { (cd "$MNT/lib" && stat -L -c '%n %i %s' libcuda.so.1 libnvidia-ptxjitcompiler.so.1 libnvidia-ml.so.1 && sha256sum libcuda.so.1 libnvidia-ptxjitcompiler.so.1 libnvidia-ml.so.1); }
set_of() { readelf -dW "$MNT/lib/libcuda.so.1" | sed -n 's/.*set\/\([0-9a-f]*\)\/lib.*/\1/p'; }

for present in auto file symlink; do
  toggle_policy "mode = off" "[gldriverfs]" "present = $present"
  start_daemon
  before=$(state) set=$(set_of)
  expect_same "$(readelf -dW "$MNT/lib/libcuda.so.1" | sed -n 's/.*(RUNPATH).*\[\(.*\)\]/\1/p')" \
    "\$ORIGIN/../.gldriverfs/set/$set/lib:$MNT/.gldriverfs/set/$set/lib"
  expect_same "$(readlink "$MNT/.gldriverfs/set/$set/.gldriverfs")" ../..
  expect_same "$(stat -L -c %i "$MNT/.gldriverfs/set/$set/lib/libcuda.so.1")" "$(stat -L -c %i "$MNT/lib/libcuda.so.1")"

  mkfifo "$T/to" "$T/from"
  "$T/program" <"$T/to" >"$T/from" &
  exec 7>"$T/to" 8<"$T/from"
  read -rt 10 said <&8
  expect_same "$said" host
  ctl compat on
  expect_who libcuda.so.1 compat
  now=$(set_of)
  if [ -z "$now" ] || [ "$now" = "$set" ]; then fail "the sets have one id: $set"; fi
  expect_who libnvidia-ptxjitcompiler.so.1 compat
  for name in libnvidia-ptxjitcompiler.so.1 libnvidia-nvvm.so.4; do
    echo $name >&7
    read -rt 10 said <&8
    expect_same "$said" host "$name for the host's libcuda, with compat on"
  done
  # What is of no set is the same for both.
  echo libnvidia-ml.so.1 >&7
  read -rt 10 said <&8
  expect_same "$said" host
  exec 7>&- 8<&-
  wait
  rm "$T/to" "$T/from"

  # Both sets are served, each as lib/ is with it.
  expect_same "$("$T/probe" "$MNT/.gldriverfs/set/$set/lib/libnvidia-ptxjitcompiler.so.1")" host
  expect_same "$("$T/probe" "$MNT/.gldriverfs/set/$now/lib/libnvidia-ptxjitcompiler.so.1")" compat
  expect_same "$(cd "$MNT/lib" && ls -A)" "$(cd "$MNT/.gldriverfs/set/$now/lib" && ls -A)"
  expect_same "$(find "$MNT" -mindepth 1 -maxdepth 1 -printf '%f\n')" lib "the root lists"
  expect_no_requests "a set directory" "$HELPERS/steady" "$MNT/.gldriverfs/set/$set/lib" 20

  ctl compat off
  expect_same "$(state)" "$before" "after two toggles"
  expect_same "$(cd "$MNT/lib" && ls -A)" "$(cd "$MNT/.gldriverfs/set/$set/lib" && ls -A)"
  ctl compat reset
  stop_daemon
done

# The last 8 earlier sets stay, and the one of a program that runs since long, whatever became of the host's files.
toggle_policy "mode = off"
start_daemon
first=$(set_of)
mkfifo "$T/to" "$T/from"
for i in $(seq 9); do
  make_lib "$HOST/libnvidia-nvvm.so.4" libnvidia-nvvm.so.4 "host$i"
  ctl reload
  [ "$i" = 9 ] || [ -e "$MNT/.gldriverfs/set/$first" ] || fail "the set $i back is gone"
done
expect_absent "$MNT/.gldriverfs/set/$first"
first=$(set_of)
"$T/program" <"$T/to" >"$T/from" &
exec 7>"$T/to" 8<"$T/from"
read -rt 10 said <&8
expect_same "$said" host
for i in $(seq 20); do
  make_late_driver "$HOST" 470.1 "upgrade$i"
  ctl reload
  [ $((i % 7)) != 0 ] || { worker=$(daemon_pid) && kill -KILL "$worker" && wait_for other_worker "$worker"; }
done
expect_who libcuda.so.1 upgrade20
echo libnvidia-ptxjitcompiler.so.1 >&7
read -rt 10 said <&8
expect_same "$said" host "for a libcuda of 20 upgrades ago"
echo libnvidia-nvvm.so.4 >&7
read -rt 10 said <&8
expect_same "$said" host9 "for a libcuda of 20 upgrades ago"
exec 7>&- 8<&-
wait
stop_daemon

# A package of a Nix store too: its files are held open, which keeps the store's collector from it, and what is removed
# all the same goes on being served.
store=$T/root/nix/store
store_policy() { policy "[layer host]" "role = host" "root = $T/root" "dir = /nix/store/$1/lib"; }
held() { find "/proc/$(daemon_pid)/fd" -lname "$store/$1/lib/$2*" | grep -q .; }
make_late_driver "$store/a-driver/lib" 470.1 first
make_late_driver "$store/b-driver/lib" 535.1 second
store_policy a-driver
start_daemon
"$T/program" <"$T/to" >"$T/from" &
exec 7>"$T/to" 8<"$T/from"
read -rt 10 said <&8
expect_same "$said" first
store_policy b-driver
ctl reload
expect_who libcuda.so.1 second
for name in libcuda libnvidia-ptxjitcompiler libnvidia-nvvm; do
  held a-driver $name || fail "$name of a set in use is not held open: $(ls -l "/proc/$(daemon_pid)/fd")"
done
rm -r "$store/a-driver"
worker=$(daemon_pid)
kill -KILL "$worker"
wait_for other_worker "$worker"
for name in libnvidia-ptxjitcompiler.so.1 libnvidia-nvvm.so.4; do
  echo $name >&7
  read -rt 10 said <&8
  expect_same "$said" first "$name of a store path that is gone"
done
exec 7>&- 8<&-
wait
stop_daemon
