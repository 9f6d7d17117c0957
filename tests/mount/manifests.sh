#!/bin/bash
# SPDX-License-Identifier: MIT
# ICD and layer files: regular files in all presentations, one token changed, sizes right; a broken or huge one is not
# served and says why; one that names a library outside lib/ is served as it is, with a warning. loaders.sh reads them.
. "$(dirname "$0")/../lib/fixture.sh"
need_root
need_fuse

tree=$T/tree
mkdir -p "$tree"/{lib,share/vulkan/{icd.d,implicit_layer.d},share/glvnd/egl_vendor.d,share/egl/egl_external_platform.d,etc/OpenCL/vendors}
for name in libGLX_nvidia.so.0 libEGL_nvidia.so.0 libnvidia-egl-wayland.so.1 libnvidia-opencl.so.1; do
  make_lib "$tree/lib/$name" $name tree
done
icd=share/vulkan/icd.d/nvidia_icd.json vendor=share/glvnd/egl_vendor.d/10_nvidia.json
printf '{ "file_format_version" : "1.0.1",\n  "ICD":{"library_path":"libGLX_nvidia.so.0",  "api_version" : "1.3.204" } }' >"$tree/$icd"
printf '{"file_format_version":"1.0.0","ICD":{"library_path":"libEGL_nvidia.so.0"}}\n' >"$tree/$vendor"
printf '{"file_format_version":"1.0.0","ICD":{"library_path":"/usr/lib/x/libnvidia-egl-wayland.so.1"}}\n' >"$tree/share/egl/egl_external_platform.d/10_wayland.json"
echo libnvidia-opencl.so.1 >"$tree/etc/OpenCL/vendors/nvidia.icd"
echo '{"layers":[{"name":"a","library_path":"libGLX_nvidia.so.0"},{"name":"b","library_path":"libelsewhere.so"}]}' >"$tree/share/vulkan/implicit_layer.d/nvidia_layers.json"
echo '{"ICD":{"library_path":"libGLX_nvidia.so.0",}}' >"$tree/share/vulkan/icd.d/broken.json"
{ printf '{"ICD":{"library_path":"libGLX_nvidia.so.0"},"x":"' && head -c 70000 /dev/zero | tr '\0' x && echo '"}'; } >"$tree/share/vulkan/icd.d/huge.json"
touch -d '2020-02-02 02:02:02' "$tree/$icd"

for present in auto file symlink; do
  policy "[gldriverfs]" "present = $present" "[layer host]" "role = host" "tree = $tree"
  start_daemon
  expect_same "$(cat "$MNT/$icd")" "$(sed 's|"libGLX|"../../../lib/libGLX|' "$tree/$icd")"
  expect_same "$(cat "$MNT/$vendor")" '{"file_format_version":"1.0.0","ICD":{"library_path":"../../../lib/libEGL_nvidia.so.0"}}'
  expect_same "$(jq -r .ICD.library_path "$MNT/share/egl/egl_external_platform.d/10_wayland.json")" "$MNT/lib/libnvidia-egl-wayland.so.1"
  expect_same "$(cat "$MNT/etc/OpenCL/vendors/nvidia.icd")" "$MNT/lib/libnvidia-opencl.so.1"
  expect_same "$(jq -rc '[.layers[].library_path]' "$MNT/share/vulkan/implicit_layer.d/nvidia_layers.json")" '["../../../lib/libGLX_nvidia.so.0","libelsewhere.so"]'
  find "$MNT/share" "$MNT/etc" -type l | grep . && fail "a manifest is a link"
  find "$MNT/share" "$MNT/etc" -type f | while IFS= read -r file; do
    expect_same "$(stat -c %s "$file")" "$(wc -c <"$file")" "$file's size"
  done
  expect_same "$(stat -c %y "$MNT/$icd")" "$(stat -c %y "$tree/$icd")"
  expect_absent "$MNT/share/vulkan/icd.d/broken.json"
  expect_absent "$MNT/share/vulkan/icd.d/huge.json"
  rejected=$(status_of '.rejected[] | "\(.path) \(.reason)"')
  expect_has "$rejected" "broken.json it is no valid JSON"
  expect_has "$rejected" "huge.json it is larger than 64 KiB"
  expect_has "$(status_of '.problems[] | select(.id == "manifest-outside") | .text')" libelsewhere.so
  stop_daemon
done

# Odd ones: the token of each library that lib/ has is another one, every other byte is the host's.
rm -rf "$tree/share"
mkdir -p "$tree/share/vulkan/icd.d"
new=../../../lib/libGLX_nvidia.so.0
odd() { # NAME PRINTF-FORMAT of the host's file PRINTF-FORMAT of the served one
  # shellcheck disable=SC2059 # they are formats
  printf "$2" >"$tree/share/vulkan/icd.d/$1.json"
  # shellcheck disable=SC2059
  printf "$3" >"$T/expected/$1.json"
}
mkdir "$T/expected"
odd slash '{"ICD":{"library_path":"\\u002fusr\\u002flib\\u002flibGLX_nvidia.so.0"}}' "{\"ICD\":{\"library_path\":\"$new\"}}"
odd mark '\xef\xbb\xbf{"ICD":{"library_path":"libGLX_nvidia.so.0"}}\r\n' "\xef\xbb\xbf{\"ICD\":{\"library_path\":\"$new\"}}\r\n"
odd twice '{"ICD":{"library_path":"libGLX_nvidia.so.0","library_path":"x/libGLX_nvidia.so.0"},"ICD":{"library_path":"libGLX_nvidia.so.0"}}' \
  "{\"ICD\":{\"library_path\":\"$new\",\"library_path\":\"$new\"},\"ICD\":{\"library_path\":\"$new\"}}"
odd nested '{"library_path":"libGLX_nvidia.so.0","ICD":{"x":{"library_path":"libGLX_nvidia.so.0"},"library_path":"libGLX_nvidia.so.0"}}' \
  "{\"library_path\":\"libGLX_nvidia.so.0\",\"ICD\":{\"x\":{\"library_path\":\"libGLX_nvidia.so.0\"},\"library_path\":\"$new\"}}"
odd relative '{"ICD":{"library_path":"./libGLX_nvidia.so.0"}}' "{\"ICD\":{\"library_path\":\"$new\"}}"
odd above '{"ICD":{"library_path":"../../../lib/x/../libGLX_nvidia.so.0"}}' "{\"ICD\":{\"library_path\":\"$new\"}}"
odd right "{\"ICD\":{\"library_path\":\"$new\"}}" "{\"ICD\":{\"library_path\":\"$new\"}}"
odd directory '{"ICD":{"library_path":".."}}' '{"ICD":{"library_path":".."}}'
odd absent '{"ICD":{"library_path":"../x/libabsent.so"}}' '{"ICD":{"library_path":"../x/libabsent.so"}}'
# 64 KiB is the most, before the change.
{ printf '{"ICD":{"library_path":"libGLX_nvidia.so.0"},"x":"' && head -c $((65536 - 52)) /dev/zero | tr '\0' x && printf '"}'; } >"$tree/share/vulkan/icd.d/most.json"
expect_same "$(stat -c %s "$tree/share/vulkan/icd.d/most.json")" 65536
sed "s|libGLX|../../../lib/libGLX|" "$tree/share/vulkan/icd.d/most.json" >"$T/expected/most.json"
cp "$tree/share/vulkan/icd.d/most.json" "$tree/share/vulkan/icd.d/more.json"
printf ' ' >>"$tree/share/vulkan/icd.d/more.json"
printf '{"ICD":{"library_path":"libGLX_nvidia.so.0\\u0000"}}' >"$tree/share/vulkan/icd.d/nul-escape.json"
printf '{"ICD":{"library_path":"libGLX_nvidia.so.0"}}\0' >"$tree/share/vulkan/icd.d/nul.json"
printf '\xff\xfe{\0}\0' >"$tree/share/vulkan/icd.d/utf16.json"
for present in file symlink; do
  policy "[gldriverfs]" "present = $present" "[layer host]" "role = host" "tree = $tree"
  start_daemon
  diff -r "$T/expected" "$MNT/share/vulkan/icd.d"
  for file in "$MNT"/share/vulkan/icd.d/*; do expect_same "$(stat -c %s "$file")" "$(wc -c <"$file")" "$file's size"; done
  rejected=$(status_of '.rejected[] | "\(.path) \(.reason)"')
  expect_has "$rejected" "more.json it is larger than 64 KiB"
  for name in nul-escape nul utf16; do expect_has "$rejected" "/$name.json it is no valid JSON"; done
  expect_same "$(status_of '[.problems[] | select(.id == "manifest-outside")] | length')" 2
  stop_daemon
done
