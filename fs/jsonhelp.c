/* SPDX-License-Identifier: MIT */
#include "jsonhelp.h"

#include <stdlib.h>
#include <string.h>

json_t *jsonhelp_text(const char *text)
{
	_cleanup_(freep) char *copy = NULL;
	json_t *string;

	if (!text)
		return json_null();
	string = json_string(text);
	if (string)
		return string;
	copy = strdup(text);
	if (!copy)
		return NULL;
	for (char *c = copy; *c; c++)
		if (*c & 0x80)
			*c = '?';
	return json_string(copy);
}

const char *jsonhelp_string(const json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key));
}

void jsonhelp_decrefp(json_t **p)
{
	json_decref(*p);
}
