/* SPDX-License-Identifier: MIT */
/* explain_internal: what explain's two halves share. Core. */
#pragma once

#include "explain.h"

/* One served candidate, as explain.h has it. NULL without memory. */
json_t *explain_served_json(const struct generation *generation, const struct verdict *verdict);
