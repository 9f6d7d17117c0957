# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Case A01: with compat off everything is the host's.
. tests/golden/A01-on/make.sh
