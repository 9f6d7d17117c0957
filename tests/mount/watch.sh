#!/bin/bash
# SPDX-License-Identifier: MIT
# watch = yes: every kind of change is followed without a reload by hand, upgrades as one reload or a few, nothing is
# missed when inotify overflows, and an idle daemon makes no system call. Case A03's upgrade under a probe in a loop.
. "$(dirname "$0")/../lib/fixture.sh"
need_root
need_fuse
command -v strace >/dev/null || skip "no strace"
TRACER=

# The policy and what is watched have directories where nothing else happens.
R=$T/root POLICY=$T/policy/policy.conf
mkdir -p "$T/policy" "$T/traces" "$R"/{run,etc,usr/lib}
who_is() { [ "$("$T/probe" "$1" 2>/dev/null || :)" = "$2" ]; }
is_absent() { [ ! -e "$MNT/lib/$1" ]; }
has_problem() { status_of -c .problems | grep -qF "$1"; }
is_healthy() { [ "$(status_of -c '[.problems[] | select(.level == "error")]')" = "[]" ]; }
make_probe "$T/probe" "$MNT/lib"

# System calls of the daemon are written to $T/traces/calls while they are followed.
follow() { # CALLS
  : >"$T/traces/calls"
  strace -f -qq -e trace="$1" -o "$T/traces/calls" -p "$(cat "$T/pid")" 2>"$T/traces/messages" &
  TRACER=$!
  wait_for grep -q "^TracerPid:.[1-9]" "/proc/$(cat "$T/pid")/status"
}
unfollow() {
  kill -INT "$TRACER"
  wait "$TRACER" || :
}
# Every load reads this policy file once.
reloads() { grep -c "openat(.*\"$POLICY\"" "$T/traces/calls" || :; }
# Nothing waits for quiet: the daemon's threads sleep, and have for some time.
switches() { cat /proc/"$(cat "$T/pid")"/task/*/status | awk '/ctxt_switches/ { n += $2 } END { print n }'; }
is_settled() {
  local before
  before=$(switches)
  read -rt 0.8 _ <>"$T/pause" || :
  [ "$(switches)" = "$before" ]
}

make_driver "$HOST" 535.1 host
make_driver "$HOST2" 535.1 other
make_driver "$T/third" 535.1 third
start() { # POLICY-LINE...
  policy "[gldriverfs]" "watch = yes" "runpath = none" "$@"
  start_daemon
  daemon_pid >"$T/pid"
}

# --- The library directory: replaced by rename, added, removed; running programs keep what they have.
start "[layer host]" "role = host" "dir = $HOST"
[ "$(status_of .watched)" -gt 2 ] || fail "the status counts $(status_of .watched) watched directories"
expect_has "$(ctl status)" "watched directories: $(status_of .watched)"
who_is libcuda.so.1 host || fail "not served"
cp "$HOST/libcuda.so.535.1" "$T/old.so"
exec 8<"$MNT/lib/libcuda.so.535.1"
inode=$(stat -c %i "$MNT/lib/libcuda.so.535.1")
cp "$HOST2/libcuda.so.535.1" "$HOST/libcuda.so.535.1.dpkg-new"
mv "$HOST/libcuda.so.535.1.dpkg-new" "$HOST/libcuda.so.535.1"
wait_for who_is libcuda.so.1 other
[ "$(stat -c %i "$MNT/lib/libcuda.so.535.1")" != "$inode" ] || fail "a replaced library has the old inode number"
cmp - "$T/old.so" <&8 || fail "an open file has changed"
exec 8<&-
make_lib "$HOST/libnvidia-tls.so.1" libnvidia-tls.so.1 tls
wait_for who_is libnvidia-tls.so.1 tls
rm "$HOST/libnvidia-tls.so.1"
wait_for is_absent libnvidia-tls.so.1
# Another owner's mode makes it unfit, and fit again.
chmod o+w "$HOST/libnvidia-ml.so.535.1"
wait_for is_absent libnvidia-ml.so.1
chmod o-w "$HOST/libnvidia-ml.so.535.1"
wait_for who_is libnvidia-ml.so.1 host
# The directory itself goes and comes again.
mv "$HOST" "$HOST.away"
wait_for has_problem "$HOST does not exist"
who_is libcuda.so.1 other || fail "a failed reload has taken the old view"
mv "$HOST.away" "$HOST"
wait_for is_healthy

# --- The policy: broken and mended, replaced by rename, through links.
cp "$POLICY" "$T/good"
echo "nonsense = 1" >>"$POLICY"
wait_for has_problem nonsense
cp "$T/good" "$POLICY"
wait_for is_healthy
sed "s|$HOST\$|$HOST2|" "$T/good" >"$T/second"
cp "$T/second" "$T/policy.new" && mv "$T/policy.new" "$POLICY"
make_lib "$HOST2/libnvidia-tls.so.1" libnvidia-tls.so.1 second
wait_for who_is libnvidia-tls.so.1 second
mkdir "$T"/static{1,2}
cp "$T/good" "$T/static1/x" && cp "$T/second" "$T/static2/x"
ln -s static1 "$T/static"
ln -s "$T/static/x" "$T/link" && mv "$T/link" "$POLICY"
wait_for is_absent libnvidia-tls.so.1
ln -s static2 "$T/static.new" && mv -T "$T/static.new" "$T/static"
wait_for who_is libnvidia-tls.so.1 second
sed "s|$HOST2\$|$T/third|" "$T/second" >"$T/static2/x"
wait_for who_is libcuda.so.1 third

# --- watch = no lets go of it all, and is followed no more; a reload that says yes takes it up again.
sed 's/watch = yes/watch = no/' "$T/second" >"$T/static2/x"
none_watched() { [ "$(status_of .watched)" = 0 ]; }
inotifies() { find "/proc/$(cat "$T/pid")/fd" -lname '*inotify*' | wc -l; }
expect_same "$(inotifies | sed 's/^[1-9].*/some/')" some
wait_for none_watched
expect_same "$(inotifies)" 0 "inotify with watch = no"
cp "$T/second" "$T/static2/x"
ctl reload
wait_for not none_watched
stop_daemon
rm "$POLICY"

# --- A layer that is not there yet, through a link that is not there yet; idle; what cannot matter; a storm.
later=$T/later/deep/lib
start "[layer compat]" "optional = yes" "dir = $later" "[compat]" "mode = on" "[layer host]" "role = host" "dir = $HOST"
mkdir -p "$T/elsewhere/deep"
ln -s elsewhere "$T/later"
make_driver "$T/elsewhere/deep/lib" 550.1 compat
wait_for who_is libcuda.so.1 compat
rm "$T/later"
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
for i in {1..3000}; do echo "libnvidia-x$i.so.1"; done >"$T/names"
(cd "$HOST" && xargs touch <"$T/names" && for name in $(cat "$T/names"); do
  echo "rename('$name', '$name.1');"
done | sed "1i chdir('$HOST');" | perl)
make_lib "$HOST/libnvidia-fbc.so.1" libnvidia-fbc.so.1 last
wait_for who_is libnvidia-fbc.so.1 last
wait_for is_settled
unfollow
n=$(reloads)
[ "$n" -ge 1 ] && [ "$n" -le 4 ] || fail "$n reloads for 3,000 files"
rm "$HOST"/libnvidia-x*
wait_for is_settled

# --- More events than the queue holds: the first are lost, and with them the one that matters.
queue=$(cat /proc/sys/fs/inotify/max_queued_events)
if [ "$queue" -le 20000 ]; then
  follow read
  kill -STOP "$(cat "$T/pid")"
  perl -e 'for (0..$ARGV[1]) { rename("$ARGV[0]/libx.so.".$_, "$ARGV[0]/libx.so.".($_ + 1)) or open(my $f, ">", "$ARGV[0]/libx.so.".($_ + 1)) }' "$HOST" "$queue"
  make_lib "$HOST/libnvidia-tls.so.1" libnvidia-tls.so.1 lost
  mkdir -p "$T/later/deep"
  make_driver "$later" 550.1 compat
  kill -CONT "$(cat "$T/pid")"
  wait_for who_is libnvidia-tls.so.1 lost
  wait_for who_is libcuda.so.1 compat
  unfollow
  grep -q 'IN_Q_OVERFLOW\|read' "$T/traces/calls" || fail "nothing was read"
  # The watches are whole again.
  rm "$HOST/libnvidia-tls.so.1"
  wait_for is_absent libnvidia-tls.so.1
fi
stop_daemon

# --- A machine's own places: the first choice appears, a drop-in directory appears, a list changes.
ctl_status() { status_of "$1" 2>/dev/null; }
mkdir -p "$R/a" "$R/b" "$R/etc/csv"
cp -a "$HOST2/." "$R/a/" && cp -a "$T/third/." "$R/b/"
"$GLDRIVERFS" --root "$R" --name inst "$MNT" 2>>"$LOG" || fail "exits $?"
daemon_pid >"$T/pid"
put() { # FILE LINE...
  local file=$R/$1
  shift
  mkdir -p "$(dirname "$file")"
  printf '%s\n' "$@" >"$file.new"
  mv "$file.new" "$file"
}
put usr/lib/gldriverfs/inst.conf "[layer host]" "dir = /a"
wait_for who_is libcuda.so.1 other
put etc/gldriverfs/inst.conf "[layer host]" "dir = /b"
wait_for who_is libcuda.so.1 third
put etc/gldriverfs/inst.conf.d/50.conf "[layer host]" "dir = /a"
wait_for who_is libcuda.so.1 other
put usr/lib/gldriverfs/inst.conf.d/60.conf "[layer host]" "dir = /b"
wait_for who_is libcuda.so.1 third
rm "$R/usr/lib/gldriverfs/inst.conf.d/60.conf"
wait_for who_is libcuda.so.1 other
put run/gldriverfs/inst.conf "[layer x]" "role = host" "csv = /etc/csv" "optional = yes"
rm -r "$R/etc/gldriverfs" "$R/usr/lib/gldriverfs"
wait_for is_absent libcuda.so.1
put etc/csv/drivers.csv "lib, /b/libcuda.so.1"
wait_for who_is libcuda.so.1 third
ln -s /a/libcuda.so.535.1 "$R/b/new" && mv -T "$R/b/new" "$R/b/libcuda.so.1"
wait_for who_is libcuda.so.1 other
stop_daemon

# --- The limits: a warning that says what to raise, and reloads work.
limit=$(cat /proc/sys/user/max_inotify_watches)
start "[layer host]" "role = host" "dir = $HOST"
stop_daemon
