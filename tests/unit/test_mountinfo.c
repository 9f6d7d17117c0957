/* SPDX-License-Identifier: MIT */
#include "../compat/cmocka.h"

#include <sys/sysmacros.h>

#include "mountinfo.h"

static const char text[] =
	"22 27 0:21 / /proc rw,nosuid shared:5 - proc proc rw\n"
	"30 27 0:26 / /mnt/a\\040b ro - fuse.gldriverfs gldriverfs:run-opengl\\134x2ddriver "
	"ro,user_id=1000,group_id=1000,default_permissions\n"
	"a line that is none\n"
	"31 27 259:7 / /mnt/a\\040b rw shared:6 master:7 - ext4 /dev/x rw\n"
	"32 27 0:29 / /last ro - fuse.gldriverfs gldriverfs:x ro,user_id=0";

static void test_parse(void **state)
{
	_cleanup_(mountinfo_clear) struct mountinfo info = { 0 };

	(void)state;
	assert_int_equal(mountinfo_parse(text, &info), 0);
	assert_int_equal(info.count, 4);
	assert_string_equal(info.entries[1].mountpoint, "/mnt/a b");
	assert_int_equal(info.entries[1].owner, 1000);
	assert_true(info.entries[1].is_fuse);
	assert_false(info.entries[2].is_fuse);
	assert_true(info.entries[0].shared);
	assert_false(info.entries[1].shared);
	assert_true(info.entries[2].shared);
	assert_int_equal(info.entries[1].id, 30);
	assert_int_equal(info.entries[1].device, makedev(0, 26));
	assert_string_equal(mountinfo_instance(&info.entries[1]), "run-opengl\\x2ddriver");
	assert_int_equal(info.entries[2].device, makedev(259, 7));
	assert_null(mountinfo_instance(&info.entries[2]));
	/* The later one lies above. */
	assert_ptr_equal(mountinfo_at(&info, "/mnt/a b"), &info.entries[2]);
	assert_null(mountinfo_at(&info, "/mnt"));
	assert_string_equal(mountinfo_instance(mountinfo_at(&info, "/last")), "x");
}

static void test_read(void **state)
{
	_cleanup_(mountinfo_clear) struct mountinfo info = { 0 };

	(void)state;
	assert_int_equal(mountinfo_read(&info), 0);
	assert_non_null(mountinfo_at(&info, "/proc"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parse),
		cmocka_unit_test(test_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
