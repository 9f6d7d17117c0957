/* SPDX-License-Identifier: MIT */
/* cdi: specs to mounts, refusals and warnings. */
#include "../compat/cmocka.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cdi.h"

static const struct {
	const char *text;
	const char *expected; /* mounts; or "! " and why */
	size_t warnings;
} cases[] = {
	{ "{\"cdiVersion\":\"0.5.0\"}", "", 0 },
	{ " \n{\"cdiVersion\":\"0.5.0\",\"containerEdits\":{\"mounts\":["
	  "{\"hostPath\":\"/a\",\"containerPath\":\"/b\",\"options\":[\"ro\"]},{\"hostPath\":\"/"
	  "c\"}]}}",
		"/a /b\n/c /c\n", 0 },
	{ "{\"cdiVersion\":\"0.5.0\",\"devices\":[{\"name\":\"0\",\"containerEdits\":{\"mounts\":[{"
	  "\"hostPath\":\"/a\",\"containerPath\":\"/a\"}]}},{\"name\":\"1\"},7],"
	  "\"containerEdits\":{\"mounts\":[{\"hostPath\":\"/z\",\"containerPath\":\"/z\"}]}}",
		"/z /z\n/a /a\n", 0 },
	{ "{\"cdiVersion\":\"0.5.0\",\"containerEdits\":{\"mounts\":[{\"hostPath\":\"a\"},{"
	  "\"hostPath\":7},5,{\"hostPath\":\"a\",\"containerPath\":\"/b\"},{\"hostPath\":\"/"
	  "a\",\"containerPath\":\"b\"},{\"hostPath\":\"/"
	  "b\"}]}}",
		"/b /b\n", 1 },
	{ "{\"cdiVersion\":\"0.5.0\",\"containerEdits\":[],\"devices\":{}}", "", 0 },
	{ "{\"cdiVersion\":\"0.5.0\",}",
		"! it is not valid JSON: line 1: string or '}' expected near '}'", 0 },
	{ "{}", "! it is no CDI spec: it has no cdiVersion", 0 },
	{ "cdiVersion: 0.5.0\nkind: nvidia.com/gpu\n",
		"! it is not JSON; a CDI spec in YAML is not read (nvidia-ctk cdi generate "
		"--format=json writes JSON)",
		0 },
	{ "[]",
		"! it is not JSON; a CDI spec in YAML is not read (nvidia-ctk cdi generate "
		"--format=json writes JSON)",
		0 },
	{ "",
		"! it is not JSON; a CDI spec in YAML is not read (nvidia-ctk cdi generate "
		"--format=json writes JSON)",
		0 },
};

static void test_cases(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_(diag_clear) struct diag_list diags = { 0 };
		_cleanup_(cdi_clear) struct cdi cdi = { 0 };
		_cleanup_(freep) char *why = NULL;
		char got[512] = "";
		int result = cdi_parse(
			"x.json", cases[i].text, strlen(cases[i].text), &cdi, &diags, &why);

		assert_int_equal(result, why ? -EINVAL : 0);
		if (why)
			snprintf(got, sizeof(got), "! %s", why);
		for (size_t n = 0; n < cdi.count; n++) {
			strcat(got, cdi.items[n].host_path);
			strcat(got, " ");
			strcat(got, cdi.items[n].container_path);
			strcat(got, "\n");
		}
		if (strcmp(got, cases[i].expected) != 0)
			fail_msg(
				"%s:\n%s-- expected --\n%s", cases[i].text, got, cases[i].expected);
		assert_int_equal(diags.count, cases[i].warnings);
	}
}

static void test_names(void **state)
{
	(void)state;
	assert_true(cdi_is_json("nvidia.json"));
	assert_false(cdi_is_json("nvidia.json~"));
	assert_false(cdi_is_json(".json"));
	assert_true(cdi_is_yaml("nvidia.yaml") && cdi_is_yaml("nvidia.yml"));
	assert_false(cdi_is_yaml("nvidia.json"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cases),
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests_name("cdi", tests, NULL, NULL);
}
