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
	{ "//run/opengl-driver//lib/./libcuda.so.1", 1, 1, 0, "comes from layer compat" },
	{ "lib//libcuda.so.1", 1, 1, 0, "comes from layer compat" },
	{ "./lib/libcuda.so.1", 1, 1, 0, "comes from layer compat" },
	{ "lib", 0, 0, 0, "is a directory" },
	{ "/", 0, 0, 0, "/ is the driver directory itself" },
	{ "/run/opengl-driver/", 0, 0, 0, "is the driver directory itself" },
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

/* The RUNPATH, how it was given, or why not. */
static void test_plan(void **state)
{
	static const struct {
		struct plan plan;
		const char *runpath;
		const char *json;
	} plans[] = {
		{ { .wanted = (char *)"$ORIGIN", .patch = { .kind = ELFPATCH_TAIL } }, "$ORIGIN",
			"\"plan\": {\"kind\": \"tail\", \"reason\": null, \"runpath\": "
			"\"$ORIGIN\"}" },
		{ { .wanted = (char *)"x", .patch = { ELFPATCH_REFUSED, ELFPATCH_LOADER } }, NULL,
			"\"plan\": {\"kind\": \"none\", \"reason\": \"it is the dynamic loader "
			"itself\", \"runpath\": null}" },
		{ { .why = "it is so" }, NULL,
			"\"plan\": {\"kind\": \"none\", \"reason\": \"it is so\", "
			"\"runpath\": null}" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(plans); i++) {
		_cleanup_(generation_unrefp) struct generation *generation = builder_generation();
		struct plan *plan = calloc(1, sizeof(*plan));
		_cleanup_(jsonhelp_decrefp) json_t *reply = NULL;
		_cleanup_(freep) char *served = NULL;

		*plan = plans[i].plan;
		plan->wanted = plan->wanted ? strdup(plan->wanted) : NULL;
		plan->source = source_ref(generation->layers[0]->candidates[0].source);
		if (plans[i].runpath) {
			plan->patch.runpath = strdup(plans[i].runpath);
			plan->patch.overlay = overlay_new(1000);
		}
		generation->plans = (struct plan_list){ plan, 1 };
		reply = explain_name(generation, "libcuda.so.1");
		served = json_dumps(
			json_array_get(json_object_get(reply, "served"), 0), JSON_SORT_KEYS);
		if (!strstr(served, plans[i].json))
			fail_msg("%s", served);
	}
}

/* The decision is told of the CUDA set only, and of what has its SONAMEs. */
static void test_compat(void **state)
{
	static const char *const decided[] = { "libcuda.so.1", "/h/libcuda.so.470.1",
		"libnvidia-nvvm.so.4" };
	static const char *const others[] = { "libnvcuvid.so.1", "lib", "libnvidia-ml.so.1" };
	_cleanup_(generation_unrefp) struct generation *generation = builder_generation();

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(decided); i++) {
		_cleanup_(jsonhelp_decrefp) json_t *reply = explain_name(generation, decided[i]);
		const json_t *compat = json_object_get(reply, "compat");

		assert_string_equal(jsonhelp_string(compat, "rule"), "forced-on");
		assert_string_equal(jsonhelp_string(compat, "reason"), "the policy says so");
	}
	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		_cleanup_(jsonhelp_decrefp) json_t *reply = explain_name(generation, others[i]);

		assert_true(json_is_null(json_object_get(reply, "compat")));
	}
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
		cmocka_unit_test(test_plan),
		cmocka_unit_test(test_compat),
		cmocka_unit_test(test_excluded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
