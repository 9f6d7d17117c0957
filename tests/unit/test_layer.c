/* SPDX-License-Identifier: MIT */
/* layer: which names are wanted, the order of the lists, the references of sources. */
#include "../compat/cmocka.h"

#include <stdlib.h>
#include <string.h>

#include "layer.h"

static const struct {
	const char *include, *exclude, *name;
	bool wanted, tree;
} names[] = {
	{ NULL, NULL, "libcuda.so.1.1", true, true },
	{ NULL, NULL, "libnvidia-ptxjitcompiler.so.535.216.01", true, true },
	{ NULL, NULL, "libnvrm_gpu.so", true, true },
	{ NULL, NULL, "libstdc++.so.6", false, true },
	{ NULL, NULL, "libdrm.so.2", false, true },
	{ NULL, NULL, "libfoo.so.1", false, true },
	{ NULL, "libcuda*", "libcuda.so.1", false, false },
	{ "lib*", NULL, "libfoo.so.1", true, true },
	{ "lib*", NULL, "libdrm.so.2", false, true },
	{ "lib*", NULL, "libc.so.6", false, false },
	{ "libdrm.so.2", NULL, "libdrm.so.2", true, true },
	{ "libdrm.so.[2]", NULL, "libdrm.so.2", false, true },
	{ "libdrm.so.2", "libdrm*", "libdrm.so.2", false, false },
	{ "libc.so.6", NULL, "libc.so.6", false, false },
	{ "ld-linux-x86-64.so.2", NULL, "ld-linux-x86-64.so.2", false, false },
	{ "libpthread.so.0", NULL, "libpthread.so.0", false, false },
};

static void test_wants(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		struct policy_value include = { (char *)names[i].include, NULL, 0 };
		struct policy_value exclude = { (char *)names[i].exclude, NULL, 0 };
		struct policy_layer policy = {
			.includes = { &include, names[i].include ? 1 : 0, 1 },
			.excludes = { &exclude, names[i].exclude ? 1 : 0, 1 },
		};
		const char *why = NULL;

		if (layer_wants(&policy, names[i].name, &why) != names[i].wanted)
			fail_msg("%s: wanted %d", names[i].name, !names[i].wanted);
		assert_int_equal(why == NULL, names[i].wanted);
		why = NULL;
		assert_int_equal(layer_tree_wants(&policy, names[i].name, &why), names[i].tree);
		assert_int_equal(why == NULL, names[i].tree);
	}
}

static int released;

static void count_release(struct source *source)
{
	(void)source;
	released++;
}

static void test_lists(void **state)
{
	struct layer *layer = calloc(1, sizeof(*layer));
	struct source *source = calloc(1, sizeof(*source));

	(void)state;
	assert_non_null(layer);
	assert_non_null(source);
	released = 0;
	atomic_init(&source->references, 1);
	source->release = count_release;
	source->path = strdup("/x");
	assert_int_equal(layer_add_set(layer, "/a", "x.conf", 3, true), 0);
	assert_int_equal(layer_add_set(layer, "/b", NULL, 0, false), 0);
	assert_int_equal(layer_add_candidate(layer, "lib/b", source, NULL, 0, false), 0);
	assert_int_equal(layer_add_candidate(layer, "lib/a", source, "b", 1, true), 0);
	assert_int_equal(layer_add_candidate(layer, "lib/a", source, "b", 0, false), 0);
	assert_int_equal(layer_add_rejection(layer, "/z", "is %s", "bad"), 0);
	assert_int_equal(layer_add_rejection(layer, "/y", "worse"), 0);
	layer_sort(layer);
	assert_string_equal(layer->candidates[0].path, "lib/a");
	assert_string_equal(layer->candidates[1].path, "lib/b");
	assert_int_equal(layer->candidates[2].set, 1);
	assert_string_equal(layer->candidates[2].link, "b");
	assert_true(layer->candidates[2].curated);
	assert_string_equal(layer->rejections[0].path, "/y");
	assert_string_equal(layer->rejections[1].text, "is bad");
	assert_string_equal(layer->sets[0].file, "x.conf");
	assert_null(layer->sets[1].file);
	assert_null(source_unref(source));
	assert_int_equal(released, 0);
	assert_null(layer_free(layer));
	assert_int_equal(released, 1);
	assert_null(layer_free(NULL));
	assert_null(source_unref(NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_wants),
		cmocka_unit_test(test_lists),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
