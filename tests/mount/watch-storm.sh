#!/bin/bash
# SPDX-License-Identifier: MIT
# watch = yes: an idle daemon makes no system call, what cannot matter is no reload, thousands of changes are a few,
# nothing is missed when inotify overflows; case A03's upgrade under programs that start all along.
. "$(dirname "$0")/../lib/fixture.sh"
. tests/lib/golden.sh
need_root
need_fuse
. tests/lib/watch.sh

make_driver "$HOST" 535.1 other

# --- A layer that is not there yet, through a link that is not there yet; idle; what cannot matter; a storm.
later=$W/later/deep/lib
start "[layer compat]" "optional = yes" "dir = $later" "[compat]" "mode = on" "[layer host]" "role = host" "dir = $HOST"
mkdir -p "$W/elsewhere/deep"
ln -s elsewhere "$W/later"
make_driver "$W/elsewhere/deep/lib" 550.1 compat
wait_for who_is libcuda.so.1 compat
rm "$W/later"
wait_for who_is libcuda.so.1 other

wait_for is_settled
# Being traced wakes it once.
follow all
read -rt 1 _ <>"$T/pause" || :
calls=$(wc -l <"$T/traces/calls")
read -rt 3 _ <>"$T/pause" || :
expect_same "$(wc -l <"$T/traces/calls")" "$calls" "system calls of an idle daemon: $(tail -n +"$calls" "$T/traces/calls")"
unfollow

follow openat
for i in {1..300}; do
  : >"$HOST/libsomething$i.so.1.dpkg-new"
  mv "$HOST/libsomething$i.so.1.dpkg-new" "$HOST/libsomething$i.so.1"
  : >"$HOST/.#libcuda.so.1"
  : >"$HOST/libcuda.so.535.1~"
  : >"$HOST/libcuda.so.535.1.dpkg-new"
done
rm "$HOST"/libsomething* "$HOST"/.#* "$HOST"/*~ "$HOST"/*.dpkg-new
wait_for is_settled
expect_same "$(reloads)" 0 "reloads for names that cannot matter"
mkdir "$W/unpacked"
for i in {1..3000}; do : >"$W/unpacked/libnvidia-x$i.so.1"; done
mv "$W"/unpacked/* "$HOST/"
make_lib "$HOST/libnvidia-fbc.so.1" libnvidia-fbc.so.1 last
wait_for who_is libnvidia-fbc.so.1 last
wait_for is_settled
unfollow
n=$(reloads)
if [ "$n" -lt 1 ] || [ "$n" -gt 4 ]; then fail "$n reloads for 3,000 files"; fi
rm "$HOST"/libnvidia-x*
wait_for is_settled

# --- More events than the queue holds: the first are lost, and with them the one that matters.
queue=$(cat /proc/sys/fs/inotify/max_queued_events)
if [ "$queue" -le 200000 ]; then
  kill -STOP "$(cat "$T/pid")"
  for ((i = 0; i <= queue; i++)); do : >"$HOST/libx$i.so.1"; done
  make_lib "$HOST/libnvidia-tls.so.1" libnvidia-tls.so.1 lost
  mkdir -p "$W/later/deep"
  make_driver "$later" 550.1 compat
  kill -CONT "$(cat "$T/pid")"
  wait_for who_is libnvidia-tls.so.1 lost
  wait_for who_is libcuda.so.1 compat
  # The watches are whole again.
  rm "$HOST/libnvidia-tls.so.1"
  wait_for is_absent libnvidia-tls.so.1
fi
stop_daemon

# --- A03's upgrade, as dpkg does it; programs start all along: each library is the old or the
# new one, none is ever missing, and the kernel's version stays as long as it is there.
rm -rf "$R" && mkdir "$R"
ROOT=$R
kernel_driver 535.86.05
upgrade=(libcuda libnvidia-ml libnvidia-ptxjitcompiler)
for name in "${upgrade[@]}"; do
  make_lib "$R/lib/$name.so.535.86.05" "$name.so.1" old
  make_lib "$T/new/$name.so.545.29.02" "$name.so.1" new
  ln -s "$name.so.535.86.05" "$R/lib/$name.so.1"
done
policy "[gldriverfs]" "watch = yes" "[layer host]" "role = host" "dir = /lib"
start_daemon --root "$R"
daemon_pid >"$T/pid"
"$T/probe" "${upgrade[@]/%/.so.1}" >/dev/null
(while [ ! -e "$T/traces/done" ]; do "$T/probe" "${upgrade[@]/%/.so.1}"; done >"$T/traces/loaded" 2>&1) &
loop=$!
for name in "${upgrade[@]}"; do
  cp "$T/new/$name.so.545.29.02" "$R/lib/$name.so.545.29.02.dpkg-new"
  ln -s "$name.so.545.29.02" "$R/lib/$name.so.1.dpkg-new"
  read -rt 0.4 _ <>"$T/pause" || :
  mv "$R/lib/$name.so.545.29.02.dpkg-new" "$R/lib/$name.so.545.29.02"
  mv -T "$R/lib/$name.so.1.dpkg-new" "$R/lib/$name.so.1"
  read -rt 0.4 _ <>"$T/pause" || :
done
wait_for is_settled
who_is libcuda.so.1 old || fail "the kernel's version is there and is not shown"
rm "$R"/lib/*535.86.05
for name in "${upgrade[@]}"; do
  wait_for who_is "$name.so.1" new
done
: >"$T/traces/done"
wait $loop
expect_same "$(sort -u "$T/traces/loaded" | paste -sd,)" new,old "of $(wc -l <"$T/traces/loaded") loads"
[ "$(wc -l <"$T/traces/loaded")" -gt 100 ] || fail "only $(wc -l <"$T/traces/loaded") loads"
stop_daemon
