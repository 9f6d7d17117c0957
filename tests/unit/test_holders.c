/* SPDX-License-Identifier: MIT */
#include "../compat/cmocka.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "holders.h"
#include "util.h"

static void test_own(void **state)
{
	_cleanup_(freep) char *mine = string_format("test_holders (%d)", (int)getpid());
	_cleanup_(freep) char *text = NULL;
	struct stat st;

	(void)state;
	assert_return_code(stat("/proc/self/exe", &st), 0);
	text = holders_text(st.st_dev);
	assert_non_null(text);
	/* Others have their files on this device too. */
	assert_true(strstr(text, mine) || strstr(text, " more"));
}

static void test_none(void **state)
{
	_cleanup_(freep) char *text = NULL;
	struct stat st;

	(void)state;
	assert_return_code(stat("/proc", &st), 0);
	text = holders_text(st.st_dev);
	assert_string_equal(text, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_own),
		cmocka_unit_test(test_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
