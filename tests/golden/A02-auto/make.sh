# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Case A02: auto does not use a compat whose closure is incomplete.
. tests/golden/A02-on/make.sh
