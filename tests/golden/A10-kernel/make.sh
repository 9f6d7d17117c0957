# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Case A10: the kernel driver's version wins over the link.
. tests/golden/A10-link/make.sh
kernel_driver 440.33.01
