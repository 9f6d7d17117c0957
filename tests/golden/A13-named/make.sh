# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Case A13: libdrm when named; the C library never.
. tests/golden/A13/make.sh
