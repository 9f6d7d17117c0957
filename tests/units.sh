#!/bin/bash
# SPDX-License-Identifier: MIT
# units.sh TREE PREFIX — the installed units as systemd reads them: no complaint, no option that would hide the mount from
# the host, and for a user's none that disables fusermount3; what the hardening leaves is bounded. Run by install.sh.
set -euo pipefail
T=$(mktemp -d "$T/units.XXXX")
command -v systemd-analyze >/dev/null || { echo "no systemd-analyze" && exit 77; }
mkdir "$T/usr"
cp -r "$1$2/." "$T/usr"
find "$T/usr/lib/systemd" -name '*.service' -exec sed -i "s|$2/|$T/usr/|" {} +
system=$T/usr/lib/systemd/system user=$T/usr/lib/systemd/user

verify() { # OPTION... UNIT
  local says
  # What other units of this machine have to be told is not ours.
  says=$(systemd-analyze verify --man=no "$@" 2>&1 | grep -F gldriverfs || true)
  [ -z "$says" ] || { echo "$*: $says" && exit 1; }
}
export SYSTEMD_UNIT_PATH=$system:
instance='gldriverfs@run-opengl\x2ddriver\x2d32.service'
verify "$system/gldriverfs.service"
cp "$system/gldriverfs@.service" "$system/$instance"
verify "$system/$instance"
cp "$system/gldriverfs-detach@.service" "$system/gldriverfs-detach@run-x.service"
verify "$system/gldriverfs-detach@run-x.service"
rm "$system/$instance" "$system/gldriverfs-detach@run-x.service"
export XDG_RUNTIME_DIR=$T SYSTEMD_UNIT_PATH=$user:
verify --user "$user/gldriverfs.service" "$user/gldriverfs-detach.service"
unset SYSTEMD_UNIT_PATH
# It does complain.
sed 's/^KillMode=.*/KillMode=none-such/' "$system/gldriverfs.service" >"$T/gldriverfs.service"
systemd-analyze verify --man=no "$T/gldriverfs.service" 2>&1 | grep -F 'kill mode' >/dev/null || { echo "verify is blind" && exit 1; }

# FUSE.md 5.
namespaces='PrivateTmp|PrivateDevices|PrivateMounts|PrivateUsers|PrivateNetwork|ProtectSystem|ProtectHome|ProtectKernel[A-Za-z]*'
namespaces+='|ProtectControlGroups|ProtectProc|ProtectHostname|ProtectClock|ProcSubset|PrivateIPC|DynamicUser|Bind[A-Za-z]*Paths'
namespaces+='|ReadOnlyPaths|ReadWritePaths|InaccessiblePaths|ExecPaths|NoExecPaths|TemporaryFileSystem|RootDirectory|RootImage'
namespaces+='|LogNamespace|MountFlags|RuntimeDirectory|RestrictNamespaces|[A-Z][a-z]*Directory'
for unit in "$system"/gldriverfs*.service "$user"/gldriverfs*.service; do
  ! grep -E "^($namespaces)=" "$unit" || { echo "${unit##*/} hides the mount" && exit 1; }
  ! grep -F @ "$unit" | grep -E '@(bindir|libexecdir)@' || { echo "${unit##*/}: a path is open" && exit 1; }
done
! grep -E '^(NoNewPrivileges|SystemCall[A-Za-z]*|Restrict[A-Z][A-Za-z]*|LockPersonality|MemoryDenyWriteExecute|CapabilityBoundingSet|User|IPAddress[A-Za-z]*)=' \
  "$user"/*.service || { echo "a user's unit disables fusermount3" && exit 1; }
# The two of the system differ in the mountpoint, which must be made, only.
diff <(sed '/^# The instance/d; /^# Not mkdir/d; /^ExecStartPre=/d; s|%f|/run/opengl-driver|; s|%i.service|run-opengl\\x2ddriver.service|; s|--name %i|--name gldriverfs|' \
  "$system/gldriverfs@.service") "$system/gldriverfs.service"

# Of 100 (10.0) for a unit without any hardening; 250 and later look at more.
if systemd-analyze security --help 2>/dev/null | grep -e --offline >/dev/null; then
  systemd-analyze security --no-pager --offline=true --threshold=55 "$system/gldriverfs.service" >"$T/security" ||
    { cat "$T/security" && exit 1; }
  tail -n 1 "$T/security"
fi

# tmpfiles and presets, on a machine in a directory.
for file in tmpfiles.d/gldriverfs.conf systemd/system-preset/90-gldriverfs.preset; do
  install -D -m 644 "$T/usr/lib/$file" "$T/machine/usr/lib/$file"
done
mkdir -p "$T/machine/usr/lib/systemd/system" "$T/machine/etc" "$T/machine/run"
cp "$system"/* "$T/machine/usr/lib/systemd/system"
if [ "$(id -u)" = 0 ]; then
  echo "root:x:0:0::/:/bin/sh" >"$T/machine/etc/passwd" && echo "root:x:0:" >"$T/machine/etc/group"
  systemd-tmpfiles --root="$T/machine" --create gldriverfs.conf
  for directory in gldriverfs opengl-driver; do
    [ "$(stat -c '%a %u %F' "$T/machine/run/$directory")" = "755 0 directory" ] || { ls -l "$T/machine/run" && exit 1; }
  done
fi
systemctl --root="$T/machine" enable gldriverfs.service 2>/dev/null
[ "$(systemctl --root="$T/machine" is-enabled gldriverfs.service)" = enabled ]
[ -L "$T/machine/etc/systemd/system/multi-user.target.wants/gldriverfs.service" ]
systemctl --root="$T/machine" preset gldriverfs.service 2>/dev/null
[ "$(systemctl --root="$T/machine" is-enabled gldriverfs.service || true)" = disabled ] || { echo "the preset enables" && exit 1; }
