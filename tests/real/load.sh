#!/bin/bash
# SPDX-License-Identifier: MIT
# The real driver with GL, EGL, encode and the rest in a directory that no loader knows: a program with nothing but a
# RUNPATH to lib/ loads every library with RTLD_NOW through the mount; the count that fails from the host path is printed.
. "$(dirname "$0")/../lib/fixture.sh"
. tests/lib/drivers.sh
need_root
need_fuse

"$CC" -O1 -o "$T/load" "$SOURCES/load.c" -ldl -Wl,--enable-new-dtags "-Wl,-rpath,$MNT/lib"
more=(libgl1-nvidia-glvnd-glx libglx-nvidia0 libegl-nvidia0 libgles-nvidia1 libgles-nvidia2 libnvidia-glcore
  libnvidia-eglcore libnvidia-glvkspirv libnvidia-rtcore libnvidia-cfg1 libnvidia-encode1 libnvcuvid1 libnvidia-fbc1
  libnvoptix1 libnvidia-ngx1 libnvidia-allocator1 libnvidia-opticalflow1 libnvidia-gpucomp libnvidia-tls libnvidia-glsi)

# What the driver takes from the system: where that is missing it loads nowhere.
loadable() { ! LD_LIBRARY_PATH=$DRIVER ldd "$1" 2>/dev/null | grep -q 'not found'; }

for pair in "535 bookworm" "550 trixie"; do
  # shellcheck disable=SC2086 # version and suite
  need_driver $pair "${more[@]}"
  for present in file symlink; do
    policy "[gldriverfs]" "present = $present" "[layer host]" "role = host" "dir = $DRIVER" "trust = yes"
    start_daemon
    served=0 failed=0 host=0 left=0
    for path in "$MNT"/lib/*.so*; do
      [ ! -L "$path" ] || continue
      name=${path##*/}
      if ! loadable "$DRIVER/$name"; then
        left=$((left + 1))
        continue
      fi
      served=$((served + 1))
      "$T/load" "$name" >"$T/out" 2>&1 || { failed=$((failed + 1)) && echo "$name: $(cat "$T/out")"; }
      "$T/load" "$DRIVER/$name" >"$T/out" 2>&1 || host=$((host + 1))
    done
    echo "driver ${pair% *}, present = $present: $served libraries, $failed fail through the mount, $host from the host path ($left need what this system lacks)"
    if [ $served = 0 ] || [ $failed != 0 ]; then fail "not every library loads"; fi
    stop_daemon
  done
done
