# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# machine.sh — a whole machine in $ROOT and its policy from words (the head of tests/machines/jetson.txt says which).
# Sourced after golden.sh.

# Real ones, but for the last (FACTS.md 3): of the servers' 575.57.08, of Orin's 13.2.1, made up like the first.
declare -A notes=(
  [server12]='{"format":1,"CUDA version":"12.9","driver":[535,550,560,565,570,575],"device":[1,2,7,8,9,10,11,12,13,14]}'
  [server13]='{"format":1,"CUDA version":"13.2","driver":[535,550,570,575,580,590,595],"device":[1,2,7,8,9]}'
  [orin]='{"format":1,"CUDA version":"13.2"}'
  [comma]='{"format":1,"CUDA version":"12.9","driver":[535,550,],}'
)

# cuda PATH NOTE [NEEDED [RUNPATH]]: a libcuda, with a forward-compatibility note unless NOTE is empty.
cuda() {
  local path=$1 note=$2 needed=${3:-} runpath=${4:-} key flags=()
  key=$CACHE/cuda-${path##*/}-$note-$needed-${runpath//\//_}.so
  if [ ! -e "$key" ]; then
    if [ -n "$needed" ]; then
      [ -e "$CACHE/$needed.link" ] ||
        echo 'void nothing(void);' | ${CC:-cc} -shared -nostdlib -x c - -o "$CACHE/$needed.link" "-Wl,-soname,$needed"
      flags=("-Wl,--no-as-needed" "$CACHE/$needed.link")
      [ -z "$runpath" ] || flags+=("-Wl,-rpath,$runpath")
    fi
    {
      echo "const char *who(void); const char *who(void) { return \"${path##*/}\"; }"
      [ -z "$note" ] || {
        printf '%s' "${notes[$note]}" >"$CACHE/$note.json"
        printf '__asm__(".pushsection .note.cuda.fwd_compatibility,\\"\\",%%note\\n.balign 4\\n.long 19,%s,0\\n"\n' \
          "${#notes[$note]}"
        printf '".ascii \\"NVIDIA Corporation\\\\0\\"\\n.balign 4\\n.incbin \\"%s\\"\\n.balign 4\\n.popsection");\n' \
          "$CACHE/$note.json"
      }
    } | ${CC:-cc} -shared -fPIC -nostdlib -x c - -o "$key" -x none -Wl,-soname,libcuda.so.1 "${flags[@]}"
  fi
  mkdir -p "$ROOT${path%/*}"
  cp "$key" "$ROOT$path"
  ln -sf "${path##*/}" "$ROOT${path%/*}/libcuda.so.1"
  ln -sf libcuda.so.1 "$ROOT${path%/*}/libcuda.so"
}

# make_machine POLICY WORD...
make_machine() {
  local policy=$1 word value mode=auto unknown=off host='' host_cuda='' compat_cuda='' compats=() needed='' runpath='' directory
  local version note rest
  shift
  for word; do
    value=${word#*=}
    value=${value//_/ }
    case $word in
    soc=*) printf 'nvidia,board-0000+0001\0nvidia,%s\0nvidia,tegra23x\0' "$value" | put /proc/device-tree/compatible ;;
    board=*) printf '%s\0' "$value" | put /proc/device-tree/compatible ;;
    l4t=*)
      put /etc/nv_tegra_release <<<"# R${value%%.*} (release), REVISION: ${value#*.}, GCID: 45755727, BOARD: generic, EABI: aarch64, DATE: Mon Jun  1 09:28:48 PM UTC 2026
# KERNEL_VARIANT: oot"
      ;;
    dpkg=*) put /var/lib/dpkg/status <<<"Package: nvidia-l4t-core
Status: install ok installed
Version: $value-20230801124926" ;;
    driver=*) kernel_driver "$value" ;;
    open=*) put /proc/driver/nvidia/version <<<"NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  $value  Release Build  (dvs-builder@x)  Sat Sep 20 11:11:11 UTC 2025
GCC version:  gcc version 13.2.0 (Debian)" ;;
    arm=*) put /proc/driver/nvidia/version <<<"NVRM version: NVIDIA UNIX Kernel Module for aarch64  $value  Release Build  (buildbrain@x)  Mon May 16 11:11:11 UTC 2022" ;;
    sys=*) put /sys/module/nvidia/version <<<"$value" ;;
    gpu=*) put /proc/driver/nvidia/gpus/0000:01:00.0/information <<<"Model: 		 $value" ;;
    host=*) host=${word#*=} ;;
    compat=*) compats+=("${word#*=}") ;;
    host.cuda=*) host_cuda="cuda = $value" ;;
    compat.cuda=*) compat_cuda="cuda = $value" ;;
    mode=*) mode=$value ;;
    unknown=*) unknown=$value ;;
    without=nvrm) needed=none ;;
    compat.runpath=*) runpath=${word#*=} ;;
    nvrm=*) lib "${word#*=}/libnvrm_gpu.so" libnvrm_gpu.so ;;
    *) echo "unknown word $word" >&2 && return 1 ;;
    esac
  done
  printf '[compat]\nmode = %s\non-unknown = %s\n' "$mode" "$unknown" >"$policy"
  if [ ${#compats[@]} -gt 0 ]; then
    printf '[layer compat]\nrole = compat\n%s\n' "$compat_cuda" >>"$policy"
    for word in "${compats[@]}"; do
      directory=${word%%:*} rest=${word#*:}
      version=${rest%%:*} note=
      [ "$rest" = "$version" ] || note=${rest#*:}
      # only a Jetson's needs libnvrm
      case $version in 1.*) cuda "$directory/libcuda.so.$version" "$note" libnvrm_gpu.so "$runpath" ;; *) cuda "$directory/libcuda.so.$version" "$note" ;; esac
      grep -qxF "dir = $directory" "$policy" || echo "dir = $directory" >>"$policy"
    done
  fi
  [ -n "$host" ] || return 0
  directory=${host%:*}
  [ -z "${host##*:}" ] || cuda "$directory/libcuda.so.${host##*:}" ""
  [ -n "$needed" ] || lib "$directory/libnvrm_gpu.so" libnvrm_gpu.so
  mkdir -p "$ROOT$directory"
  printf '[layer host]\nrole = host\ndir = %s\n%s\n' "$directory" "$host_cuda" >>"$policy"
}
