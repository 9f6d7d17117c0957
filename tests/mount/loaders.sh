#!/bin/bash
# SPDX-License-Identifier: MIT
# The Vulkan loader (and libglvnd's libEGL, where it is installed) read the mount's manifests and open its libraries, as
# strace sees: where the mount is, where it is bound, and where that is all there is in a root beside the programs.
. "$(dirname "$0")/../lib/fixture.sh"
need_root
need_fuse
loader_of() { /sbin/ldconfig -p | sed -n "s/.*$1 (.*) => //p" | head -n 1; }
vulkan=$(loader_of libvulkan.so.1) egl=$(loader_of libEGL.so.1)
[ -n "$vulkan" ] || skip "needs the Vulkan loader (libvulkan1)"
strace -o /dev/null true 2>/dev/null || skip "needs strace"

# A driver that makes instances and has no devices; layers that say nothing are opened and left out by the loader.
tree=$T/tree
mkdir -p "$tree"/{lib,share/vulkan/{icd.d,implicit_layer.d,explicit_layer.d},share/glvnd/egl_vendor.d}
"$CC" -shared -fPIC -O1 -Wl,-soname,libGLX_nvidia.so.0 -x c - -o "$tree/lib/libGLX_nvidia.so.0" <<'END'
#include <string.h>
static int nothing(void) { return 0; }
static int enumerate(const char *layer, unsigned *count, void *properties)
{
	(void)layer, (void)properties;
	*count = 0;
	return 0;
}
static int create(const void *info, const void *allocator, void **instance)
{
	static unsigned long long magic[8] = { 0x01cdc0de }; /* ICD_LOADER_MAGIC */

	(void)info, (void)allocator;
	*instance = magic;
	return 0;
}
void *vk_icdGetInstanceProcAddr(void *instance, const char *name);
void *vk_icdGetInstanceProcAddr(void *instance, const char *name)
{
	(void)instance;
	if (strcmp(name, "vkEnumerateInstanceExtensionProperties") == 0)
		return (void *)enumerate;
	return strcmp(name, "vkCreateInstance") == 0 ? (void *)create : (void *)nothing;
}
END
make_lib "$tree/lib/libnvimplicit.so" libnvimplicit.so tree
make_lib "$tree/lib/libnvexplicit.so" libnvexplicit.so tree
make_lib "$tree/lib/libEGL_nvidia.so.0" libEGL_nvidia.so.0 tree
echo '{"file_format_version":"1.0.1","ICD":{"library_path":"/usr/lib/nowhere/libGLX_nvidia.so.0","api_version":"1.3.204"}}' >"$tree/share/vulkan/icd.d/nvidia_icd.json"
for kind in implicit explicit; do
  printf '{"file_format_version":"1.0.0","layer":{"name":"VK_LAYER_TEST_%s","type":"GLOBAL","library_path":"libnv%s.so","api_version":"1.3.204","implementation_version":"1","description":"-"%s}}\n' \
    $kind $kind "$([ $kind = explicit ] || echo ',"disable_environment":{"WITHOUT_THE_LAYER":"1"}')" >"$tree/share/vulkan/${kind}_layer.d/nvidia_layers.json"
done
echo '{"file_format_version":"1.0.0","ICD":{"library_path":"libEGL_nvidia.so.0"}}' >"$tree/share/glvnd/egl_vendor.d/10_nvidia.json"
"$CC" -O1 -o "$T/egl" -x c - -ldl <<'END'
#include <dlfcn.h>
int main(int argc, char **argv)
{
	void *loader = dlopen(argv[argc - 1], RTLD_NOW), *(*get)(void *) = loader ? dlsym(loader, "eglGetDisplay") : 0;

	return get ? !!get(0) : 2;
}
END

# A root with nothing but these programs and what they need.
ROOT=$T/root
mkdir -p "$ROOT/driver" "$T/elsewhere"
cp "$HELPERS/vulkan" "$T/egl" "$ROOT/"
for object in "$ROOT/vulkan" "$ROOT/egl" "$vulkan" ${egl:+"$egl"}; do
  { echo "$object" && ldd "$object" | grep -o '/[^ ]*'; } | grep -vF "$ROOT" | while IFS= read -r path; do
    mkdir -p "$ROOT${path%/*}"
    cp -L "$path" "$ROOT$path"
  done
done

# Of the last command, below that path: opened with success.
opened() { # PATH NAME
  grep -F "\"$1/" "$T/trace" | grep -E "/$2\", .*= [0-9]" >/dev/null ||
    fail "$2 is not opened below $1: $(grep -F "$2" "$T/trace" || echo never)"
}
# The programs see the driver directory AT; where they run in the root, COMMAND is chroot.
read_by_loaders() { # AT VULKAN EGL [COMMAND...]
  local at=$1 client=$2 egl_client=$3 name out
  shift 3
  # As a NixOS session has it: the loader looks into each XDG_DATA_DIRS/vulkan.
  out=$(env -i "XDG_DATA_DIRS=$at/share" VK_INSTANCE_LAYERS=VK_LAYER_TEST_explicit strace -f -e trace=open,openat -o "$T/trace" "$@" "$client" "$vulkan") ||
    fail "no instance at $at: $out"
  expect_same "$out" "extensions 0 instance 0"
  for name in share/vulkan/icd.d/nvidia_icd.json share/vulkan/implicit_layer.d/nvidia_layers.json share/vulkan/explicit_layer.d/nvidia_layers.json \
    lib/libGLX_nvidia.so.0 lib/libnvimplicit.so lib/libnvexplicit.so; do
    opened "$at" "$name"
  done
  grep -F "\"/usr/lib/nowhere" "$T/trace" && fail "the host's path is tried"
  env -i "VK_DRIVER_FILES=$at/share/vulkan/icd.d/nvidia_icd.json" "VK_ICD_FILENAMES=$at/share/vulkan/icd.d/nvidia_icd.json" \
    strace -f -e trace=open,openat -o "$T/trace" "$@" "$client" "$vulkan" >"$T/out" || fail "no instance by the file's name at $at: $(cat "$T/out")"
  opened "$at" lib/libGLX_nvidia.so.0
  [ -n "$egl" ] || return 0
  env -i "__EGL_VENDOR_LIBRARY_DIRS=$at/share/glvnd/egl_vendor.d" strace -f -e trace=open,openat -o "$T/trace" "$@" "$egl_client" "$egl" || :
  opened "$at" share/glvnd/egl_vendor.d/10_nvidia.json
  opened "$at" lib/libEGL_nvidia.so.0
}

chroot=$(command -v chroot)
serve() { # KEY...
  policy "[gldriverfs]" "$@" "[layer host]" "role = host" "tree = $tree"
  start_daemon
  read_by_loaders "$MNT" "$HELPERS/vulkan" "$T/egl"
  mount --bind "$MNT" "$T/elsewhere"
  read_by_loaders "$T/elsewhere" "$HELPERS/vulkan" "$T/egl"
  umount "$T/elsewhere"
  mount --bind "$MNT" "$ROOT/driver"
}
# What gets a RUNPATH is a file in all three.
for present in auto file symlink; do
  serve "present = $present"
  read_by_loaders /driver /vulkan /egl "$chroot" "$ROOT"
  umount "$ROOT/driver"
  stop_daemon
done
# A link leads to the host's file: the manifest is found in the other root, the library is not.
serve "present = symlink" "runpath = none"
[ -L "$MNT/lib/libGLX_nvidia.so.0" ] || fail "the library is no link"
expect_same "$(env -i XDG_DATA_DIRS=/driver/share strace -f -e trace=open,openat -o "$T/trace" "$chroot" "$ROOT" /vulkan "$vulkan" || :)" \
  "extensions 0 instance -9"
opened /driver share/vulkan/icd.d/nvidia_icd.json
umount "$ROOT/driver"
stop_daemon
echo "read by: Vulkan $vulkan${egl:+, libglvnd $egl}"
