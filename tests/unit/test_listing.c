/* SPDX-License-Identifier: MIT */
#include "../compat/cmocka.h"

#include <errno.h>

#include "generation_builder.h"
#include "listing.h"

static const struct {
	const char *path;
	bool recursive;
	const char *lines; /* NULL: -ENOENT */
} cases[] = {
	{ "", false, "lib directory|share directory|" },
	{ "/", true,
		"lib directory|lib/libcuda.so.1 link|lib/libcuda.so.1.1 file|share "
		"directory|share/x.json content|" },
	{ "/run/opengl-driver/lib/", false, "lib/libcuda.so.1 link|lib/libcuda.so.1.1 file|" },
	{ "/run/opengl-driver", false, "lib directory|share directory|" },
	{ "/run/opengl-drivers", false, NULL },
	{ "/run//opengl-driver/./lib//", false, "lib/libcuda.so.1 link|lib/libcuda.so.1.1 file|" },
	{ ".", false, "lib directory|share directory|" },
	{ "lib/.x", false, NULL },
	{ "lib/..", false, NULL },
	{ "lib/libcuda.so.1", false, "lib/libcuda.so.1 link|" },
	{ ".gldriverfs", false, ".gldriverfs/status.json content|" },
	{ "lib/absent", false, NULL },
	{ "absent/x", false, NULL },
};

static void test_listing(void **state)
{
	_cleanup_(generation_unrefp) struct generation *generation = builder_generation();

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_(jsonhelp_decrefp) json_t *list = NULL;
		char lines[512] = "";
		const json_t *entry;
		size_t j;
		int r = listing_json(generation, cases[i].path, cases[i].recursive, &list);

		assert_int_equal(r, cases[i].lines ? 0 : -ENOENT);
		if (!cases[i].lines)
			continue;
		json_array_foreach(json_object_get(list, "entries"), j, entry)
		{
			strcat(lines, jsonhelp_string(entry, "path"));
			strcat(lines, " ");
			strcat(lines, jsonhelp_string(entry, "type"));
			strcat(lines, "|");
		}
		assert_string_equal(lines, cases[i].lines);
	}
}

static void test_entry(void **state)
{
	_cleanup_(generation_unrefp) struct generation *generation = builder_generation();
	_cleanup_(jsonhelp_decrefp) json_t *list = NULL;
	_cleanup_(freep) char *text = NULL;

	(void)state;
	assert_int_equal(listing_json(generation, "lib/libcuda.so.1", false, &list), 0);
	text = json_dumps(json_array_get(json_object_get(list, "entries"), 0), 0);
	assert_string_equal(text,
		"{\"path\": \"lib/libcuda.so.1\", \"type\": \"link\", \"layer\": \"compat\", "
		"\"source\": \"/c/libcuda.so.1.1\", \"target\": \"libcuda.so.1.1\", \"size\": "
		"null}");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_listing),
		cmocka_unit_test(test_entry),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
