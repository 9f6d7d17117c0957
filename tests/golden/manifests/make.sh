# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# ICD and layer files of a driver package: good ones, broken ones, and one that names a library which is not there.
tree=/opt/driver
lib $tree/lib/libGLX_nvidia.so.0 libGLX_nvidia.so.0
put $tree/share/vulkan/icd.d/nvidia_icd.json <<<'{"file_format_version":"1.0.1","ICD":{"library_path":"libGLX_nvidia.so.0"}}'
put $tree/share/vulkan/icd.d/broken.json <<<'{"ICD":{"library_path":"libGLX_nvidia.so.0",}}'
put $tree/share/vulkan/implicit_layer.d/layers.json <<<'{"layers":[{"library_path":"libGLX_nvidia.so.0"},{"library_path":"/opt/other/libother.so"}]}'
put $tree/share/vulkan/explicit_layer.d/array.json <<<'[]'
put $tree/share/drirc.d/broken.json <<<'{'
put $tree/etc/OpenCL/vendors/nvidia.icd <<<'libnvidia-opencl.so.1'
put $tree/etc/OpenCL/vendors/empty.icd </dev/null
