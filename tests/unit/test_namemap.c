/* SPDX-License-Identifier: MIT */
#include "../compat/cmocka.h"

#include <errno.h>
#include <stdio.h>

#include "../../fs/namemap.h"

static void test_empty(void **state)
{
	struct namemap map = { 0 };

	(void)state;
	assert_false(namemap_get(&map, "a", NULL));
	namemap_clear(&map);
}

static void test_many(void **state)
{
	enum { MANY = 5000 };
	static char names[MANY][16];
	struct namemap map = { 0 };
	size_t value;

	(void)state;
	for (size_t i = 0; i < MANY; i++) {
		snprintf(names[i], sizeof(names[i]), "name-%zu", i);
		assert_int_equal(namemap_put(&map, names[i], i), 0);
	}
	assert_int_equal(map.count, MANY);
	assert_int_equal(namemap_put(&map, "name-17", 99), -EEXIST);
	for (size_t i = 0; i < MANY; i++) {
		assert_true(namemap_get(&map, names[i], &value));
		assert_int_equal(value, i);
	}
	assert_false(namemap_get(&map, "name-5000", &value));
	namemap_clear(&map);
	assert_int_equal(map.count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
