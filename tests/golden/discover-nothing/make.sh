# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# A machine without any driver.
mkdir -p "$ROOT/usr/lib"
put /etc/ld.so.cache <<<junk
