#!/bin/bash
# SPDX-License-Identifier: MIT
# get-driver.sh SUITE OUT [PACKAGE...] — unpacks the NVIDIA user-space driver of a Debian suite (non-free) into OUT, flat:
# bullseye = 470 (CUDA 11.4), bookworm = 535 (12.2), trixie = 550 (12.4). The files are NVIDIA's: for a temporary
# directory only. Takes the mirror that this machine's apt uses, with a state of its own. DRIVER_ARCH: Debian's name of
# another architecture.
set -euo pipefail
suite=$1 out=$2
shift 2
command -v apt-get >/dev/null && command -v dpkg >/dev/null || { echo "get-driver: needs apt-get and dpkg" >&2 && exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mirror=$(awk '/^URIs:/ {print $2; exit}' /etc/apt/sources.list.d/debian.sources 2>/dev/null || true)
[ -n "$mirror" ] || mirror=$(awk '$1 == "deb" {for (i = 2; i <= NF; i++) if ($i ~ /:\/\//) {print $i; exit}}' /etc/apt/sources.list /etc/apt/sources.list.d/*.list 2>/dev/null || true)
case $mirror in *debian*) ;; *) echo "get-driver.sh: apt knows no Debian archive" >&2 && exit 1 ;; esac
mkdir -p "$work/state/lists/partial" "$work/cache/archives/partial" "$work/x" "$out"
: >"$work/status"
echo "deb [trusted=yes] $mirror $suite main contrib non-free" >"$work/list"
apt=(timeout 120 apt-get -q -o "Dir::State=$work/state" -o "Dir::State::status=$work/status" -o "Dir::Cache=$work/cache"
  -o "Dir::Etc::sourcelist=$work/list" -o Dir::Etc::sourceparts=- -o APT::Sandbox::User=root -o Acquire::Retries=1
  -o Acquire::http::Timeout=20)
[ -z "${DRIVER_ARCH:-}" ] || apt+=(-o "APT::Architecture=$DRIVER_ARCH" -o "APT::Architectures=$DRIVER_ARCH")
"${apt[@]}" update >"$work/log" 2>&1 || { tail -n 3 "$work/log" >&2 && exit 1; }
cd "$work"
for package in libcuda1 libnvidia-ptxjitcompiler1 libnvidia-nvvm4 libcudadebugger1 libnvidia-ml1 "$@"; do
  # Not every driver has every one of them (libcudadebugger1 begins with 515).
  "${apt[@]}" download "$package" >>"$work/log" 2>&1 || echo "get-driver: $suite has no $package"
done
for package in *.deb; do dpkg -x "$package" x; done
find x -name 'lib*.so*' -not -path '*/doc/*' -exec cp -a {} "$out/" \;
[ -e "$out/libcuda.so.1" ]
