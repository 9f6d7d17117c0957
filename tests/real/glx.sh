#!/bin/bash
# SPDX-License-Identifier: MIT
# The real 550 driver with its GL libraries as host and compat on: libGLX_nvidia still loads, because the host's
# libnvidia-gpucomp.so.550… stays: libnvidia-glcore NEEDs it.
. "$(dirname "$0")/../lib/fixture.sh"
. tests/lib/drivers.sh
need_root
need_fuse
need_driver 550 trixie libgl1-nvidia-glvnd-glx libglx-nvidia0 libegl-nvidia0 libnvidia-glcore libnvidia-eglcore \
  libnvidia-gpucomp libnvidia-tls libnvidia-glsi
host=$DRIVER
need_driver 535 bookworm
compat=$DRIVER

"$CC" -O1 -o "$T/load" "$SOURCES/load.c" -ldl -Wl,--enable-new-dtags "-Wl,-rpath,$MNT/lib"
for name in libGLX_nvidia.so.0 libEGL_nvidia.so.0; do
  # X11 and GLdispatch come from the system; without them the driver loads nowhere.
  ldd "$host/$name" 2>/dev/null | grep -E 'lib(X|GLdispatch|xcb).*not found' && skip "libX11, libXext or libGLdispatch are not installed"
done
make_driver "$T/newer" 999.1 newer
make_lib "$T/newer/libnvidia-gpucomp.so.999.1" libnvidia-gpucomp.so.999.1 newer

for directory in "$compat" "$T/newer"; do
  for present in file symlink; do
    policy "[gldriverfs]" "present = $present" "[layer compat]" "role = compat" "dir = $directory" "trust = yes" \
      "[layer host]" "role = host" "dir = $host" "trust = yes" "[compat]" "mode = off"
    start_daemon
    for mode in off on; do
      ctl compat $mode
      "$T/load" libGLX_nvidia.so.0 libEGL_nvidia.so.0 || fail "GL does not load with compat $mode, $directory"
      gpucomp=("$MNT"/lib/libnvidia-gpucomp.so.550.*)
      [ -e "${gpucomp[0]}" ] || fail "the host's gpucomp is gone with compat $mode"
    done
    expect_same "$(readlink "$MNT/lib/libcuda.so.1")" "$(basename "$(readlink -f "$directory/libcuda.so.1")")"
    stop_daemon
  done
done
