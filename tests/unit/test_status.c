/* SPDX-License-Identifier: MIT */
#include "../compat/cmocka.h"

#include "generation_builder.h"
#include "status.h"

/* Follows "a.0.b" through objects and arrays. */
static const json_t *at(const json_t *value, const char *path)
{
	char copy[128], *rest = copy, *part;

	strcpy(copy, path);
	while (value && (part = strsep(&rest, ".")))
		value = json_is_array(value) ? json_array_get(value, strtoul(part, NULL, 10))
					     : json_object_get(value, part);
	return value;
}

static const struct {
	const char *path;
	const char *json; /* NULL: the key must not be there */
} expected[] = {
	{ "name", "\"gldriverfs\"" },
	{ "mountpoint", "\"/run/opengl-driver\"" },
	{ "pid", "42" },
	{ "keeper_pid", "null" },
	{ "owner", "1000" },
	{ "config", "null" },
	{ "requests", "{\"lookup\": 7}" },
	{ "compat.on", "true" },
	{ "compat.mode", "\"on\"" },
	{ "compat.mode_from", "\"/etc/p.conf:3\"" },
	{ "compat.rule", "\"forced-on\"" },
	{ "compat.reason", "\"the policy says so\"" },
	{ "compat.layer", "\"compat\"" },
	{ "compat.directory", "\"/c\"" },
	{ "compat.facts.8",
		"{\"name\": \"host-cuda\", \"value\": \"11.4\", \"source\": \"table\"}" },
	{ "layers.0",
		"{\"name\": \"compat\", \"role\": \"compat\", \"order\": 10, \"directories\": "
		"[{\"path\": \"/c\", \"present\": true, \"from\": \"/etc/p.conf:7\"}], \"served\": "
		"1}" },
	{ "layers.1.served", "0" },
	{ "rejected",
		"[{\"path\": \"/h/libnvcuvid.so.1\", \"reason\": \"the file is empty\", \"layer\": "
		"\"host\"}]" },
	{ "problems.0.level", "\"error\"" },
	{ "problems.0.id", "\"policy\"" },
	{ "problems.0.file", "\"/etc/new.conf\"" },
	{ "problems.0.line", "null" },
	{ "problems.0.text", "\"bad\"" },
	{ "problems.0.remedy", "\"correct the file at the line that is named\"" },
	{ "problems.0.needed", NULL },
	{ "problems.1.id", "\"cuda-load\"" },
	{ "problems.1.needed", "\"libnvrm_gpu.so\"" },
	{ "problems.1.by", "\"libcuda.so.1.1\"" },
	{ "problems.2.level", "\"warning\"" },
	{ "problems.2.line", "4" },
	{ "problems.2.text", "\"be careful\"" },
	{ "problems.3.level", "\"info\"" },
	{ "problems.4", NULL },
};

static void test_status(void **state)
{
	_cleanup_(generation_unrefp) struct generation *generation = builder_generation();
	struct diag_list failed = { 0 };
	struct status_runtime runtime = { .pid = 42,
		.owner = 1000,
		.requests = { { "lookup", 7 } },
		.n_requests = 1,
		.failed = &failed };
	_cleanup_(jsonhelp_decrefp) json_t *status = NULL;

	(void)state;
	diag_add(&failed, DIAG_ERROR, "/etc/new.conf", 0, "bad");
	status = status_json(generation, &runtime);
	assert_non_null(status);
	for (size_t i = 0; i < ARRAY_SIZE(expected); i++) {
		const json_t *value = at(status, expected[i].path);
		_cleanup_(freep) char *text = value ? json_dumps(value, JSON_ENCODE_ANY) : NULL;

		if (expected[i].json)
			assert_string_equal(text ? text : expected[i].path, expected[i].json);
		else
			assert_null(value);
	}
	diag_clear(&failed);
}

static void test_text_has_no_runtime(void **state)
{
	_cleanup_(generation_unrefp) struct generation *generation = builder_generation();
	_cleanup_(freep) char *text = status_text(generation);
	_cleanup_(jsonhelp_decrefp) json_t *status = json_loads(text, 0, NULL);

	(void)state;
	assert_true(string_has_suffix(text, "}\n"));
	assert_string_equal(jsonhelp_string(status, "generation"), generation->view->id);
	assert_null(json_object_get(status, "pid"));
	assert_null(json_object_get(status, "requests"));
}

static void test_invalid_utf8(void **state)
{
	_cleanup_(generation_unrefp) struct generation *generation = builder_generation();
	_cleanup_(jsonhelp_decrefp) json_t *status = NULL;

	(void)state;
	layer_add_rejection(generation->layers[0], "/c/\xff\xfe.so", "odd");
	status = status_json(generation, NULL);
	assert_string_equal(json_string_value(at(status, "rejected.0.path")), "/c/??.so");
}

static void test_answers(void **state)
{
	_cleanup_(generation_unrefp) struct generation *generation = builder_generation();
	_cleanup_(jsonhelp_decrefp) json_t *change = status_change_json(generation, true);
	_cleanup_(jsonhelp_decrefp) json_t *error =
		status_error_json("failed", "no", &generation->diags);

	(void)state;
	assert_true(json_is_true(at(change, "changed")));
	assert_string_equal(jsonhelp_string(change, "generation"), generation->view->id);
	assert_string_equal(json_string_value(at(error, "code")), "failed");
	assert_string_equal(json_string_value(at(error, "problems.0.text")), "be careful");
}

static void test_facts(void **state)
{
	_cleanup_(generation_unrefp) struct generation *generation = builder_generation();
	_cleanup_(jsonhelp_decrefp) json_t *answer = status_facts_answer(generation);

	(void)state;
	assert_string_equal(jsonhelp_string(answer, "mountpoint"), "/run/opengl-driver");
	assert_int_equal(json_array_size(at(answer, "facts")), FACT_COUNT);
	for (size_t i = 0; i < FACT_COUNT; i++) {
		const json_t *fact = json_array_get(at(answer, "facts"), i);

		assert_string_equal(jsonhelp_string(fact, "name"), fact_name(i));
		assert_true(json_object_get(fact, "value") && json_object_get(fact, "source"));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_status),
		cmocka_unit_test(test_text_has_no_runtime),
		cmocka_unit_test(test_invalid_utf8),
		cmocka_unit_test(test_answers),
		cmocka_unit_test(test_facts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
