# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# A CDI spec in YAML that the policy names: refused with what to do.
put /etc/cdi/nvidia.yaml <<<'cdiVersion: 0.6.0'
