#!/bin/bash
# SPDX-License-Identifier: MIT
# The NixOS module, evaluated with stubs of what it uses of nixpkgs: what it makes of each of tests/nix/cases.nix is
# tests/nix/expected/CASE; each policy passes `gldriverctl check` on a machine made for it; the units pass
# systemd-analyze. Then package.nix, built by nix-build with the compiler of this system.
# UPDATE=1 writes the expectations.
set -euo pipefail
cd "$(dirname "$0")/../.."
T=${T:-$(mktemp -d)} BUILD=${BUILD:-build/release}
command -v nix-instantiate >/dev/null || { echo "no nix-instantiate (Debian: nix-bin)" && exit 77; }
command -v systemd-analyze >/dev/null || { echo "no systemd-analyze" && exit 77; }
export HOME=$T NIX_STATE_DIR=$T/nix-state NIX_CONF_DIR=$T/nix-conf
mkdir -p "$NIX_CONF_DIR"
fail() { echo "FAIL: $*" && exit 1; }

prefix=$T/package
# The configuration that README shows is a case as well.
awk -v dir="$T" '/^```nix$/ { n++; out = dir "/readme-" n ".nix"; next } /^```$/ { out = "" } out { print >out }' README.md
[ -s "$T/readme-2.nix" ] || fail "README has no two blocks of Nix"
evaluate() { # CASE
  nix-instantiate --store dummy:// --eval --strict --json tests/nix/eval.nix --argstr case "$1" --argstr package "$prefix" \
    --argstr readme "$T/readme-2.nix"
}
# shellcheck disable=SC2016 # jq's
show='.failed[], (.etc | to_entries[] | "== /etc/\(.key)", (.value.text // "-> \(.value.link)\n" + (.value.paths | join("\n")) + "\n")),
  "== tmpfiles", .tmpfiles[], "", (.units | to_entries[] | "== \(.key) \(.value.wantedBy | join(" ")) \(.value.overrideStrategy)\n\(.value.text)"),
  "== activation", .activation'

# library FILE SONAME
library() {
  mkdir -p "${1%/*}"
  echo 'int f(void); int f(void) { return 1; }' | cc -shared -fPIC -x c - -o "$1" "-Wl,-soname,$2" -nostdlib
}
# A machine that has all the packages: what a driver of Mesa, of L4T and of cuda_compat have.
store=$T/machine/nix/store/00000000000000000000000000000000
mkdir -p "$T/machine/etc" "$T/machine/proc" "$T/machine/run"
library "$store-mesa/lib/libGLX_mesa.so.0.0.0" libGLX_mesa.so.0
library "$store-mesa-32/lib/libGLX_mesa.so.0.0.0" libGLX_mesa.so.0
library "$store-libglvnd/lib/libGL.so.1.7.0" libGL.so.1
library "$store-libglvnd-32/lib/libGL.so.1.7.0" libGL.so.1
library "$store-l4t-3d-core/lib/libGLX_nvidia.so.0" libGLX_nvidia.so.0
for name in libcuda.so.1.1:libcuda.so.1 libnvrm_gpu.so:libnvrm_gpu.so libnvrm_mem.so:libnvrm_mem.so; do
  library "$store-jetson-graphics-extra-packages/lib/${name%:*}" "${name#*:}"
done
library "$store-cuda12.2-cuda_compat-12.2.34086590/compat/libcuda.so.1.1" libcuda.so.1
library "$store-local/libnvidia-ml.so.1" libnvidia-ml.so.1
# Done by nixpkgs' buildEnv and etc.
build_machine() { # JSON: its /etc
  local path link text
  rm -rf "$T/machine/etc/gldriverfs" "$store"-graphics-drivers*
  while IFS= read -r path; do
    link=$(jq -r --arg path "$path" '.etc[$path].link' "$1")
    mkdir -p "$T/machine/etc/${path%/*}"
    if [ "$(jq -r --arg path "$path" '.etc[$path].text' "$1")" = null ]; then
      mkdir -p "$T/machine$link"
      while IFS= read -r text; do cp -rsf "$T/machine$text/." "$T/machine$link"; done \
        < <(jq -r --arg path "$path" '.etc[$path].paths[]' "$1")
      # Links of a machine start at its root.
      find "$T/machine$link" -type l -exec sh -c 'ln -sfn "$(readlink "$2" | sed "s|^$1||")" "$2"' sh "$T/machine" {} \;
      ln -s "$link" "$T/machine/etc/$path"
    else
      jq -rj --arg path "$path" '.etc[$path].text' "$1" >"$T/machine/etc/$path"
    fi
  done < <(jq -r '.etc | keys[]' "$1")
}
check() { # ARGUMENT...
  "$BUILD/gldriverctl" check --root "$T/machine" "$@" >"$T/check" 2>&1
}

for case in plain jetpack compat-default compat-null compat-absent compat-unfree compat-on enable32 settings readme; do
  evaluate "$case" >"$T/$case.json" || fail "$case is not evaluated"
  jq -r "$show" "$T/$case.json" | sed "s|$prefix|PACKAGE|" >"$T/$case"
  [ "${UPDATE:-}" != 1 ] || cp "$T/$case" "tests/nix/expected/$case"
  diff -u "tests/nix/expected/$case" "$T/$case" || fail "$case"
  build_machine "$T/$case.json"
  check || { cat "$T/check" && fail "$case: gldriverctl check"; }
  [ "$case" != enable32 ] || check "$T/machine/etc/gldriverfs/run-opengl\\x2ddriver\\x2d32.conf" ||
    { cat "$T/check" && fail "the second instance: gldriverctl check"; }
done
# The compat layer is what it should be, and check can say no.
build_machine "$T/compat-on.json"
{ "$BUILD/gldriverctl" --json check --root "$T/machine" || true; } | grep -F "cuda12.2-cuda_compat" >/dev/null ||
  fail "check does not look at the compat layer"
evaluate unknown-key >"$T/unknown.json"
build_machine "$T/unknown.json"
! check || fail "an unknown key passes"
grep -F "presnt" "$T/check" >/dev/null || { cat "$T/check" && fail "an unknown key is not named"; }
[ "$(evaluate off | jq -c '[.etc, .units, .activation]')" = '[{},{},""]' ] || fail "disabled, the module does something"

refused() { # CASE TEXT: an error, or a failed assertion, that names the option
  local says
  if says=$(evaluate "$1" 2>&1); then says=$(jq -r '.failed[]' <<<"$says"); fi
  [[ $says == *"$2"* ]] || fail "$1: '$says' does not name $2"
}
refused wrong-mode "services.gldriverfs.compat.mode"
refused wrong-value "services.gldriverfs.settings.gldriverfs.present"
refused wrong-list "services.gldriverfs.layers.host.include"
refused wrong-line "services.gldriverfs.layers.host.include"
refused wrong-comment "services.gldriverfs.layers.host.include"
refused wrong-package "services.gldriverfs.compat.package"
refused wrong-drop-in "services.gldriverfs.dropIns.x"
refused wrong-option "services.gldriverfs.compt"
refused mountpoint "services.gldriverfs.settings.gldriverfs.mountpoint"
refused no-graphics "hardware.graphics.enable"

# The rest is syntax here.
for file in flake.nix systemd/nixos/test.nix "$T/readme-1.nix"; do nix-instantiate --parse "$file" >/dev/null; done

# ---- the package
if [ "$(id -u)" = 0 ]; then
  export NIX_STORE_DIR=$T/store NIX_LOG_DIR=$T/nix-log NIX_LOCALSTATE_DIR=$T/nix-state
  nix-build tests/nix/build.nix --option sandbox false --option build-users-group "" --option substitute false \
    --no-out-link --argstr path "$PATH" >"$T/out" 2>"$T/log" || { tail -n 40 "$T/log" && fail "nix-build"; }
  built=$(cat "$T/out")
  grep -x "patchShebangs tools" "$T/log" >/dev/null || fail "the phases are not those of package.nix"
  [ "$("$built/bin/gldriverfs" --version)" = "$("$BUILD/gldriverfs" --version)" ] || fail "another version"
  grep -F "$built/lib/gldriverfs" "$built/bin/gldriverfs" >/dev/null || fail "the tables of the package are not looked for"
  [ -x "$built/libexec/gldriverfs/gldriverfs-probe" ] || fail "no probe"
  "$built/libexec/gldriverfs/gldriverfs-detach" /none || fail "the wrapped gldriverfs-detach"
  # Nothing in it is of another prefix.
  ! grep -rlI "/usr/local" "$built/lib" "$built/bin" "$built/libexec" || fail "paths of another prefix"
  rm -rf "$prefix"
  ln -s "$built" "$prefix"

  # ---- without NixOS: units that lead into a profile, which keeps the package from the garbage collector
  export GLDRIVERFS_PROFILE=$T/profiles/gldriverfs DESTDIR=$T/ubuntu
  mkdir -p "$T/profiles" "$NIX_STATE_DIR/gcroots"
  ln -s "$T/profiles" "$NIX_STATE_DIR/gcroots/profiles"
  systemd/nix-on-ubuntu.sh install "$prefix"
  installed=$DESTDIR/etc/systemd/system
  ! grep -rn "$NIX_STORE_DIR" "$DESTDIR" || fail "a unit leads into the store"
  grep -x "ExecStart=$GLDRIVERFS_PROFILE/bin/gldriverfs --foreground --fd-store /run/opengl-driver" "$installed/gldriverfs.service" >/dev/null ||
    fail "$(grep ^ExecStart "$installed/gldriverfs.service")"
  says=$(SYSTEMD_UNIT_PATH=$installed: systemd-analyze verify --man=no "$installed/gldriverfs.service" 2>&1 | grep -F gldriverfs || true)
  [ -z "$says" ] || fail "$says"
  nix-store --gc --option build-users-group "" >"$T/gc" 2>&1 || fail "$(cat "$T/gc")"
  "$GLDRIVERFS_PROFILE/bin/gldriverctl" --version >/dev/null || fail "collected"
  systemd/nix-on-ubuntu.sh remove
  [ "$(find "$DESTDIR" "$T/profiles" -not -type d)" = "" ] || fail "removing leaves $(find "$DESTDIR" "$T/profiles" -not -type d)"
  unset DESTDIR
else
  make -s install PREFIX="$prefix" DESTDIR=
fi

# ---- the units, with the drop-ins that NixOS would write
units=$T/units
mkdir -p "$units"
cp "$prefix"/lib/systemd/system/*.service "$units"
for name in gldriverfs 'gldriverfs@run-opengl\x2ddriver\x2d32'; do
  mkdir -p "$units/$name.service.d"
  jq -r --arg name "$name" '.units[$name].text' "$T/enable32.json" >"$units/$name.service.d/overrides.conf"
  [ -s "$units/$name.service.d/overrides.conf" ]
  [ -e "$units/$name.service" ] || cp "$units/gldriverfs@.service" "$units/$name.service"
  says=$(SYSTEMD_UNIT_PATH=$units: systemd-analyze verify --man=no "$units/$name.service" 2>&1 | grep -F gldriverfs |
    # NixOS' own keys; systemd ignores what begins with X-.
    grep -vF 'X-' || true)
  [ -z "$says" ] || fail "$name.service: $says"
done
# It reads the drop-ins.
echo "KillMode=none-such" >>"$units/gldriverfs.service.d/overrides.conf"
SYSTEMD_UNIT_PATH=$units: systemd-analyze verify --man=no "$units/gldriverfs.service" 2>&1 | grep -F overrides.conf: >/dev/null ||
  fail "verify is blind"
