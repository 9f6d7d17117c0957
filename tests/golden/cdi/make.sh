# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# A CDI spec in JSON: mounts of all containers and of one device, a name that differs in the container; YAML beside it.
d=/usr/lib/x86_64-linux-gnu
driver $d 550.120 libcuda libnvidia-ml
lib /opt/cache/abc libnvoptix.so.1
lib /opt/cache/libnvidia-cfg.so.550.120 libnvidia-cfg.so.1
lib /opt/cache/libc.so.6 libc.so.6
put /usr/share/vulkan/icd.d/nvidia_icd.json <<<'{"file_format_version":"1.0.1","ICD":{"library_path":"libGLX_nvidia.so.0","api_version":"1.3.277"}}'
put /var/run/cdi/nvidia.json <<END
{"cdiVersion": "0.6.0", "kind": "nvidia.com/gpu",
 "devices": [{"name": "0", "containerEdits": {"mounts": [
   {"hostPath": "/opt/cache/libnvidia-cfg.so.550.120", "containerPath": "$d/libnvidia-cfg.so.550.120"}]}}],
 "containerEdits": {"mounts": [
   {"hostPath": "$d/libcuda.so.550.120", "containerPath": "$d/libcuda.so.550.120", "options": ["ro"]},
   {"hostPath": "$d/libnvidia-ml.so.1", "containerPath": "$d/libnvidia-ml.so.1"},
   {"hostPath": "/opt/cache/libnvidia-cfg.so.550.120", "containerPath": "/usr/lib/libc.so.6"},
   {"hostPath": "/opt/cache/libc.so.6", "containerPath": "$d/libnvoptix.so.1"},
   {"hostPath": "/usr/bin/nvidia-smi", "containerPath": "/usr/bin/nvidia-smi"},
   {"hostPath": "/usr/share/vulkan/icd.d/nvidia_icd.json", "containerPath": "/etc/vulkan/icd.d/nvidia_icd.json"},
   {"hostPath": "relative"}]}}
END
put /var/run/cdi/other.yaml <<<'cdiVersion: 0.6.0'
put /var/run/cdi/broken.json <<<'{"cdiVersion": "0.6.0",}'
