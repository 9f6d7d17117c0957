/* SPDX-License-Identifier: MIT */
#include "../compat/cmocka.h"

#include "explain.h"
#include "generation_builder.h"

static const struct {
	const char *name;
	size_t served, lost, rejected;
	const char *summary; /* a part of it */
	bool lost_itself;    /* another file of its SONAME is served */
} cases[] = {
	{ "libcuda.so.1", 1, 1, 0, "comes from layer compat: /c/libcuda.so.1.1" },
	{ "libcuda.so.1.1", 1, 1, 0, "comes from layer compat" },
	/* No name of the served one: this very file is not there. */
	{ "libcuda.so.470.1", 1, 1, 0, "libcuda.so.470.1 is not served: compat gives the CUDA set",
		true },
	{ "lib/libcuda.so.470.1", 1, 1, 0, "is not served: compat gives the CUDA set", true },
	{ "lib/libcuda.so.1", 1, 1, 0, "comes from layer compat" },
	{ "/run/opengl-driver/lib/libcuda.so.1", 1, 1, 0, "comes from layer compat" },
	{ "/h/libcuda.so.470.1", 1, 1, 0, "is not served: compat gives the CUDA set", true },
	{ "/c/libcuda.so.1.1", 1, 1, 0, "comes from layer compat" },
	{ "libnvcuvid.so.1", 0, 0, 1, "the file is empty" },
	{ "libnvcuvid.so.525.1", 0, 0, 1, "the file is empty" },
	{ "libnvcuvid.so", 0, 0, 1, "the file is empty" },
	{ "lib", 0, 0, 0, "is a directory" },
	{ "share/x.json", 0, 0, 0, "is made by gldriverfs itself" },
	{ "libdrm.so.2", 0, 0, 0,
		"libdrm.so.2 is served only when asked: write 'include = libdrm.so.2'" },
	{ "libc.so.6", 0, 0, 0, "never served, even if asked" },
	{ "libfoo.so.1", 0, 0, 0, "no driver library" },
	{ "libnvidia-ml.so.1", 0, 0, 0, "no layer has a file of this name" },
};

static void test_explain(void **state)
{
	_cleanup_(generation_unrefp) struct generation *generation = builder_generation();

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_(jsonhelp_decrefp) json_t *reply = explain_name(generation, cases[i].name);

		assert_non_null(reply);
		if (!strstr(jsonhelp_string(reply, "summary"), cases[i].summary))
			fail_msg("%s: %s", cases[i].name, jsonhelp_string(reply, "summary"));
		assert_int_equal(
			json_array_size(json_object_get(reply, "served")), cases[i].served);
		assert_int_equal(json_array_size(json_object_get(reply, "lost")), cases[i].lost);
		assert_int_equal(
			json_array_size(json_object_get(reply, "rejected")), cases[i].rejected);
		assert_int_equal(json_is_true(json_object_get(reply, "found")),
			cases[i].served > 0 && !cases[i].lost_itself);
	}
}

static void test_details(void **state)
{
	_cleanup_(generation_unrefp) struct generation *generation = builder_generation();
	_cleanup_(jsonhelp_decrefp) json_t *reply = explain_name(generation, "libcuda.so.1");
	_cleanup_(freep) char *served = NULL;
	_cleanup_(freep) char *lost = NULL;

	(void)state;
	served = json_dumps(json_array_get(json_object_get(reply, "served"), 0), JSON_SORT_KEYS);
	lost = json_dumps(json_array_get(json_object_get(reply, "lost"), 0), JSON_SORT_KEYS);
	assert_non_null(strstr(served, "{\"layer\": null, \"name\": \"libnvrm_gpu.so\", \"note\": "
				       "\"no layer provides it\", \"path\": null}"));
	assert_non_null(strstr(served, "{\"layer\": null, \"name\": \"libc.so.6\", \"note\": \"of "
				       "the C library: the program's own\", \"path\": null}"));
	assert_non_null(strstr(served, "\"why\": \"layer compat comes first\""));
	assert_non_null(strstr(lost, "\"why\": \"compat gives the CUDA set\""));
	assert_non_null(strstr(lost, "\"verdict\": \"hidden-by-compat\""));
}

static void test_excluded(void **state)
{
	_cleanup_(generation_unrefp) struct generation *generation = builder_generation();
	struct policy_layer *host = &generation->policy->layers[1];
	_cleanup_(jsonhelp_decrefp) json_t *reply = NULL;

	(void)state;
	host->excludes.items = calloc(1, sizeof(*host->excludes.items));
	host->excludes.items[0].text = strdup("libnvidia-ml*");
	host->excludes.count = 1;
	reply = explain_name(generation, "libnvidia-ml.so.1");
	assert_non_null(strstr(jsonhelp_string(reply, "summary"), "'exclude' of layer host"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_explain),
		cmocka_unit_test(test_details),
		cmocka_unit_test(test_excluded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
