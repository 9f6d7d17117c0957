# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Case A13: not even by a wildcard.
. tests/golden/A13/make.sh
