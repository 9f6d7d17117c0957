/* SPDX-License-Identifier: MIT */
/* touched: which changes of a tree matter to a load that has looked at some of it. */
#include "../compat/cmocka.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/inotify.h>

#include "touched.h"
#include "tree_builder.h"

enum look { LOOK_NOTHING, LOOK_PATH, LOOK_LIBRARIES, LOOK_ALL, LOOK_CONF };

/* The tree of each case:
 *   /etc/a.conf  /etc/link -> /store/one/p  /store/one/p  /store/two/p  /lib/libcuda.so.1
 *   /lib/libother.so.1  /deep/er/file */
static const struct {
	const char *name;
	enum look look;
	const char *path;
	const char *command; /* run in the tree */
	bool matters;
} cases[] = {
	{ "nothing looked at", LOOK_NOTHING, NULL, "rm etc/a.conf", false },
	{ "written in place", LOOK_PATH, "/etc/a.conf", "echo x >>etc/a.conf", true },
	{ "truncated", LOOK_PATH, "/etc/a.conf", "truncate -s 0 etc/a.conf", true },
	{ "renamed over", LOOK_PATH, "/etc/a.conf", "echo >etc/n && mv etc/n etc/a.conf", true },
	{ "removed", LOOK_PATH, "/etc/a.conf", "rm etc/a.conf", true },
	{ "mode", LOOK_PATH, "/etc/a.conf", "chmod 600 etc/a.conf", true },
	{ "only read", LOOK_PATH, "/etc/a.conf", "cat etc/a.conf; ls etc", false },
	{ "another name", LOOK_PATH, "/etc/a.conf", "echo >etc/b.conf; rm etc/b.conf", false },
	{ "above it", LOOK_PATH, "/deep/er/file", "echo >deep/x; echo >x; mkdir deep/y", false },
	{ "a directory moved", LOOK_PATH, "/deep/er/file", "mv deep other", true },
	{ "a directory replaced", LOOK_PATH, "/deep/er/file", "mv deep/er deep/x && mkdir deep/er",
		true },
	{ "a directory's mode", LOOK_PATH, "/deep/er/file", "chmod 777 deep/er", true },
	{ "removed with its directory", LOOK_PATH, "/deep/er/file", "rm -r deep/er", true },
	{ "a link", LOOK_PATH, "/etc/link", "ln -s /store/two/p l && mv -T l etc/link", true },
	{ "behind a link", LOOK_PATH, "/etc/link", "echo x >store/one/p", true },
	{ "beside a link", LOOK_PATH, "/etc/link", "echo x >store/two/p", false },
	{ "absent", LOOK_PATH, "/no/such/file", "mkdir no", true },
	{ "absent, another", LOOK_PATH, "/no/such/file", "mkdir nothing", false },
	{ "absent below", LOOK_PATH, "/deep/er/none", "touch deep/er/none", true },
	{ "looked up, temporary or not", LOOK_PATH, "/etc/none~", "touch etc/none~", true },
	{ "a Nix store", LOOK_PATH, "/nix/store/x/lib", "rm -r nix/store/x", false },
	{ "a library", LOOK_LIBRARIES, "/lib", "touch lib/libnvidia-ml.so.1", true },
	{ "a library goes", LOOK_LIBRARIES, "/lib", "rm lib/libcuda.so.1", true },
	{ "a library's final name", LOOK_LIBRARIES, "/lib", "mv lib/y.dpkg-new lib/libcuda.so.1",
		true },
	{ "a temporary name", LOOK_LIBRARIES, "/lib",
		"cd lib && touch libcuda.so.1.dpkg-new .#libcuda.so.1 libcuda.so.1~", false },
	{ "another library", LOOK_LIBRARIES, "/lib", "mv lib/libother.so.1 lib/libother.so.2",
		false },
	{ "an included library", LOOK_LIBRARIES, "/lib", "touch lib/libdrm.so.2", true },
	{ "any name", LOOK_ALL, "/lib", "touch lib/x", true },
	{ "any but temporary", LOOK_ALL, "/lib", "touch lib/x.dpkg-new", false },
	{ "a drop-in", LOOK_CONF, "/etc", "touch etc/50.conf", true },
	{ "a draft", LOOK_CONF, "/etc", "touch etc/50.conf~ etc/50.txt", false },
};

struct place {
	struct tree tree;
	struct rootfs *root;
	int inotify;
	struct touched *touched;
};

static void set_up(struct place *place)
{
	static const char *const files[] = { "etc/a.conf", "store/one/p", "store/two/p",
		"lib/libcuda.so.1", "lib/libother.so.1", "lib/y.dpkg-new", "deep/er/file",
		"nix/store/x/lib" };

	tree_new(&place->tree);
	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		tree_text(&place->tree, files[i], "text\n");
	tree_link(&place->tree, "etc/link", "/store/one/p");
	assert_int_equal(rootfs_open(place->tree.top, &place->root), 0);
	place->inotify = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	assert_true(place->inotify >= 0);
	assert_int_equal(touched_new(place->inotify, &place->touched), 0);
}

static void tear_down(struct place *place)
{
	touched_unref(place->touched);
	close(place->inotify);
	rootfs_unref(place->root);
	tree_remove(&place->tree);
}

static void look(const struct place *place, enum look how, const char *path)
{
	struct policy_value include = { (char *)"libdrm.so*", NULL, 0 };
	const struct policy_list includes = { .items = &include, .count = 1 };
	const struct rootfs_avoid avoid = { .touched = place->touched };
	const struct touched_names names = { .any = how == LOOK_ALL,
		.driver = how == LOOK_LIBRARIES,
		.patterns = how == LOOK_LIBRARIES ? &includes : NULL,
		.pattern = how == LOOK_CONF ? "*.conf" : NULL };
	_cleanup_(rootfs_node_clear) struct rootfs_node node = { .fd = -1 };

	if (how == LOOK_PATH)
		rootfs_touch(place->root, path, place->touched);
	if (how == LOOK_PATH || how == LOOK_NOTHING)
		return;
	assert_int_equal(rootfs_walk(place->root, path, &avoid, &node), 0);
	touched_list(place->touched, &node, &names);
}

static bool has_changed(const struct place *place)
{
	char buffer[16384] __attribute__((aligned(8)));
	ssize_t size = read(place->inotify, buffer, sizeof(buffer));
	bool matters = false;

	for (char *at = buffer; size > 0 && at < buffer + size;) {
		const struct inotify_event *event = (const void *)at;

		matters |= touched_matters(
			place->touched, event->wd, event->mask, event->len ? event->name : NULL);
		at += sizeof(*event) + event->len;
	}
	return matters;
}

static void run_in(const struct place *place, const char *command)
{
	_cleanup_(freep) char *line =
		string_format("cd '%s' && { %s; } >/dev/null", place->tree.top, command);

	assert_int_equal(system(line), 0);
}

static void test_changes(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct place place;

		set_up(&place);
		look(&place, cases[i].look, cases[i].path);
		run_in(&place, cases[i].command);
		if (has_changed(&place) != cases[i].matters)
			fail_msg("%s: %d", cases[i].name, !cases[i].matters);
		tear_down(&place);
	}
}

/* What a name led to is told to be looked at again where it is watched only since. */
static void test_again(void **state)
{
	struct place place;
	struct rootfs_node top = { .fd = -1 };

	(void)state;
	set_up(&place);
	assert_int_equal(rootfs_walk(place.root, "/lib", NULL, &top), 0);
	assert_true(touched_directory(place.touched, &top));
	assert_false(touched_directory(place.touched, &top));
	assert_true(touched_name(place.touched, &top, "libcuda.so.1"));
	assert_false(touched_name(place.touched, &top, "libcuda.so.1"));
	assert_true(touched_name(place.touched, &top, "x"));
	touched_list(place.touched, &top, &(struct touched_names){ .any = true });
	assert_false(touched_name(place.touched, &top, "y"));
	assert_int_equal(touched_count(place.touched), 1);
	touched_seal(place.touched);
	rootfs_touch(place.root, "/deep/er/file", place.touched);
	assert_int_equal(touched_count(place.touched), 1);
	rootfs_node_clear(&top);
	tear_down(&place);
}

/* What the next load does not look at is let go of, what it does is not. */
static void test_release(void **state)
{
	struct place place;
	struct touched *next;

	(void)state;
	set_up(&place);
	look(&place, LOOK_PATH, "/etc/a.conf");
	look(&place, LOOK_PATH, "/deep/er/file");
	assert_int_equal(touched_new(place.inotify, &next), 0);
	rootfs_touch(place.root, "/etc/a.conf", next);
	touched_release(place.touched, next, NULL);
	touched_unref(place.touched);
	place.touched = next;
	assert_false(has_changed(&place)); /* IN_IGNORED of the others */
	run_in(&place, "touch deep/er/file");
	assert_int_equal(read(place.inotify, &(char[4096]){ 0 }, 4096), -1);
	run_in(&place, "echo x >etc/a.conf");
	assert_true(has_changed(&place));
	tear_down(&place);
}

static void expect_told(struct touched *touched, enum diag_level level, const char *text)
{
	_cleanup_(diag_clear) struct diag_list diags = { 0 };

	touched_tell(touched, &diags);
	assert_int_equal(diags.count, text != NULL);
	if (!text)
		return;
	assert_int_equal(diags.items[0].level, level);
	assert_string_equal(diags.items[0].id, "unwatched");
	assert_non_null(strstr(diags.items[0].text, text));
}

static void test_told(void **state)
{
	struct place place;
	struct touched *none;
	int file = open("/dev/null", O_RDONLY | O_CLOEXEC);

	(void)state;
	set_up(&place);
	look(&place, LOOK_PATH, "/etc/a.conf");
	expect_told(place.touched, DIAG_INFO, NULL);
	/* No inotify at all. */
	assert_int_equal(touched_new(-EMFILE, &none), 0);
	rootfs_touch(place.root, "/etc/a.conf", none);
	assert_int_equal(touched_count(none), 0);
	expect_told(none, DIAG_WARNING, "fs.inotify.max_user_instances");
	touched_unref(none);
	/* Each directory fails: the descriptor is no inotify. */
	assert_int_equal(touched_new(file, &none), 0);
	rootfs_touch(place.root, "/deep/er/file", none);
	assert_int_equal(touched_count(none), 0);
	expect_told(none, DIAG_INFO, "2 directories are not watched");
	touched_unref(none);
	close(file);
	tear_down(&place);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_changes),
		cmocka_unit_test(test_again),
		cmocka_unit_test(test_release),
		cmocka_unit_test(test_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
