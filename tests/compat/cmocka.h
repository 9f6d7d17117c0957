/* SPDX-License-Identifier: MIT */
/* cmocka 1.1.5 (Debian 12) and 2.0 (nixpkgs) behind one include. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
