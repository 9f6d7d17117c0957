/* SPDX-License-Identifier: MIT */
#include "../compat/cmocka.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "names.h"

/* What `systemd-escape -p PATH` prints (systemd 252). */
static const struct {
	const char *path;
	const char *escaped; /* NULL: -EINVAL */
} escapes[] = {
	{ "/run/opengl-driver", "run-opengl\\x2ddriver" },
	{ "/", "-" },
	{ "//", "-" },
	{ "/a//b/./c/", "a-b-c" },
	{ "/.hidden/.x", "\\x2ehidden-.x" },
	{ "/a b/c:d_e.f", "a\\x20b-c:d_e.f" },
	{ "/\xc3\xa9", "\\xc3\\xa9" },
	{ "/a\\b", "a\\x5cb" },
	{ "/a/../b", NULL },
	{ "relative", NULL },
	{ "", NULL },
};

static void test_escape(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(escapes); i++) {
		_cleanup_(freep) char *escaped = NULL;
		int r = names_escape(escapes[i].path, &escaped);

		if (escapes[i].escaped) {
			assert_int_equal(r, 0);
			assert_string_equal(escaped, escapes[i].escaped);
		} else {
			assert_int_equal(r, -EINVAL);
		}
	}
}

static const struct {
	struct names_input input;
	int result;
	const char *name;
	const char *socket;
	const char *override;
	const char *persist;
} cases[] = {
	{ { 0 }, 0, "gldriverfs", "/run/gldriverfs/gldriverfs.sock",
		"/run/gldriverfs/gldriverfs.override.conf",
		"/etc/gldriverfs/gldriverfs.conf.d/99-gldriverctl.conf" },
	{ { .mountpoint = "/run//opengl-driver/" }, 0, "gldriverfs",
		"/run/gldriverfs/gldriverfs.sock", "/run/gldriverfs/gldriverfs.override.conf",
		"/etc/gldriverfs/gldriverfs.conf.d/99-gldriverctl.conf" },
	{ { .mountpoint = "/mnt/x" }, 0, "mnt-x", "/run/gldriverfs/mnt-x.sock",
		"/run/gldriverfs/mnt-x.override.conf",
		"/etc/gldriverfs/mnt-x.conf.d/99-gldriverctl.conf" },
	{ { .mountpoint = "/mnt/x", .name = "test" }, 0, "test", "/run/gldriverfs/test.sock",
		"/run/gldriverfs/test.override.conf",
		"/etc/gldriverfs/test.conf.d/99-gldriverctl.conf" },
	{ { .user = true, .runtime_dir = "/run/user/7", .home = "/home/u" }, 0, "gldriverfs",
		"/run/user/7/gldriverfs/gldriverfs.sock",
		"/run/user/7/gldriverfs/gldriverfs.override.conf",
		"/home/u/.config/gldriverfs/gldriverfs.conf.d/99-gldriverctl.conf" },
	{ { .user = true,
		  .runtime_dir = "/run/user/7",
		  .mountpoint = "/run/user/7/opengl-driver",
		  .config_home = "/c" },
		0, "gldriverfs", "/run/user/7/gldriverfs/gldriverfs.sock",
		"/run/user/7/gldriverfs/gldriverfs.override.conf",
		"/c/gldriverfs/gldriverfs.conf.d/99-gldriverctl.conf" },
	{ { .user = true, .runtime_dir = "/run/user/7", .mountpoint = "/run/opengl-driver" }, 0,
		"run-opengl\\x2ddriver", "/run/user/7/gldriverfs/run-opengl\\x2ddriver.sock",
		"/run/user/7/gldriverfs/run-opengl\\x2ddriver.override.conf", NULL },
	{ { .user = true }, -ENOKEY },
	{ { .user = true, .runtime_dir = "relative" }, -ENOKEY },
	{ { .name = "" }, -EINVAL },
	{ { .name = "../x" }, -EINVAL },
	{ { .name = ".x" }, -EINVAL },
	{ { .name = "a\nb" }, -EINVAL },
	{ { .mountpoint = "x" }, -EINVAL },
};

static void assert_text(const char *got, const char *expected)
{
	if (expected)
		assert_string_equal(got, expected);
	else
		assert_null(got);
}

static void test_make(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct names names = { 0 };

		assert_int_equal(names_make(&cases[i].input, &names), cases[i].result);
		assert_text(names.name, cases[i].name);
		assert_text(names.socket, cases[i].socket);
		assert_text(names.override, cases[i].override);
		assert_text(names.persist, cases[i].persist);
		names_clear(&names);
	}
}

static void test_long(void **state)
{
	char path[400] = "/";
	struct names_input input = { .mountpoint = path };
	struct names names = { 0 };

	(void)state;
	memset(path + 1, 'a', NAMES_MAX);
	assert_int_equal(names_make(&input, &names), 0);
	names_clear(&names);
	memset(path + 1, 'a', NAMES_MAX + 1);
	assert_int_equal(names_make(&input, &names), -ENAMETOOLONG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_escape),
		cmocka_unit_test(test_make),
		cmocka_unit_test(test_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
