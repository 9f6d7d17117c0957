/* SPDX-License-Identifier: MIT */
#include "../compat/cmocka.h"

#include <errno.h>

#include "blocking.h"

static void test_hung_device(void **state)
{
	struct blocking blocking;
	const uint64_t start = 100, late = start + BLOCKING_MS;

	(void)state;
	blocking_init(&blocking);
	for (size_t i = 0; i < BLOCKING_MAX; i++)
		assert_int_equal(blocking_begin(&blocking, i, 7, start + (i == 0)), 0);
	/* Many that wait are no sign of a hung one, nor is one of them too young. */
	assert_int_equal(blocking_begin(&blocking, 8, 7, start), 0);
	blocking_end(&blocking, 8);
	assert_int_equal(blocking_begin(&blocking, 8, 7, late), 0);
	blocking_end(&blocking, 8);
	assert_int_equal(blocking_begin(&blocking, 8, 7, late + 1), -EIO);
	assert_int_equal(blocking_begin(&blocking, 8, 8, late + 1), 0);
	/* It answers again. */
	blocking_end(&blocking, 3);
	assert_int_equal(blocking_begin(&blocking, 9, 7, late + 1), 0);
	blocking_clear(&blocking);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hung_device),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
