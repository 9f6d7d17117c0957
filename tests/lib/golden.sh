# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# golden.sh — what the make.sh of a golden case uses to build its machine in $ROOT. Sourced by tests/golden.sh, which
# sets $ROOT and $CACHE.

# lib PATH SONAME [NEEDED...]: a library; SONAME "-": none. Its content depends on the file's name, so that two versions
# are no copies. The same one is linked once.
lib() {
  local out=$ROOT$1 soname=$2 name=${1##*/} needed key flags=()
  shift 2
  key=$CACHE/$(printf '%s|' "$name" "$soname" "$@" | md5sum | cut -c1-20).so
  if [ ! -e "$key" ]; then
    [ "$soname" = - ] || flags+=("-Wl,-soname,$soname")
    for needed; do
      [ -e "$CACHE/$needed.link" ] ||
        echo 'void nothing(void);' | ${CC:-cc} -shared -nostdlib -x c - -o "$CACHE/$needed.link" "-Wl,-soname,$needed"
      flags+=("$CACHE/$needed.link")
    done
    echo "const char *who(void); const char *who(void) { return \"$name\"; }" |
      ${CC:-cc} -shared -fPIC -nostdlib -x c - -o "$key" -x none -Wl,--no-as-needed "${flags[@]}"
  fi
  mkdir -p "${out%/*}"
  cp "$key" "$out"
}

# link TARGET PATH
link() {
  mkdir -p "$ROOT${2%/*}"
  ln -s "$1" "$ROOT$2"
}

# put PATH: standard input becomes that file.
put() {
  mkdir -p "$ROOT${1%/*}"
  cat >"$ROOT$1"
}

# byte PATH OFFSET OCTAL: changes one byte.
byte() {
  # shellcheck disable=SC2059 # the format is the byte
  printf "\\$3" | dd of="$ROOT$1" bs=1 seek="$2" conv=notrunc status=none
}

# driver DIRECTORY VERSION NAME...: each library NAME as NAME.so.VERSION with SONAME NAME.so.1 and its links.
driver() {
  local directory=$1 version=$2 name
  shift 2
  for name; do
    lib "$directory/$name.so.$version" "$name.so.1"
    ln -sf "$name.so.$version" "$ROOT$directory/$name.so.1"
    ln -sf "$name.so.1" "$ROOT$directory/$name.so"
  done
}

# kernel_driver VERSION
kernel_driver() {
  put /proc/driver/nvidia/version <<<"NVRM version: NVIDIA UNIX x86_64 Kernel Module  $1  Fri Sep 13 10:10:01 UTC 2024"
}

# /etc/ld.so.cache of the machine, by its /etc/ld.so.conf.
loader_cache() {
  local as_root=()
  [ "$(id -u)" = 0 ] || as_root=(unshare -r)
  "${as_root[@]}" /sbin/ldconfig -X -r "$ROOT" 2>"$CACHE/ldconfig" || {
    cat "$CACHE/ldconfig"
    return 1
  }
}
