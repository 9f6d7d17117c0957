# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# nspawn.sh — boots a root file system with its own systemd as PID 1, under systemd-nspawn, and runs a script in it.
# Nothing is written to the root: an overlay in memory lies over it.

# boot ROOT DIRECTORY SCRIPT: DIRECTORY is /out inside; SCRIPT (a name in it) is run by bash when the system is up, its
# output goes to DIRECTORY/log. Returns its exit status, 125 when the system did not get that far.
boot() {
  local root=$1 out=$2 script=$3 run=gldriverfs.$$.$RANDOM cgroup
  cat >"$out/itest.service" <<EOF_UNIT
[Unit]
SuccessAction=exit
FailureAction=exit
Requires=basic.target
After=basic.target
[Service]
Type=oneshot
ExecStart=/bin/bash -c '/bin/bash /out/$script >/out/log 2>&1; echo \$? >/out/status'
EOF_UNIT
  rm -f "$out/status"
  (
    for cgroup in /sys/fs/cgroup/systemd /sys/fs/cgroup/unified; do
      [ -d $cgroup ] || continue
      mkdir -p "$cgroup/$run"
      echo "$BASHPID" >"$cgroup/$run/cgroup.procs"
    done
    # The flags: without them the device policy is not enforced, and the machine's own / must not be shared with it.
    # shellcheck disable=SC2016 # for the inner shell
    timeout "${BOOT_SECONDS:-300}" unshare -m --propagation slave sh -c 'mkdir -p "$2/root" && mount --bind "$1" "$2/root" &&
      SYSTEMD_NSPAWN_UNIFIED_HIERARCHY=1 exec systemd-nspawn -q -D "$2/root" --volatile=overlay --register=no --keep-unit \
        -b --console=pipe --machine=gldriverfs --capability=all --system-call-filter=bpf --private-network \
        --bind="$2:/out" --bind-ro="$2/itest.service:/etc/systemd/system/itest.service" systemd.unit=itest.service' \
      sh "$root" "$out" </dev/null >"$out/console" 2>&1
  ) || :
  for cgroup in /sys/fs/cgroup/systemd /sys/fs/cgroup/unified; do
    find "$cgroup/$run" -depth -type d -exec rmdir {} + 2>/dev/null || :
  done
  [ -s "$out/status" ] || return 125
  return "$(cat "$out/status")"
}
