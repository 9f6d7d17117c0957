#!/bin/bash
# SPDX-License-Identifier: MIT
# Case A13: what must not leak from a host directory: libc and its family never, others when named.
. "$(dirname "$0")/../lib/fixture.sh"
need_root
need_fuse

make_driver "$HOST" 535.1 host
never="libc.so.6 ld-linux-x86-64.so.2 ld-linux-aarch64.so.1 libm.so.6 libpthread.so.0 libdl.so.2 librt.so.1"
asked="libstdc++.so.6 libgcc_s.so.1 libdrm.so.2 libvulkan.so.1 libv4l2.so.0 libX11.so.6 libffi.so.8 libexpat.so.1"
for name in $never $asked; do
  make_lib "$HOST/$name" "$name" leaked
done
none_of() {
  local name
  for name; do expect_absent "$MNT/lib/$name"; done
}

host_policy
start_daemon
# shellcheck disable=SC2086 # lists of names
none_of $never $asked
expect_who libcuda.so.1 host
stop_daemon

host_policy "include = lib*"
start_daemon
# shellcheck disable=SC2086
none_of $never $asked
stop_daemon

host_policy "include = libdrm.so.2" "include = libc.so.6" "include = ld-linux-x86-64.so.2"
start_daemon
expect_who libdrm.so.2 leaked
# shellcheck disable=SC2086
none_of $never
expect_has "$(status_of .)" libc.so.6
expect_has "$(ctl explain libc.so.6)" libc.so.6
# A libc that hides behind another file name is one by its SONAME.
make_lib "$HOST/libnvidia-tls.so.1" libc.so.6 hidden
ctl reload
none_of libc.so.6 libnvidia-tls.so.1
