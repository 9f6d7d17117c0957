/* SPDX-License-Identifier: MIT */
#include "../compat/cmocka.h"

#include <stdio.h>
#include <time.h>

#include "../../fs/resolve.h"
#include "resolve_scenes.h"

struct fixture {
	struct policy policy;
	struct layer **layers;
	size_t n_layers;
	struct decision decision;
	struct diag_list diags;
	struct resolution *resolution;
};

static void setup(struct fixture *fixture, const struct scene *scene)
{
	*fixture = (struct fixture){ .policy = { .present = scene->present } };
	while (fixture->n_layers < 4 && scene->layers[fixture->n_layers].name)
		fixture->n_layers++;
	fake_build(&fixture->policy, scene->layers, fixture->n_layers, &fixture->layers);
	facts_set(&fixture->decision.facts, FACT_KERNEL_DRIVER, scene->kernel, "test");
	fixture->decision.reason = strdup("the test says so");
	if (scene->compat >= 0) {
		fixture->decision.on = true;
		fixture->decision.layer = fixture->layers[scene->compat];
		fixture->decision.set = scene->set;
	}
}

static void run(struct fixture *fixture)
{
	assert_int_equal(resolve(&fixture->policy, fixture->layers, fixture->n_layers,
				 &fixture->decision, &fixture->resolution, &fixture->diags),
		0);
	for (size_t i = 0; i < fixture->resolution->n_verdicts; i++) {
		const struct verdict *verdict = &fixture->resolution->verdicts[i];
		bool served = verdict->code == VERDICT_SERVED || verdict->code == VERDICT_ALIAS;

		assert_non_null(verdict->text);
		assert_int_equal(served, verdict->served != NULL);
	}
}

static void teardown(struct fixture *fixture)
{
	resolution_free(fixture->resolution);
	diag_clear(&fixture->diags);
	decision_clear(&fixture->decision);
	fake_free(&fixture->policy, fixture->layers);
}

static void list(const struct view_directory *directory, struct string_list *lines)
{
	for (size_t i = 0; i < directory->count; i++) {
		const struct view_entry *entry = &directory->entries[i];
		const char *slash = *directory->path ? "/" : "";
		char *line = NULL;

		if (entry->kind == VIEW_DIRECTORY)
			list(entry->directory, lines);
		else if (entry->kind == VIEW_LINK)
			line = string_format("%s%s%s > %s\n", directory->path, slash, entry->name,
				entry->target);
		else
			line = string_format("%s%s%s = %s\n", directory->path, slash, entry->name,
				entry->source->path);
		if (line)
			string_list_add(lines, line);
		free(line);
	}
}

static int compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static char *render(struct view *view)
{
	struct string_list lines = { 0 };
	char *text = calloc(1, 65536);

	assert_int_equal(view_finish(view), 0);
	list(&view->root, &lines);
	if (lines.count)
		qsort(lines.items, lines.count, sizeof(*lines.items), compare);
	for (size_t i = 0; i < lines.count; i++)
		strcat(text, lines.items[i]);
	string_list_clear(&lines);
	return text;
}

static void test_views(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(scenes); i++) {
		struct fixture fixture;
		char *text;

		print_message("%s\n", scenes[i].name);
		setup(&fixture, &scenes[i]);
		run(&fixture);
		text = render(fixture.resolution->view);
		assert_string_equal(text, scenes[i].view);
		free(text);
		teardown(&fixture);
	}
}

static const struct {
	size_t scene;
	const char *layer;
	const char *path;
	enum verdict_code code;
	const char *text;
} verdicts[] = {
	{ 0, "compat", "lib/libcuda.so.1.1", VERDICT_SERVED, "compat is on: layer compat gives" },
	{ 0, "compat", "lib/libcuda.so", VERDICT_ALIAS, "a name of the same file" },
	{ 0, "compat", "lib/libnvidia-ml.so.535.1", VERDICT_NOT_CUDA_SET, "kernel driver" },
	{ 0, "host", "lib/libcuda.so.470.1", VERDICT_HIDDEN_BY_COMPAT,
		"the copy of layer compat is used, both have SONAME libcuda.so.1" },
	{ 0, "host", "lib/libnvidia-ptxjitcompiler.so.470.1", VERDICT_HIDDEN_BY_COMPAT,
		"which has no libnvidia-ptxjitcompiler.so.1" },
	{ 0, "host", "lib/libnvidia-ml.so.470.1", VERDICT_SERVED,
		"layer host is the first to give SONAME libnvidia-ml.so.1" },
	{ 2, "compat", "lib/libcuda.so.1.1", VERDICT_COMPAT_OFF, "off: the test says so" },
	{ 3, "host", "lib/libnvidia-gpucomp.so.550.1", VERDICT_SERVED, "needs" },
	{ 3, "host", "lib/libnvidia-nvvm70.so.550.1", VERDICT_HIDDEN_BY_COMPAT,
		"nothing else needs" },
	{ 5, "compat", "share/x", VERDICT_OTHER_SET, "from /b" },
	{ 7, "host", "lib/libnvrm_gpu.so", VERDICT_LOST_ORDER, "tegra comes first" },
	{ 7, "tegra", "lib/libnvidia-ml.so.1", VERDICT_LOST_ORDER,
		"the copy of layer host is used: both have SONAME libnvidia-ml.so.1" },
	{ 8, "host", "lib/libcuda.so.440.33.01", VERDICT_LOST_VERSION,
		"libcuda.so.430.14 is shown of libcuda.so.1: it is the kernel driver's version" },
	{ 8, "host", "lib/libnvidia-glcore.so.440.33.01", VERDICT_LOST_VERSION,
		"version 430.14 is shown" },
	{ 10, "host", "lib/libcuda.so.430.14", VERDICT_LOST_VERSION, "the highest version" },
	{ 12, "host", "lib/libnvidia-ml.so.440.33.01", VERDICT_LOST_VERSION,
		"the layer's own link" },
	{ 12, "host", "lib/libnvidia-ml.so.1", VERDICT_ALIAS, "libnvidia-ml.so.430.14" },
	{ 14, "host", "lib/libcuda.so.1", VERDICT_ALIAS, "a link to libcuda.so.1.1" },
	{ 16, "host", "lib/libm.so.6", VERDICT_NEVER, "C library" },
	{ 16, "host", "lib/renamed.so", VERDICT_NEVER, "libc.so.6 is of the C library" },
	{ 16, "host", ".gldriverfs/x", VERDICT_NEVER, "gldriverfs' own" },
	{ 16, "host", "lib/libgallium_a.so", VERDICT_SERVED, "under its own name" },
	{ 20, "b", "share/x/y", VERDICT_LOST_ORDER, "in the way" },
	{ 20, "b", "share/same", VERDICT_LOST_ORDER, "layer a is used: both have share/same" },
	{ 21, "d", "lib/libz.so.9.9", VERDICT_SERVED, "served as libz.so.2" },
};

static void test_verdicts(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(verdicts); i++) {
		const struct verdict *found = NULL;
		struct fixture fixture;

		setup(&fixture, &scenes[verdicts[i].scene]);
		run(&fixture);
		for (size_t k = 0; k < fixture.resolution->n_verdicts && !found; k++) {
			const struct verdict *verdict = &fixture.resolution->verdicts[k];

			if (string_equal(verdict->layer->policy->name, verdicts[i].layer) &&
				string_equal(verdict->candidate->path, verdicts[i].path))
				found = verdict;
		}
		assert_non_null(found);
		print_message(
			"%s: %s: %s\n", verdicts[i].path, verdict_name(found->code), found->text);
		assert_int_equal(found->code, verdicts[i].code);
		assert_non_null(strstr(found->text, verdicts[i].text));
		teardown(&fixture);
	}
}

static void test_warnings(void **state)
{
	static const struct {
		size_t scene;
		const char *host_driver;
		const char *text; /* NULL: none */
	} warnings[] = {
		{ 0, NULL, NULL },
		{ 8, "430.14", "libcuda.so.440.33.01 is not shown" },
		{ 2, "470.1", NULL },
	};
	struct fixture fixture;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(warnings); i++) {
		setup(&fixture, &scenes[warnings[i].scene]);
		facts_set(&fixture.decision.facts, FACT_HOST_DRIVER, warnings[i].host_driver, "x");
		run(&fixture);
		assert_int_equal(fixture.diags.count, warnings[i].text != NULL);
		if (warnings[i].text)
			assert_non_null(strstr(fixture.diags.items[0].text, warnings[i].text));
		teardown(&fixture);
	}
}

static void test_unresolved(void **state)
{
	static const struct fake_file files[] = {
		{ "lib/libcuda.so.1.1", NULL, "libcuda.so.1",
			"libnvrm_gpu.so libc.so.6 libnvsocsys.so libnvsocsys.so" },
		{ "lib/libnvrm_gpu.so", NULL, "libnvrm_gpu.so", "libnvos.so libstdc++.so.6" },
		{ "lib/libnvos.so", NULL, "libnvos.so", "libnvsocsys.so libgone.so", "/opt/x" },
		{ "lib/gbm/x_gbm.so", NULL, "x", "libcuda.so.1 libgbm.so.1", "" },
		END,
	};
	static const struct scene scene = { "",
		{ { .name = "host", .role = ROLE_HOST, .files = files } }, .compat = -1 };
	static const char *const expected[][2] = {
		{ "libgbm.so.1", "x_gbm.so" },
		{ "libnvsocsys.so", "libcuda.so.1.1" },
		{ "libstdc++.so.6", "libnvrm_gpu.so" },
	};
	struct fixture fixture;

	(void)state;
	setup(&fixture, &scene);
	run(&fixture);
	assert_int_equal(fixture.resolution->n_unresolved, ARRAY_SIZE(expected));
	for (size_t i = 0; i < ARRAY_SIZE(expected); i++) {
		assert_string_equal(fixture.resolution->unresolved[i].needed, expected[i][0]);
		assert_string_equal(fixture.resolution->unresolved[i].by, expected[i][1]);
	}
	teardown(&fixture);
}

static void shuffle(struct layer *layer, unsigned *seed)
{
	for (size_t i = layer->n_candidates; i > 1; i--) {
		size_t other = (size_t)rand_r(seed) % i;
		struct candidate kept = layer->candidates[i - 1];

		layer->candidates[i - 1] = layer->candidates[other];
		layer->candidates[other] = kept;
	}
}

static void test_order_does_not_matter(void **state)
{
	unsigned seed = 1;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(scenes); i++) {
		char id[37] = "";

		for (size_t round = 0; round < 10; round++) {
			struct fixture fixture;

			setup(&fixture, &scenes[i]);
			for (size_t k = 0; k < fixture.n_layers; k++) {
				shuffle(fixture.layers[k], &seed);
				layer_sort(fixture.layers[k]);
			}
			run(&fixture);
			assert_int_equal(view_identify(fixture.resolution->view), 0);
			if (round > 0)
				assert_string_equal(fixture.resolution->view->id, id);
			memcpy(id, fixture.resolution->view->id, sizeof(id));
			teardown(&fixture);
		}
	}
}

/* A quadratic step would take minutes. */
static void test_large(void **state)
{
	enum { MANY = 20000 };
	struct fake_file *files = calloc(MANY + 1, sizeof(*files));
	char(*names)[2][64] = calloc(MANY, sizeof(*names));
	struct scene scene = { "", { { .name = "host", .role = ROLE_HOST, .files = files } },
		.compat = -1 };
	struct fixture fixture;
	struct timespec begin;
	struct timespec end;

	(void)state;
	for (size_t i = 0; i < MANY; i++) {
		bool same = i % 4 == 0; /* 5,000 of one SONAME */

		snprintf(
			names[i][0], sizeof(names[i][0]), "lib/libx-%zu.so.1.%zu", same ? 0 : i, i);
		snprintf(names[i][1], sizeof(names[i][1]), "libx-%zu.so.1", same ? 0 : i);
		files[i] = (struct fake_file){ .path = names[i][0],
			.soname = names[i][1],
			.needed = "libx-1.so.1 libgone.so" };
	}
	setup(&fixture, &scene);
	clock_gettime(CLOCK_MONOTONIC, &begin);
	run(&fixture);
	clock_gettime(CLOCK_MONOTONIC, &end);
	print_message("%d candidates: %ld ms\n", MANY,
		(end.tv_sec - begin.tv_sec) * 1000 + (end.tv_nsec - begin.tv_nsec) / 1000000);
	assert_true(end.tv_sec - begin.tv_sec < 5);
	assert_int_equal(fixture.resolution->view->n_entries, 3 * 15001);
	teardown(&fixture);
	free(names);
	free(files);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_views),
		cmocka_unit_test(test_verdicts),
		cmocka_unit_test(test_warnings),
		cmocka_unit_test(test_unresolved),
		cmocka_unit_test(test_order_does_not_matter),
		cmocka_unit_test(test_large),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
