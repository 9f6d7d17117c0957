/* SPDX-License-Identifier: MIT */
#include "../compat/cmocka.h"

#include <string.h>

#include "../../fs/facts.c"

static const struct {
	const char *driver;
	const char *cuda;
} cudas[] = {
	{ "470.256.02", "11.4" },
	{ "535.261.03", "12.2" },
	{ "550.120", "12.4" },
	{ "595.1", "13.2" },
	{ "540.4.0", NULL },
	{ "34.1.1", NULL },
	{ "1.1", NULL },
	{ NULL, NULL },
};

static void test_cuda_of_driver(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cudas); i++)
		assert_true(string_equal(facts_cuda_of_driver(cudas[i].driver), cudas[i].cuda));
	for (size_t i = 1; i < ARRAY_SIZE(branches); i++) {
		assert_true(strcmp(branches[i - 1].major, branches[i].major) < 0);
		assert_true(version_compare(branches[i - 1].cuda, branches[i].cuda) < 0);
	}
}

static void test_set_copy_clear(void **state)
{
	struct facts facts = { 0 };
	struct facts copy;

	(void)state;
	assert_int_equal(facts_set(&facts, FACT_HOST_CUDA, "12.2", "%s:%d", "a.conf", 7), 0);
	assert_int_equal(facts_set(&facts, FACT_KERNEL_DRIVER, NULL, "absent"), 0);
	/* its own value */
	assert_int_equal(facts_set(&facts, FACT_HOST_CUDA, facts.items[FACT_HOST_CUDA].value, "%s",
				 facts.items[FACT_HOST_CUDA].source),
		0);
	assert_int_equal(facts_copy(&facts, &copy), 0);
	facts_clear(&facts);
	assert_null(facts.items[FACT_HOST_CUDA].value);
	assert_string_equal(copy.items[FACT_HOST_CUDA].value, "12.2");
	assert_string_equal(copy.items[FACT_HOST_CUDA].source, "a.conf:7");
	assert_null(copy.items[FACT_KERNEL_DRIVER].value);
	assert_string_equal(copy.items[FACT_KERNEL_DRIVER].source, "absent");
	assert_null(copy.items[FACT_COMPAT_CUDA].source);
	facts_clear(&copy);
	assert_string_equal(fact_name(FACT_KERNEL_DRIVER), "kernel-driver");
	assert_string_equal(fact_name(FACT_COMPAT_CUDA), "compat-cuda");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cuda_of_driver),
		cmocka_unit_test(test_set_copy_clear),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
