# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Case A02: with libnvsocsys the closure resolves.
. tests/golden/A02-on/make.sh
lib $tegra/libnvsocsys.so libnvsocsys.so
