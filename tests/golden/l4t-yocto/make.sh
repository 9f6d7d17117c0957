# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# meta-tegra: everything flat in /usr/lib, no release file; the compatible string tells.
. tests/lib/l4t.sh
soc tegra234
d=/usr/lib
cuda $d
cuda_tools $d 35.4.1
tegra $d
tegra_r35 $d
foreign $d
lib $d/libfoo.so.1 libfoo.so.1
