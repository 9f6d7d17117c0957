/* SPDX-License-Identifier: MIT */
/* rootfs: walks in a made-up root: links, "..", loops, outer roots, trust, devices to avoid. */
#include "../compat/cmocka.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rootfs.h"
#include "util.h"

#define ERROR(code) (-(code))

struct fixture {
	char top[64];
	struct rootfs *root;
	struct rootfs *under;
};

static void make(const char *top, const char *path, const char *content)
{
	_cleanup_(freep) char *full = string_format("%s/%s", top, path);
	FILE *stream = fopen(full, "w");

	assert_non_null(stream);
	assert_true(fputs(content, stream) >= 0);
	assert_int_equal(fclose(stream), 0);
}

static void make_directory(const char *top, const char *path, mode_t mode, uid_t uid)
{
	_cleanup_(freep) char *full = string_format("%s/%s", top, path);

	assert_int_equal(mkdir(full, 0755), 0);
	assert_true(geteuid() != 0 || chown(full, uid, 0) == 0);
	assert_int_equal(chmod(full, mode), 0);
}

static void make_link(const char *top, const char *path, const char *target)
{
	_cleanup_(freep) char *full = string_format("%s/%s", top, path);

	assert_int_equal(symlink(target, full), 0);
}

static const struct {
	const char *path, *target;
} links[] = {
	{ "usr/lib/absolute", "/usr/lib/libx.so" },
	{ "usr/lib/relative", "../lib/libx.so" },
	{ "usr/lib/dangling", "nothing" },
	{ "usr/lib/self", "self" },
	{ "usr/lib/a", "b" },
	{ "usr/lib/b", "a" },
	{ "usr/lib/above", "../../../../../../usr/lib/libx.so" },
	{ "usr/lib/here", "." },
	{ "usr/lib/slashed", "libx.so/" },
	{ "lib", "usr/lib" },
	{ "run/driver/out", "/usr/lib/libx.so" },
	{ "run/driver/up", "../../usr/lib/libx.so" },
	{ "run/driver/in", "lib/liby.so" },
	{ "usr/lib/through-tmp", "/tmp/link" },
	{ "tmp/link", "/usr/lib/libx.so" },
	{ "usr/lib/through-user", "/home/user/link" },
	{ "home/user/link", "/usr/lib/libx.so" },
};

static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	_cleanup_(freep) char *under = NULL, *old = NULL;
	int fd;

	assert_non_null(f);
	umask(022);
	strcpy(f->top, "/tmp/test_rootfs.XXXXXX");
	assert_non_null(mkdtemp(f->top));
	assert_int_equal(chmod(f->top, 0755), 0);
	make_directory(f->top, "usr", 0755, 0);
	make_directory(f->top, "usr/lib", 0755, 0);
	make_directory(f->top, "run", 0755, 0);
	make_directory(f->top, "run/driver", 0755, 0);
	make_directory(f->top, "run/driver/lib", 0755, 0);
	make_directory(f->top, "tmp", 01777, 0);
	make_directory(f->top, "tmp/root", 0755, 0);
	make_directory(f->top, "tmp/user", 0755, 1000);
	make_directory(f->top, "group", 0775, 0);
	make_directory(f->top, "home", 0755, 0);
	make_directory(f->top, "home/user", 0755, 1000);
	make_directory(f->top, "home/user/sysroot", 0755, 0);
	make(f->top, "usr/lib/libx.so", "content\n");
	make(f->top, "usr/lib/open.so", "x");
	make(f->top, "tmp/root/f", "x");
	make(f->top, "tmp/user/f", "x");
	make(f->top, "tmp/f", "x");
	make(f->top, "group/f", "x");
	make(f->top, "home/user/sysroot/f", "x");
	make(f->top, "run/driver/lib/liby.so", "y");
	for (size_t i = 0; i < ARRAY_SIZE(links); i++)
		make_link(f->top, links[i].path, links[i].target);
	old = string_format("%s/usr/lib/open.so", f->top);
	assert_int_equal(chmod(old, 0666), 0);
	assert_int_equal(rootfs_open(f->top, &f->root), 0);
	under = string_format("%s/run/driver", f->top);
	fd = open(under, O_PATH | O_DIRECTORY | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(rootfs_from_fd(fd, "/run/driver", f->root, &f->under), 0);
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;
	_cleanup_(freep) char *command = string_format("rm -rf '%s'", f->top);

	rootfs_unref(f->under);
	rootfs_unref(f->root);
	assert_int_equal(system(command), 0);
	free(f);
	return 0;
}

static const struct {
	const char *path;
	bool under;
	int result;
	const char *canonical; /* inside the root that it lies in */
	bool outer;            /* it lies in the outer root */
} walks[] = {
	{ "/", false, 0, "/" },
	{ "/usr/lib/libx.so", false, 0, "/usr/lib/libx.so" },
	{ "//usr/./lib//libx.so", false, 0, "/usr/lib/libx.so" },
	{ "/usr/lib/../lib/libx.so", false, 0, "/usr/lib/libx.so" },
	{ "/usr/lib/", false, 0, "/usr/lib" },
	{ "/usr/lib/libx.so/", false, ERROR(ENOTDIR) },
	{ "/usr/lib/libx.so/.", false, ERROR(ENOTDIR) },
	{ "/usr/lib/libx.so/..", false, ERROR(ENOTDIR) },
	{ "/usr/lib/nothing", false, ERROR(ENOENT) },
	{ "", false, ERROR(ENOENT) },
	{ "usr", false, ERROR(EINVAL) },
	{ "/lib/libx.so", false, 0, "/usr/lib/libx.so" },
	{ "/lib", false, 0, "/usr/lib" },
	{ "/usr/lib/absolute", false, 0, "/usr/lib/libx.so" },
	{ "/usr/lib/relative", false, 0, "/usr/lib/libx.so" },
	{ "/usr/lib/above", false, 0, "/usr/lib/libx.so" },
	{ "/../../usr", false, 0, "/usr" },
	{ "/usr/lib/here/here/libx.so", false, 0, "/usr/lib/libx.so" },
	{ "/usr/lib/slashed", false, ERROR(ENOTDIR) },
	{ "/usr/lib/dangling", false, ERROR(ENOENT) },
	{ "/usr/lib/self", false, ERROR(ELOOP) },
	{ "/usr/lib/a", false, ERROR(ELOOP) },
	{ "/lib/liby.so", true, 0, "/lib/liby.so" },
	{ "/in", true, 0, "/lib/liby.so" },
	{ "/out", true, 0, "/usr/lib/libx.so", true },
	{ "/up", true, 0, "/usr/lib/libx.so", true },
	{ "/lib/..", true, 0, "/" },
	{ "/..", true, 0, "/run", true },
};

static void test_walk(void **state)
{
	struct fixture *f = *state;

	for (size_t i = 0; i < ARRAY_SIZE(walks); i++) {
		_cleanup_(rootfs_node_clear) struct rootfs_node node = { .fd = -1 };
		struct rootfs *start = walks[i].under ? f->under : f->root;
		int result = rootfs_walk(start, walks[i].path, NULL, &node);

		if (result != walks[i].result)
			fail_msg("%s: %d, not %d", walks[i].path, result, walks[i].result);
		if (result < 0)
			continue;
		assert_string_equal(node.path, walks[i].canonical);
		assert_ptr_equal(node.root, walks[i].outer ? f->root : start);
		assert_true(node.fd >= 0);
	}
}

static void test_walk_at(void **state)
{
	struct fixture *f = *state;
	_cleanup_(rootfs_node_clear) struct rootfs_node directory = { .fd = -1 };
	static const struct {
		const char *name;
		int result;
	} names[] = {
		{ "libx.so", 0 },
		{ "absolute", 0 },
		{ "above", 0 },
		{ "nothing", ERROR(ENOENT) },
		{ "dangling", ERROR(ENOENT) },
		{ "self", ERROR(ELOOP) },
		{ "", ERROR(EINVAL) },
		{ "a/b", ERROR(EINVAL) },
	};

	assert_int_equal(rootfs_walk(f->root, "/lib", NULL, &directory), 0);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		_cleanup_(rootfs_node_clear) struct rootfs_node node = { .fd = -1 };

		assert_int_equal(
			rootfs_walk_at(&directory, names[i].name, NULL, &node), names[i].result);
		if (names[i].result == 0) {
			assert_string_equal(node.path, "/usr/lib/libx.so");
			assert_int_equal(node.stat.st_size, 8);
		}
	}
	assert_string_equal(directory.path, "/usr/lib");
	assert_true(fcntl(directory.fd, F_GETFD) >= 0);
}

/* What is expected holds for a root-owned test directory: judged from a root in it. */
static void test_trust(void **state)
{
	struct fixture *f = *state;
	static const struct {
		const char *path, *untrusted;
	} cases[] = {
		{ "/usr/lib/libx.so", NULL },
		{ "/usr/lib/absolute", NULL },
		{ "/usr/lib/open.so", "/usr/lib/open.so" },
		{ "/group/f", "/group" },
		{ "/tmp", NULL },
		{ "/tmp/f", NULL },
		{ "/tmp/root/f", NULL },
		{ "/tmp/user/f", "/tmp" },
		{ "/home/user/sysroot/f", "/home/user" },
		{ "/usr/lib/through-tmp", "/tmp" },
		{ "/usr/lib/through-user", "/home/user" },
	};
	_cleanup_(freep) char *link = string_format("%s/tmp/link", f->top);
	_cleanup_(rootfs_unrefp) struct rootfs *inner = NULL;
	_cleanup_(rootfs_node_clear) struct rootfs_node tmp = { .fd = -1 }, node = { .fd = -1 };
	_cleanup_(freep) char *home = string_format("%s/home/user", f->top);

	if (geteuid() != 0)
		skip();
	assert_int_equal(lchown(link, 1000, 0), 0);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_(rootfs_node_clear) struct rootfs_node at = { .fd = -1 };
		_cleanup_(freep) char *expected =
			cases[i].untrusted ? string_format("%s%s", f->top, cases[i].untrusted)
					   : NULL;

		assert_int_equal(rootfs_walk(f->root, cases[i].path, NULL, &at), 0);
		if (!string_equal(at.untrusted, expected))
			fail_msg("%s: %s", cases[i].path, at.untrusted ? at.untrusted : "trusted");
	}
	assert_int_equal(rootfs_walk(f->root, "/tmp", NULL, &tmp), 0);
	assert_int_equal(rootfs_walk_at(&tmp, "user", NULL, &node), 0);
	assert_non_null(node.untrusted);
	rootfs_node_clear(&node);
	/* A root inside another one does not forget how it was reached. */
	assert_int_equal(rootfs_walk(f->root, "/home/user/sysroot", NULL, &node), 0);
	assert_int_equal(rootfs_open_node(&node, &inner), 0);
	rootfs_node_clear(&node);
	assert_int_equal(rootfs_walk(inner, "/f", NULL, &node), 0);
	assert_string_equal(node.untrusted, home);
	assert_string_equal(node.path, "/f");
	assert_true(string_has_suffix(inner->prefix, "/home/user/sysroot"));
}

static void test_avoid(void **state)
{
	struct fixture *f = *state;
	_cleanup_(rootfs_node_clear) struct rootfs_node node = { .fd = -1 }, up = { .fd = -1 };
	_cleanup_(freep) char *point = string_format("%s/run/driver", f->top);
	struct rootfs_avoid avoid = { 0 };
	struct rootfs_fuse fuse;
	dev_t own;

	assert_int_equal(rootfs_avoid_ours(&avoid), 0);
	rootfs_avoid_clear(&avoid);
	assert_int_equal(rootfs_walk(f->root, "/", NULL, &node), 0);
	own = node.stat.st_dev;
	avoid = (struct rootfs_avoid){ .devices = &own, .count = 1 };
	assert_int_equal(rootfs_walk(f->root, "/usr", &avoid, &up), -EREMOTE);
	assert_int_equal(rootfs_walk_at(&node, "usr", &avoid, &up), -EREMOTE);

	/* What a user's FUSE server says of its files is not believed. */
	fuse = (struct rootfs_fuse){ own, 4321 };
	avoid = (struct rootfs_avoid){ .fuse = &fuse, .n_fuse = 1 };
	assert_int_equal(rootfs_walk(f->root, "/usr", &avoid, &up), 0);
	assert_non_null(up.untrusted);
	rootfs_node_clear(&up);
	fuse.owner = 0;
	assert_int_equal(rootfs_walk(f->root, "/usr", &avoid, &up), 0);
	assert_true(geteuid() != 0 || !up.untrusted);
	rootfs_node_clear(&up);

	if (mount("gldriverfs:test", point, "tmpfs", 0, NULL) < 0)
		skip();
	assert_int_equal(rootfs_avoid_ours(&avoid), 0);
	assert_int_equal(rootfs_walk(f->root, "/run/driver", NULL, &up), 0);
	assert_true(avoid.count >= 1);
	assert_int_equal(avoid.devices[avoid.count - 1], up.stat.st_dev);
	rootfs_node_clear(&up);
	assert_int_equal(rootfs_walk(f->root, "/run/driver/lib/x", &avoid, &up), -EREMOTE);
	assert_int_equal(rootfs_walk(f->root, "/run", &avoid, &up), 0);
	/* What lies under it is another device. */
	rootfs_node_clear(&up);
	assert_int_equal(rootfs_walk(f->under, "/lib/liby.so", &avoid, &up), 0);
	assert_int_equal(umount2(point, MNT_DETACH), 0);
	rootfs_avoid_clear(&avoid);
}

static void test_open(void **state)
{
	struct fixture *f = *state;
	_cleanup_(freep) char *data = NULL;
	size_t size;
	int fd;

	fd = rootfs_open_canonical(f->root, "/usr/lib/libx.so");
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(rootfs_open_canonical(f->root, "/lib/libx.so"), -ELOOP);
	assert_int_equal(rootfs_open_canonical(f->root, "/usr/lib/absolute"), -ELOOP);
	assert_int_equal(rootfs_open_canonical(f->root, "/usr/lib/none"), -ENOENT);
	assert_int_equal(rootfs_open_canonical(f->root, "/usr/lib/libx.so/x"), -ENOTDIR);
	assert_int_equal(rootfs_open_canonical(f->root, "/usr/../usr"), -EINVAL);

	assert_int_equal(rootfs_read(f->root, "/lib/absolute", 8, &data, &size), 0);
	assert_int_equal(size, 8);
	assert_string_equal(data, "content\n");
	assert_int_equal(rootfs_read(f->root, "/lib/libx.so", 7, NULL, NULL), -EFBIG);
	assert_int_equal(rootfs_read(f->root, "/usr", 7, NULL, NULL), -EISDIR);
	assert_int_equal(rootfs_read(f->root, "/none", 7, NULL, NULL), -ENOENT);
	free(steal_pointer(data));
	{
		_cleanup_(rootfs_unrefp) struct rootfs *host = NULL;

		assert_int_equal(rootfs_open("/", &host), 0);
		assert_string_equal(host->prefix, "");
		assert_int_equal(rootfs_read(host, "/proc/version", 4096, &data, &size), 0);
		assert_true(size > 0);
		assert_int_equal(rootfs_read(host, "/dev/null", 10, NULL, NULL), -ENOTSUP);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_walk, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_walk_at, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_trust, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_avoid, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_open, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
