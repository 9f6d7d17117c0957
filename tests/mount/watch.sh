#!/bin/bash
# SPDX-License-Identifier: MIT
# watch = yes: every kind of change is followed without a reload by hand; programs keep what they have; case A16 live; what
# the limits of inotify leave.
. "$(dirname "$0")/../lib/fixture.sh"
need_root
need_fuse
. tests/lib/watch.sh

make_driver "$HOST" 535.1 host
make_driver "$HOST2" 535.1 other

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

# A policy that asks for what is not there yet is mended by what comes, not by itself.
sed "s|$HOST\$|$W/missing/lib|" "$POLICY" >"$W/policy/new"
cp "$POLICY" "$W/good" && mv "$W/policy/new" "$POLICY"
wait_for has_problem "$W/missing/lib does not exist"
make_driver "$W/third" 535.1 third
cp -a "$W/third" "$W/unpacked" && mkdir "$W/missing" && mv "$W/unpacked" "$W/missing/lib"
wait_for who_is libcuda.so.1 third
mv "$W/good" "$POLICY"
wait_for who_is libcuda.so.1 other

# --- The policy: broken and mended, replaced by rename, through links.
cp "$POLICY" "$W/good"
echo "nonsense = 1" >>"$POLICY"
wait_for has_problem nonsense
cp "$W/good" "$POLICY"
wait_for is_healthy
sed "s|$HOST\$|$HOST2|" "$W/good" >"$W/second"
cp "$W/second" "$W/policy.new" && mv "$W/policy.new" "$POLICY"
make_lib "$HOST2/libnvidia-tls.so.1" libnvidia-tls.so.1 second
wait_for who_is libnvidia-tls.so.1 second
mkdir "$W"/static{1,2}
cp "$W/good" "$W/static1/x" && cp "$W/second" "$W/static2/x"
ln -s static1 "$W/static"
ln -s "$W/static/x" "$W/link" && mv "$W/link" "$POLICY"
wait_for is_absent libnvidia-tls.so.1
ln -s static2 "$W/static.new" && mv -T "$W/static.new" "$W/static"
wait_for who_is libnvidia-tls.so.1 second
sed "s|$HOST2\$|$W/third|" "$W/second" >"$W/static2/x"
wait_for who_is libcuda.so.1 third

# --- watch = no lets go of it all, and is followed no more; a reload that says yes takes it up again.
sed 's/watch = yes/watch = no/' "$W/second" >"$W/static2/x"
none_watched() { [ "$(status_of .watched)" = 0 ]; }
inotifies() { find "/proc/$(cat "$T/pid")/fd" -lname '*inotify*' | wc -l; }
expect_same "$(inotifies | sed 's/^[1-9].*/some/')" some
wait_for none_watched
expect_same "$(inotifies)" 0 "inotify with watch = no"
cp "$W/second" "$W/static2/x"
ctl reload
wait_for not none_watched
stop_daemon
rm "$POLICY"

# --- A machine's own places: the first choice appears, a drop-in directory appears, a list changes.
ctl_status() { status_of "$1" 2>/dev/null; }
mkdir -p "$R/a" "$R/b" "$R/etc/csv"
cp -a "$HOST2/." "$R/a/" && cp -a "$W/third/." "$R/b/"
"$GLDRIVERFS" --root "$R" --name inst "$MNT" 2>>"$LOG" || fail "exits $?"
daemon_pid >"$T/pid"
write() { # FILE LINE...
  local file=$R/$1
  shift
  mkdir -p "$(dirname "$file")"
  printf '%s\n' "$@" >"$file.new"
  mv "$file.new" "$file"
}
write usr/lib/gldriverfs/inst.conf "[layer host]" "dir = /a"
wait_for who_is libcuda.so.1 other
write etc/gldriverfs/inst.conf "[layer host]" "dir = /b"
wait_for who_is libcuda.so.1 third
write etc/gldriverfs/inst.conf.d/50.conf "[layer host]" "dir = /a"
wait_for who_is libcuda.so.1 other
write usr/lib/gldriverfs/inst.conf.d/60.conf "[layer host]" "dir = /b"
wait_for who_is libcuda.so.1 third
rm "$R/usr/lib/gldriverfs/inst.conf.d/60.conf"
wait_for who_is libcuda.so.1 other
write run/gldriverfs/inst.conf "[layer x]" "role = host" "csv = /etc/csv" "optional = yes"
rm -r "$R/etc/gldriverfs" "$R/usr/lib/gldriverfs"
wait_for is_absent libcuda.so.1
write etc/csv/drivers.csv "lib, /b/libcuda.so.1"
wait_for who_is libcuda.so.1 third
ln -s /a/libcuda.so.535.1 "$R/b/new" && mv -T "$R/b/new" "$R/b/libcuda.so.1"
wait_for who_is libcuda.so.1 other
stop_daemon

# --- A16 without a reload by hand: a policy that leads into the mount is refused, what is served stays.
start "[layer host]" "role = host" "dir = $HOST"
sed "s|$HOST\$|$MNT/lib|" "$POLICY" >"$W/policy/new" && mv "$W/policy/new" "$POLICY"
wait_for has_problem "lies on a mount of gldriverfs itself"
timeout 2 ls "$MNT/lib" >/dev/null || fail "ls does not answer"
follow inotify_add_watch
ctl reload >/dev/null 2>&1 || :
wait_for grep -q inotify_add_watch "$T/traces/calls"
unfollow
wait_for is_settled
who_is libcuda.so.1 other || fail "the old view is gone"
stop_daemon

# --- A successor follows too, also where it cannot load what it finds.
start "[layer host]" "role = host" "dir = $HOST"
cp "$POLICY" "$W/good"
is_replaced() { [ "$(daemon_pid)" != "$(cat "$T/pid")" ]; }
for broken in no yes; do
  if [ $broken = yes ]; then
    echo "nonsense = 1" >>"$POLICY"
    wait_for has_problem nonsense
  fi
  daemon_pid >"$T/pid"
  kill -KILL "$(cat "$T/pid")"
  wait_for is_replaced
  who_is libcuda.so.1 other || fail "the successor serves another view"
  if [ $broken = yes ]; then wait_for has_problem nonsense; else wait_for not none_watched; fi
  sed "s|$HOST\$|$W/third|" "$W/good" >"$POLICY"
  wait_for who_is libcuda.so.1 third
  cp "$W/good" "$POLICY"
  wait_for who_is libcuda.so.1 other
done
stop_daemon

# --- The limits, in a user namespace of its own: a warning that says what to raise, and reloads work.
limited() { # LIMIT VALUE
  # shellcheck disable=SC2016 # the inner shell expands
  unshare -U -r -m --propagation private bash -c '
    limit=$1 T=$2 MNT=$3 GLDRIVERFS=$4 GLDRIVERCTL=$5 POLICY=$6
    echo "$7" >/proc/sys/user/$limit || exit 77
    mount -t tmpfs -o mode=755 tmpfs /run/gldriverfs
    "$GLDRIVERFS" --config "$POLICY" --foreground "$MNT" 2>"$T/limited.log" & pid=$!
    until grep -q answers "$T/limited.log"; do kill -0 $pid || exit 1; read -rt 0.02 _ <>"$T/pause"; done
    "$GLDRIVERCTL" --mount "$MNT" --json status
    sed -i s/535/536/ "$POLICY" && "$GLDRIVERCTL" --mount "$MNT" reload >&2 && ls "$MNT/lib" >"$T/limited.ls"
    kill -TERM $pid; wait $pid' limited "$1" "$T" "$MNT" "$GLDRIVERFS" "$GLDRIVERCTL" "$POLICY" "$2" || fail "exits $?: $(cat "$T/limited.log")"
}
mkdir "$W/lib536" "$W/lib535"
make_driver "$W/lib535" 535.1 old
make_driver "$W/lib536" 536.1 new
for limit in max_inotify_watches:3:max_user_watches max_inotify_instances:0:max_user_instances; do
  policy "[gldriverfs]" "watch = yes" "[layer host]" "role = host" "dir = $W/lib535"
  IFS=: read -r key value word <<<"$limit"
  limited "$key" "$value" >"$T/limited.json"
  expect_has "$(jq -r '.problems[] | select(.id == "unwatched" and .level == "warning").text' "$T/limited.json")" "fs.inotify.$word"
  [ "$(jq .watched "$T/limited.json")" -le "$value" ] || fail "$(jq .watched "$T/limited.json") directories are watched"
  grep -qx libcuda.so.536.1 "$T/limited.ls" || fail "the reload has done nothing"
done
