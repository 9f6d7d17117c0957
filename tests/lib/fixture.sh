# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# fixture.sh — what the mount tests share. A test sources it first. tests/run.sh starts each in mount and pid namespaces
# of its own with an empty directory $T; by hand:
#   T=$(mktemp -d) unshare -m --propagation private --pid --fork --kill-child --mount-proc tests/mount/basic.sh
# It gives $MNT (the mountpoint), $HOST, $HOST2, $COMPAT (layer directories) and $POLICY (the policy file).
set -euo pipefail
: "${T:?the test directory: see the head of tests/lib/fixture.sh}"
unset LD_LIBRARY_PATH LD_PRELOAD
# A daemon in the background has no standard error.
export ASAN_OPTIONS=log_path=$T/sanitizer UBSAN_OPTIONS=log_path=$T/sanitizer:print_stacktrace=1
export TSAN_OPTIONS=log_path=$T/sanitizer:die_after_fork=0
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1

BUILD=${BUILD:-build/release}
SOURCES=$PWD/tests/lib
HELPERS=$PWD/$BUILD/tests/lib
GLDRIVERFS=$PWD/$BUILD/gldriverfs
GLDRIVERCTL=$PWD/$BUILD/gldriverctl
CACHE=$PWD/build/fixture
MNT=$T/mnt HOST=$T/host HOST2=$T/host2 COMPAT=$T/compat POLICY=$T/policy.conf LOG=$T/daemon.log
# shellcheck disable=SC2034 # for the tests that measure
SANITIZED=$([[ $BUILD != *san* ]] || echo yes)
CC=${TEST_CC:-cc}

fail() {
  echo "FAIL: $* (${BASH_SOURCE[1]##*/}:${BASH_LINENO[0]})" >&2
  exit 1
}
skip() {
  echo "$*"
  exit 77
}
# shellcheck disable=SC2154 # rc is assigned in the trap
trap 'rc=$?; echo "FAIL: command failed with $rc: $BASH_COMMAND (${BASH_SOURCE[0]##*/}:$LINENO)" >&2' ERR
set -E

# In the first user namespace, not only root of an own one.
is_real_root() { [ "$(id -u)" = 0 ] && grep -qE '^ *0 +0 +4294967295$' /proc/self/uid_map; }
need_root() { is_real_root || skip "needs root"; }
need_fuse() {
  [ -c /dev/fuse ] || skip "there is no /dev/fuse"
  (: <>/dev/fuse) 2>/dev/null || skip "/dev/fuse cannot be opened"
}

cleanup() {
  local rc=$?
  trap - ERR EXIT
  set +e
  while umount -l "$MNT" 2>/dev/null; do :; done
  jobs -p | xargs -r kill 2>/dev/null
  wait
  if cat "$T"/sanitizer.* 2>/dev/null || grep -E 'Sanitizer|runtime error:|Assertion|fuse: ' "$LOG" 2>/dev/null; then
    echo "FAIL: the daemon's log is suspicious"
    [ $rc != 0 ] || rc=1
  fi
  [ $rc = 0 ] || [ $rc = 77 ] || [ ! -s "$LOG" ] || { echo "--- the daemon's log:" && tail -n 20 "$LOG"; }
  exit $rc
}
trap cleanup EXIT

# Runtime files of the daemons stay in this test's namespace. Later binds reach the daemon's namespace as they do where
# the tree is shared (every machine with systemd).
[ "$$" = 1 ] || echo "note: not in a pid namespace of its own" >&2
mount -t tmpfs -o mode=755 tmpfs /run
mount --make-rshared /
# A real driver of this machine is no fact of the tests.
for real in /proc/driver/nvidia /sys/module/nvidia; do
  [ ! -d $real ] || mount -t tmpfs tmpfs $real
done
mkdir -p "$MNT" "$HOST" "$HOST2" "$COMPAT" "$CACHE"
umask 022

# /etc that can be changed.
own_etc() {
  mkdir -p "$T/etc"
  cp -a /etc/. "$T/etc/" 2>/dev/null || :
  # fusermount3 -u reads it; a minimal system has none before its first boot.
  [ -e "$T/etc/mtab" ] || [ -L "$T/etc/mtab" ] || ln -s ../proc/self/mounts "$T/etc/mtab"
  mount --bind "$T/etc" /etc
}

# make_lib OUT SONAME TAG [NEEDED...]: a library whose who() gives TAG. SONAME "-": none. The same one is made once.
make_lib() {
  local out=$1 soname=$2 tag=$3 key cached needed flags=()
  shift 3
  key=$(printf '%s|' "$soname" "$tag" "$@" "$(uname -m)" | md5sum | cut -c1-20)
  cached=$CACHE/$key.so
  if [ ! -e "$cached" ]; then
    [ "$soname" = - ] || flags+=("-Wl,-soname,$soname")
    for needed; do
      [ -e "$CACHE/$needed.link" ] ||
        { echo "void nothing(void);void nothing(void){}" | "$CC" -shared -fPIC -x c - -o "$CACHE/$needed.link.${T##*.}" "-Wl,-soname,$needed" -nostdlib && mv "$CACHE/$needed.link.${T##*.}" "$CACHE/$needed.link"; }
      flags+=("$CACHE/$needed.link")
    done
    echo "const char *who(void); const char *who(void) { return \"$tag\"; } int cuDriverGetVersion(int *v); int cuDriverGetVersion(int *v) { *v = atoi(who()); return 0; }" |
      "$CC" -shared -fPIC -O1 -include stdlib.h -x c - -o "$cached.${T##*.}" -x none "-Wl,--no-as-needed" "${flags[@]}"
    mv "$cached.${T##*.}" "$cached"
  fi
  mkdir -p "$(dirname "$out")"
  rm -f "$out"
  cp "$cached" "$out"
}

# make_driver DIRECTORY VERSION TAG: libcuda, libnvidia-ptxjitcompiler and libnvidia-ml of one driver, with their links.
make_driver() {
  local name
  for name in libcuda libnvidia-ptxjitcompiler libnvidia-ml; do
    make_lib "$1/$name.so.$2" $name.so.1 "$3"
    ln -sf $name.so."$2" "$1/$name.so.1"
    ln -sf $name.so.1 "$1/$name.so"
  done
}

# make_late_driver DIRECTORY VERSION TAG: the same with libnvidia-nvvm, and a libcuda that loads what sibling() is asked
# for, as the real one does later: from inside.
make_late_driver() {
  make_driver "$@"
  make_lib "$1/libnvidia-nvvm.so.4" libnvidia-nvvm.so.4 "$3"
  # No tail call: dlopen looks at who calls it.
  "$CC" -shared -fPIC -O0 -x c - -o "$1/libcuda.so.$2" -Wl,-soname,libcuda.so.1 -ldl <<EOF
#include <dlfcn.h>
const char *who(void);
void *sibling(const char *name);
const char *who(void) { return "$3"; }
void *sibling(const char *name) { return dlopen(name, RTLD_NOW | RTLD_LOCAL); }
EOF
}

# make_probe OUT RUNPATH: a program that dlopens each argument and prints who() of it, or "-" and the loader's message.
make_probe() {
  "$CC" -O1 -o "$1" "$SOURCES/probe.c" -ldl "-Wl,-rpath,$2" -Wl,--enable-new-dtags
}

# policy LINE...: the whole policy file. Changes are followed only where a line says so: when a reload happens is the
# test's to say.
policy() {
  printf '%s\n' "$@" >"$POLICY"
  [[ "$*" == *"watch = "* ]] || printf '%s\n' "[gldriverfs]" "watch = no" >>"$POLICY"
}
host_policy() {
  policy "[layer host]" "role = host" "dir = $HOST" "$@"
}
# HOST and COMPAT; more lines go to the [compat] section's end.
toggle_policy() {
  policy "[layer compat]" "role = compat" "dir = $COMPAT" "[layer host]" "role = host" "dir = $HOST" "[compat]" "$@"
}

# start_daemon [ARGUMENT...]: on $MNT by $POLICY; returns when the mount answers.
start_daemon() {
  timeout 60 "$GLDRIVERFS" --config "$POLICY" "$@" "$MNT" 2>>"$LOG" || fail "gldriverfs exits $?: $(tail -n 5 "$LOG")"
  is_mounted || fail "gldriverfs has returned and $MNT is no mount"
}
# The same in the foreground, with the log in $LOG.
start_logged() {
  : >"$LOG"
  "$GLDRIVERFS" --config "$POLICY" --foreground "$@" "$MNT" 2>>"$LOG" &
  wait_for grep -q "$MNT answers" "$LOG"
}
is_mounted() { grep -qF " $MNT " /proc/self/mountinfo; }
# status_of FILTER: jq's answer. Exit 1 of gldriverctl only says that the status names an error.
status_of() { { ctl --json status || [ $? = 1 ]; } | jq -r "$@"; }
daemon_pid() { status_of .pid; }
keeper_pid() { status_of .keeper_pid; }
# Keeper and worker at once: nobody comes after them.
kill_daemon() {
  local worker keeper
  worker=$(daemon_pid) keeper=$(keeper_pid)
  kill -STOP "$keeper"
  kill -KILL "$worker" "$keeper"
  wait_for not test -e "/proc/$worker/exe"
  wait_for not test -e "/proc/$keeper/exe"
}
generation() { status_of .generation; }
requests() { status_of '[.requests | .. | numbers] | add // 0'; }
# expect_no_requests WHAT COMMAND...: it reaches the daemon with none, once in three runs at least: whoever drops the
# machine's caches in between (other tests' memory, an administrator) is not to blame on the daemon.
expect_no_requests() {
  local what=$1 before after
  shift
  for _ in 1 2 3; do
    before=$(requests)
    "$@"
    after=$(requests)
    [ "$before" != "$after" ] || return 0
  done
  fail "$what: $((after - before)) requests: $(status_of -c .requests)"
}
stop_daemon() {
  local pid
  pid=$(daemon_pid)
  kill -TERM "$pid"
  wait_for not is_mounted
  wait_for not test -e "/proc/$pid/exe"
}
ctl() { timeout 30 "$GLDRIVERCTL" --mount "$MNT" "$@"; }
not() { ! "$@"; }

# xattr_of PATH NAME: one xattr of a path itself (links are not followed).
xattr_of() { "$HELPERS/xattr" "$1" "$2"; }

# wait_for COMMAND...: until it succeeds, 10 s at most.
wait_for() {
  local end=$((SECONDS + 10))
  until "$@"; do
    [ $SECONDS -lt $end ] || fail "waited 10 s for: $*"
    # A pause without a process; nothing is ever written there.
    read -rt 0.02 _ <>"$T/pause" || :
  done
}
mkfifo "$T/pause"

# expect_exit CODE COMMAND...: its output goes to $T/out.
expect_exit() {
  local want=$1 got=0
  shift
  "$@" >"$T/out" 2>&1 || got=$?
  [ "$got" = "$want" ] || {
    cat "$T/out"
    fail "exit $got instead of $want: $*"
  }
}
expect_same() { [ "$1" = "$2" ] || fail "'$1' instead of '$2'${3:+: $3}"; }
expect_has() { [[ $1 == *"$2"* ]] || fail "no '$2' in: $1"; }
expect_absent() {
  local rc=0
  stat "$1" >/dev/null 2>"$T/stat.err" || rc=$?
  [ $rc != 0 ] || fail "$1 exists"
  grep -q 'No such file' "$T/stat.err" || fail "$1 is not simply absent: $(cat "$T/stat.err")"
}
# expect_who NAME TAG: what a program with its RUNPATH into the mount (then $HOST2) loads.
expect_who() {
  [ -x "$T/probe" ] || make_probe "$T/probe" "$MNT/lib:$HOST2"
  expect_same "$("$T/probe" "$1" || :)" "$2" "$1"
}
