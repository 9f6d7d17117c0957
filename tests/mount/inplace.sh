#!/bin/bash
# SPDX-License-Identifier: MIT
# A host file that is overwritten in place: reads through what was opened before give EIO, never other bytes; a reload
# starts by itself and the name has the new content under a new inode number. A new mode or hard link alone keeps the
# number. Numbers come back with a toggle, and nothing that has other content ever had them.
. "$(dirname "$0")/../lib/fixture.sh"
need_root
need_fuse

make_driver "$COMPAT" 535.1 compat
file=$MNT/lib/libcuda.so.470.1
# The whole tree but for what is behind .gldriverfs.
numbers() { (cd "$MNT" && find . -printf '%p %i %y %l\n' | LC_ALL=C sort); }
old_fails() { # PAGE
  if dd if=/dev/fd/7 bs=4096 skip="$1" count=1 of=/dev/null status=none 2>"$T/dd"; then fail "page $1 of the old file is read"; fi
  grep -q 'Input/output error' "$T/dd" || fail "not EIO: $(cat "$T/dd")"
}
changed() { [ "$(generation)" != "$before" ]; }
# Behind the ELF the served bytes are the host's; with a RUNPATH more may follow them.
same_bytes() {
  if [ "$1" = none ]; then cmp "$file" "$HOST/libcuda.so.470.1"; fi
  cmp -i 1000000 -n "$(($(stat -c %s "$HOST/libcuda.so.470.1") - 1000000))" "$file" "$HOST/libcuda.so.470.1"
}

for runpath in none pin; do
  make_driver "$HOST" 470.1 host
  rm -f "$T/again" "$HOST2/libcuda.so.1"
  head -c 3000000 /dev/urandom >>"$HOST/libcuda.so.470.1" # behind the ELF
  toggle_policy "mode = off" "[gldriverfs]" "present = file" "runpath = $runpath"
  start_daemon
  same_bytes $runpath
  if [ $runpath = pin ]; then not cmp -s "$file" "$HOST/libcuda.so.470.1" || fail "the library got no RUNPATH"; fi

  # Toggles: the same numbers each time, below 2^32, one per file and none for two.
  off=$(numbers)
  ctl compat on
  on=$(numbers)
  for _ in 1 2 3 4 5; do
    ctl compat off
    expect_same "$(numbers)" "$off"
    ctl compat on
    expect_same "$(numbers)" "$on"
  done
  ctl compat off
  both=$(printf '%s\n%s\n' "$off" "$on" | sort -u)
  expect_same "$(awk '{print $2}' <<<"$both" | sort | uniq -d)" "" "a number of two names"
  [ -z "$(awk '$2 >= 4294967296' <<<"$both")" ] || fail "numbers over 32 bits: $both"
  largest=$(awk '{print $2}' <<<"$both" | sort -n | tail -n 1)

  chmod 700 "$HOST/libcuda.so.470.1"
  ln "$HOST/libcuda.so.470.1" "$T/again"
  ctl reload
  expect_same "$(numbers)" "$off" "after chmod and ln"
  expect_same "$(stat -c %a "$file")" 700

  inode=$(stat -c %i "$file") before=$(generation)
  exec 7<"$file"
  head -c 4096 <&7 >/dev/null
  printf changed | dd of="$HOST/libcuda.so.470.1" bs=1 seek=2900000 conv=notrunc status=none
  old_fails 600
  wait_for changed
  same_bytes $runpath
  [ "$(stat -c %i "$file")" -gt "$largest" ] || fail "$(stat -c %i "$file") is no new number (before: $inode, largest: $largest)"
  old_fails 400
  exec 7<&-
  expect_who libcuda.so.1 host

  # Cut short in place: the name ends, and a second RUNPATH entry serves.
  cp "$T/again" "$HOST2/libcuda.so.1"
  truncate -s 100 "$HOST/libcuda.so.470.1"
  ctl reload
  expect_absent "$file"
  expect_who libcuda.so.1 host
  expect_has "$(status_of -c .rejected)" "$HOST/libcuda.so.470.1"
  stop_daemon
done
