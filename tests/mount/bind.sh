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

# What gets a RUNPATH is a file in all three.
for present in file auto symlink; do
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

# A link leads to the host's path: of another root it is promised only that the loader goes on to its next directory, and
# that the library loads where that path is bound too. On the host itself the bind is as good as the mount.
toggle_policy "mode = on" "[gldriverfs]" "present = symlink" "runpath = none"
start_daemon
expect_same "$(readlink "$MNT/lib/libcuda.so.1.1")" "$COMPAT/libcuda.so.1.1"
mkdir "$T/elsewhere"
mount --bind "$MNT" "$T/elsewhere"
cmp "$T/elsewhere/lib/libcuda.so.1" "$COMPAT/libcuda.so.1.1"
umount "$T/elsewhere"
mount --bind "$MNT" "$ROOT/driver"
chroot "$ROOT" /objects libcuda.so.1 >"$T/loaded" 2>&1 && fail "loaded: $(cat "$T/loaded")"
grep -q 'No such file' "$T/loaded" || fail "a dangling link is not simply passed over: $(cat "$T/loaded")"
mkdir -p "$ROOT$HOST" "$ROOT$COMPAT"
mount --bind "$HOST" "$ROOT$HOST"
mount --bind "$COMPAT" "$ROOT$COMPAT"
LD_LIBRARY_PATH=/driver/lib chroot "$ROOT" /objects libcuda.so.1 >"$T/loaded" || fail "$(cat "$T/loaded")"
umount "$ROOT$HOST" "$ROOT$COMPAT" "$ROOT/driver"
