/* SPDX-License-Identifier: MIT */
/* jsonhelp: what jansson lacks for host strings: any bytes become a JSON string. Core. */
#pragma once

#include <jansson.h>

#include "util.h"

/* A JSON string of text, JSON null of NULL. Bytes of text that is not UTF-8 become '?'. NULL
 * without memory. */
json_t *jsonhelp_text(const char *text);
/* The text of a string member (borrowed), or NULL where it is missing or no string. */
const char *jsonhelp_string(const json_t *object, const char *key);
/* json_decref(*p). Fits _cleanup_. */
void jsonhelp_decrefp(json_t **p);
