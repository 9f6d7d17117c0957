# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# vm.sh — another kernel, without KVM: qemu boots a Debian kernel with an initramfs that holds busybox, FUSE's module and
# what is to be run. Needs archive.sh; kernels, a sysroot and busybox are kept in $VM_CACHE, outside of the repository.

VM_CACHE=${TMPDIR:-/tmp}/gldriverfs-cache-$UID

# vm_cache_open: makes the cache; returns 1 where somebody else has made it.
vm_cache_open() {
  mkdir -p "$VM_CACHE" && [ -O "$VM_CACHE" ] && [ ! -L "$VM_CACHE" ] && chmod 700 "$VM_CACHE" ||
    { echo "$VM_CACHE is not ours" && return 1; }
}

# vm_unpack DIRECTORY PACKAGE_FILE...: without maintainer scripts; links at the top (/lib) stay.
vm_unpack() {
  local to=$1 file
  shift
  for file; do dpkg-deb --fsys-tarfile "$file" | tar -x --keep-directory-symlink -C "$to" || return 1; done
}

# vm_packages NAME SUITE ARCHITECTURE PACKAGE...: unpacked into $VM_CACHE/NAME, once. ARCHITECTURE's kernel is meant by
# the package "kernel". Returns 1 and says why when they cannot be had.
vm_packages() {
  local name=$1 suite=$2 arch=$3 new kernel package packages=()
  shift 3
  [ ! -d "$VM_CACHE/$name" ] || return 0
  new=$(mktemp -d "$VM_CACHE/new.XXXXXX")
  mkdir "$new/archive" "$new/root"
  archive_open "$new/archive" "$suite" "$arch" || { rm -rf "$new" && return 1; }
  for package; do
    if [ "$package" = kernel ]; then
      kernel=$(archive_depends "linux-image-$arch" '^linux-image-')
      # shellcheck disable=SC2207 # names of packages: since 7.x an image is split into several
      packages+=("$kernel" $(archive_depends "$kernel" '^linux-(binary|modules)-' || :))
    else
      packages+=("$package")
    fi
  done
  mkdir -p "$new/root/usr/"{bin,lib,sbin}
  for package in bin lib sbin; do ln -s usr/$package "$new/root/$package"; done
  archive_get "$new/archive" "${packages[@]}" && vm_unpack "$new/root" "$new"/archive/*.deb || { rm -rf "$new" && return 1; }
  if [ -n "${kernel:-}" ]; then # vmlinuz and, where FUSE is a module, fuse.ko: a hundred times smaller
    mkdir "$new/kernel"
    find "$new/root" -name "vmlinu[xz]*" -type f -exec cp {} "$new/kernel/vmlinuz" \;
    find "$new/root" -name 'fuse.ko*' -exec cp {} "$new/kernel/" \;
    case $(ls "$new/kernel") in *.xz*) xz -d "$new/kernel/"fuse.ko.xz ;; *.zst*) zstd -q -d --rm "$new/kernel/"fuse.ko.zst ;; esac
    rm -rf "$new/root" && mv "$new/kernel" "$new/root"
    [ -s "$new/root/vmlinuz" ] || { echo "$kernel has no kernel" && rm -rf "$new" && return 1; }
  fi
  mv -T "$new/root" "$VM_CACHE/$name" 2>/dev/null || [ -d "$VM_CACHE/$name" ]
  rm -rf "$new"
}

# vm_add ROOT LIBRARIES PROGRAM...: programs to ROOT/bin, with the loader and the libraries that they need, which are
# looked for in the directories LIBRARIES (separated by spaces).
vm_add() {
  local root=$1 libraries=$2 queue=() file needed directory loader
  shift 2
  mkdir -p "$root/bin" "$root/lib"
  for file; do
    cp "$file" "$root/bin/"
    queue+=("$file")
    loader=$(readelf -lW "$file" | sed -n 's/.*interpreter: \(.*\)]/\1/p')
    if [ -n "$loader" ] && [ ! -e "$root$loader" ]; then
      mkdir -p "$root$(dirname "$loader")"
      vm_find "$libraries" "$(basename "$loader")" >/dev/null || { echo "no $loader" && return 1; }
      cp -L "$(vm_find "$libraries" "$(basename "$loader")")" "$root$loader"
    fi
  done
  while [ ${#queue[@]} -gt 0 ]; do
    file=${queue[-1]}
    unset 'queue[-1]'
    for needed in $(readelf -dW "$file" | sed -n 's/.*(NEEDED).*\[\(.*\)]/\1/p'); do
      [ ! -e "$root/lib/$needed" ] || continue
      directory=$(vm_find "$libraries" "$needed") || { echo "no $needed, which $file needs" && return 1; }
      cp -L "$directory" "$root/lib/$needed"
      queue+=("$directory")
    done
  done
}
vm_find() { # DIRECTORIES NAME
  local directory
  for directory in $1; do
    [ ! -e "$directory/$2" ] || { echo "$directory/$2" && return 0; }
  done
  return 1
}

# vm_pack ROOT BUSYBOX OUT: the initramfs. BUSYBOX runs here.
vm_pack() {
  chmod 755 "$1"
  (cd "$1" && find . | "$2" cpio -o -H newc 2>/dev/null) | gzip -1 >"$3"
}

# vm_boot ARCHITECTURE KERNEL INITRAMFS CONSOLE: until it powers off; its console goes to the file.
vm_boot() {
  local qemu
  case $1 in
  amd64) qemu=(qemu-system-x86_64 -cpu max -append "console=ttyS0 panic=-1 quiet") ;;
  arm64) qemu=(qemu-system-aarch64 -machine virt -cpu cortex-a72 -append "console=ttyAMA0 panic=-1 quiet") ;;
  esac
  timeout -k 5 "${VM_SECONDS:-600}" "${qemu[@]}" -accel tcg -smp 2 -m 1024 -display none -monitor none -serial "file:$4" \
    -no-reboot -nic none -kernel "$2" -initrd "$3" </dev/null
}
