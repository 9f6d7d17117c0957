#!/bin/bash
# SPDX-License-Identifier: MIT
# The mount bound at another path of a root that has nothing but a loader, a C library and a program: libcuda loads with
# all that it needs, and stays with its set.
. "$(dirname "$0")/../lib/fixture.sh"
need_root
need_fuse

make_lib "$HOST/libnvrm_gpu.so" libnvrm_gpu.so host libnvrm_sync.so libnvos.so
make_lib "$HOST/libnvrm_sync.so" libnvrm_sync.so host libnvos.so
make_lib "$HOST/libnvos.so" libnvos.so host
make_driver "$HOST" 470.1 host
make_lib "$COMPAT/libcuda.so.1.1" libcuda.so.1 compat libnvrm_gpu.so libnvidia-ptxjitcompiler.so.1
make_lib "$COMPAT/libnvidia-ptxjitcompiler.so.1" libnvidia-ptxjitcompiler.so.1 compat

ROOT=$T/root
mkdir -p "$ROOT/driver"
"$CC" -O1 -D_GNU_SOURCE -o "$ROOT/objects" "$SOURCES/objects.c" -ldl -Wl,-rpath,/driver/lib -Wl,--enable-new-dtags
ldd "$ROOT/objects" | grep -o '/[^ ]*' | while IFS= read -r path; do
  mkdir -p "$ROOT${path%/*}"
  cp -L "$path" "$ROOT$path"
done

for present in file auto; do
  toggle_policy "mode = on" "[gldriverfs]" "present = $present"
  start_daemon
  mount --bind "$MNT" "$ROOT/driver"
  chroot "$ROOT" /objects libcuda.so.1 >"$T/loaded" || fail "$(cat "$T/loaded")"
  for name in libcuda.so.1 libnvrm_gpu.so libnvrm_sync.so libnvos.so libnvidia-ptxjitcompiler.so.1; do
    grep -qE "^/driver/lib/.*$name\$|^/driver/lib/$name\$" "$T/loaded" || fail "$name is not from the bind: $(cat "$T/loaded")"
  done
  umount "$ROOT/driver"
  stop_daemon
done
