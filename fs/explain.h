/* SPDX-License-Identifier: MIT */
/* explain: why one name of the view is what it is, as JSON (DESIGN 7). Core. */
#pragma once

#include "generation.h"
#include "jsonhelp.h"

/* Why the name is what it is. name: a path in the view (also below the mountpoint), a host path, a
 * file name or a SONAME. {name, found, summary, served[], aliases[], lost[], rejected[],
 * compat}: served
 * {path, layer, source, soname, why, needed[{name, path, layer, note}], names[],
 * plan{kind: "in place", "tail", "none", reason, runpath} or null}, lost {path,
 * layer, source, verdict, why}; compat (status_compat_json) where the decision matters: the CUDA
 * set, else null. NULL without memory. */
json_t *explain_name(const struct generation *generation, const char *name);
