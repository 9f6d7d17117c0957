/* SPDX-License-Identifier: MIT */
#include "../compat/cmocka.h"

#include <string.h>

#include "facts.h"

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
		cmocka_unit_test(test_set_copy_clear),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
