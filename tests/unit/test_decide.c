/* SPDX-License-Identifier: MIT */
#include "../compat/cmocka.h"

#include "../../fs/decide.h"
#include <stdio.h>

#include "fake.h"

#define CUDA(v)                                                                                    \
	{                                                                                          \
		"lib/libcuda.so." v, NULL, "libcuda.so.1", NULL, NULL, 0, false, false             \
	}
#define LINK(v)                                                                                    \
	{                                                                                          \
		"lib/libcuda.so.1", "/x/libcuda.so." v, "libcuda.so.1", NULL, NULL, 0, true, false \
	}
#define END                                                                                        \
	{                                                                                          \
		NULL                                                                               \
	}

static const struct fake_file none[] = { END };
static const struct fake_file v470[] = { CUDA("470.256.02"), END };
static const struct fake_file v535[] = { CUDA("535.261.03"), END };
static const struct fake_file v580_82[] = { CUDA("580.82.07"), END };
static const struct fake_file v580_126[] = { CUDA("580.126.16"), END };
static const struct fake_file v999[] = { CUDA("999.1"), END };
static const struct fake_file jetson[] = { CUDA("1.1"), LINK("1.1"), END };
static const struct fake_file only_soname[] = { CUDA("1"), END };
static const struct fake_file two[] = { CUDA("535.1"), CUDA("535.2"), END };
static const struct fake_file farm[] = { LINK("535.261.03"),
	{ "lib/libcuda.so.535.261.03", "/x/libcuda.so.535.261.03", "libcuda.so.1", NULL, NULL, 0,
		true },
	END };
static const struct fake_file file_and_link[] = { CUDA("535.261.03"),
	{ "lib/libcuda.so.1.1", "/compat/libcuda.so.535.261.03", "libcuda.so.1", NULL, NULL, 0,
		true, false },
	END };
static const struct fake_file ml_only[] = { { "lib/libnvidia-ml.so.1", NULL, "libnvidia-ml.so.1" },
	END };

static const struct {
	const char *name;
	const struct fake_file *host;
	const char *host_cuda;
	const struct fake_file *compat;
	const char *compat_cuda;
	const char *kernel;
	enum compat_mode mode;
	bool on_unknown;
	bool on;
	const char *rule;
	const char *reason;  /* part of it */
	const char *warning; /* part of it, NULL: none */
} cases[] = {
	{ "older host", v470, NULL, v535, NULL, NULL, COMPAT_AUTO, false, true, "driver-numbers",
		"470.256.02 is of an older branch than compat's 535.261.03", NULL },
	{ "newer host", v580_82, NULL, v535, NULL, NULL, COMPAT_AUTO, true, false, "driver-numbers",
		"580.82.07 is not of an older branch than compat's 535.261.03", NULL },
	{ "same branch", v580_82, NULL, v580_126, NULL, NULL, COMPAT_AUTO, true, false,
		"driver-numbers", "not of an older", NULL },
	{ "same branch, a lower text", v580_126, NULL, v580_82, NULL, NULL, COMPAT_AUTO, true,
		false, "driver-numbers", "not of an older", NULL },
	{ "a link beside the file", v470, NULL, file_and_link, NULL, NULL, COMPAT_AUTO, false, true,
		"driver-numbers", "535.261.03", NULL },
	{ "equal", v535, NULL, v535, NULL, NULL, COMPAT_AUTO, true, false, "driver-numbers",
		"not of an older", NULL },
	{ "the kernel's number counts", v470, NULL, v535, NULL, "580.82.07", COMPAT_AUTO, true,
		false, "driver-numbers", "580.82.07", NULL },
	{ "kernel only", none, NULL, v535, NULL, "470.1", COMPAT_AUTO, false, true,
		"driver-numbers", "470.1", NULL },
	{ "links to elsewhere", v470, NULL, farm, NULL, NULL, COMPAT_AUTO, false, true,
		"driver-numbers", "535.261.03", NULL },
	{ "unknown, off", none, NULL, v535, NULL, NULL, COMPAT_AUTO, false, false, "unknown",
		"the host's driver version (for /compat); cuda = in the layers can tell; "
		"on-unknown = off",
		"it is off" },
	{ "unknown, on", none, NULL, v535, NULL, NULL, COMPAT_AUTO, true, true, "unknown",
		"on-unknown = on", "it is on" },
	{ "both unknown", jetson, NULL, jetson, NULL, NULL, COMPAT_AUTO, false, false, "unknown",
		"the host's driver version and compat's CUDA version", "unknown" },
	{ "L4T number is no driver's", jetson, NULL, jetson, NULL, "34.1.1", COMPAT_AUTO, false,
		false, "unknown", "the host's driver version", "unknown" },
	{ "Jetson's on a desktop (A05)", v535, NULL, jetson, NULL, NULL, COMPAT_AUTO, true, false,
		"not-tegra", "is for Jetson", NULL },
	{ "Jetson's on a desktop, half said", v470, NULL, jetson, "12.2", NULL, COMPAT_AUTO, true,
		false, "not-tegra", "is for Jetson", NULL },
	{ "cuda = says newer", jetson, "11.4", jetson, "12.2", NULL, COMPAT_AUTO, false, true,
		"cuda-versions", "12.2 is newer than the host's 11.4", NULL },
	{ "cuda = says older", jetson, "12.10", jetson, "12.9", NULL, COMPAT_AUTO, true, false,
		"cuda-versions", "12.9 is not newer than the host's 12.10", NULL },
	{ "cuda = says equal", jetson, "12.2", jetson, "12.2", NULL, COMPAT_AUTO, true, false,
		"cuda-versions", "not newer", NULL },
	{ "driver numbers before cuda =", v470, "12.9", v535, "12.2", NULL, COMPAT_AUTO, false,
		true, "driver-numbers", "of an older branch", NULL },
	{ "half said, half from the table", jetson, "11.4", v535, NULL, NULL, COMPAT_AUTO, false,
		true, "cuda-versions", "12.2 is newer", NULL },
	{ "half said", jetson, "11.4", jetson, NULL, NULL, COMPAT_AUTO, false, false, "unknown",
		"unknown: compat's CUDA version (for", "unknown" },
	{ "two in compat", v470, NULL, two, NULL, NULL, COMPAT_AUTO, true, false, "libcuda-count",
		"has 2 files libcuda.so.*.*", NULL },
	{ "none with a version", v470, NULL, only_soname, NULL, NULL, COMPAT_AUTO, true, false,
		"libcuda-count", "has 0 files", NULL },
	{ "no libcuda", v470, NULL, ml_only, NULL, NULL, COMPAT_AUTO, true, false, "no-compat",
		"no directory of a compat layer has", NULL },
	{ "on", v470, NULL, v535, NULL, NULL, COMPAT_ON, false, true, "forced-on",
		"compat.mode = on (force.conf:3): /compat is used", NULL },
	{ "on, older", v580_82, NULL, v535, NULL, NULL, COMPAT_ON, false, true, "forced-on", "on",
		"error 803" },
	{ "on, equal", v535, NULL, v535, NULL, NULL, COMPAT_ON, false, true, "forced-on", "on",
		"error 803" },
	{ "on, older of the branch", v580_126, NULL, v580_82, NULL, NULL, COMPAT_ON, false, true,
		"forced-on", "on", "error 803" },
	{ "on, newer of the branch", v580_82, NULL, v580_126, NULL, NULL, COMPAT_ON, false, true,
		"forced-on", "on", NULL },
	{ "on, cuda = says older", jetson, "12.6", jetson, "12.2", NULL, COMPAT_ON, false, true,
		"forced-on", "on", "error 803" },
	{ "on, Jetson's on a desktop", v535, NULL, jetson, NULL, NULL, COMPAT_ON, false, true,
		"forced-on", "on", "error 804" },
	{ "on, unknown", none, NULL, v999, NULL, NULL, COMPAT_ON, false, true, "forced-on", "on",
		NULL },
	{ "on, no libcuda", v470, NULL, ml_only, NULL, NULL, COMPAT_ON, false, false, "no-compat",
		"there is no compat library to use: no directory",
		"there is no compat library to use" },
	{ "off", v470, NULL, v535, NULL, NULL, COMPAT_OFF, true, false, "forced-off",
		"compat.mode = off (force.conf:3)", NULL },
};

static struct tables *tables;

static int make_tables(void **state)
{
	(void)state;
	return tables_new(&tables);
}

static int free_tables(void **state)
{
	(void)state;
	tables = tables_free(tables);
	return 0;
}

static bool finds(void *context, const struct source *source, const char *needed)
{
	(void)source;
	return strcmp(needed, context) == 0;
}

/* found: what RUNPATHs find; NULL: they are believed. */
static int run_with(const struct policy *policy, struct layer **layers, size_t n_layers,
	const struct facts *probed, const char *found, struct decision *ret_decision,
	struct diag_list *diags)
{
	char name[64] = "";
	const struct decide_input input = {
		.policy = policy,
		.layers = layers,
		.n_layers = n_layers,
		.probed = probed,
		.tables = tables,
		.finds = found ? finds : NULL,
		.finds_context = name,
	};

	snprintf(name, sizeof(name), "%s", found ? found : "");
	return decide(&input, ret_decision, diags);
}

static int run(const struct policy *policy, struct layer **layers, size_t n_layers,
	const struct facts *probed, struct decision *ret_decision, struct diag_list *diags)
{
	return run_with(policy, layers, n_layers, probed, NULL, ret_decision, diags);
}

static void check_case(size_t i)
{
	const struct fake_layer fakes[] = {
		{ .name = "compat",
			.role = ROLE_COMPAT,
			.cuda = cases[i].compat_cuda,
			.sets = { "/compat" },
			.files = cases[i].compat },
		{ .name = "host",
			.role = ROLE_HOST,
			.cuda = cases[i].host_cuda,
			.files = cases[i].host },
	};
	struct policy policy = { .compat_mode = cases[i].mode,
		.compat_unknown = cases[i].on_unknown,
		.compat_mode_from = { (char *)"x", (char *)"force.conf", 3 } };
	struct facts probed = { 0 };
	struct diag_list diags = { 0 };
	struct decision decision;
	struct layer **layers;

	print_message("%s\n", cases[i].name);
	fake_build(&policy, fakes, ARRAY_SIZE(fakes), &layers);
	facts_set(&probed, FACT_KERNEL_DRIVER, cases[i].kernel, "test");
	assert_int_equal(run(&policy, layers, 2, &probed, &decision, &diags), 0);
	print_message("  %s: %s\n", decision.rule, decision.reason);
	assert_int_equal(decision.on, cases[i].on);
	assert_string_equal(decision.rule, cases[i].rule);
	assert_non_null(strstr(decision.reason, cases[i].reason));
	assert_int_equal(diags.count, cases[i].warning != NULL);
	if (cases[i].warning)
		assert_non_null(strstr(diags.items[0].text, cases[i].warning));
	assert_ptr_equal(decision.layer, strcmp(cases[i].rule, "no-compat") ? layers[0] : NULL);
	for (size_t k = FACT_KERNEL_DRIVER; k < FACT_COUNT; k++)
		assert_non_null(decision.facts.items[k].source);
	decision_clear(&decision);
	facts_clear(&probed);
	diag_clear(&diags);
	fake_free(&policy, layers);
}

static void test_rules(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		check_case(i);
}

#define IN_SET(v, n)                                                                               \
	{                                                                                          \
		"lib/libcuda.so." v, "/" #n "/libcuda.so." v, "libcuda.so.1", NULL, NULL, n,       \
			false, false                                                               \
	}

static const struct fake_file many[] = { IN_SET("535.1", 0), IN_SET("575.1", 1), IN_SET("550.1", 2),
	END };
static const struct fake_file many_with_bad[] = { IN_SET("535.1", 0), IN_SET("575.1", 1),
	IN_SET("575.2", 1), IN_SET("550.1", 2), END };

static const struct {
	const char *name;
	const struct fake_file *files;
	enum compat_mode mode;
	bool built_in;
	const char *kernel;
	bool on;
	uint32_t set;
} choices[] = {
	{ "auto takes the highest", many, COMPAT_AUTO, false, "470.1", true, 1 },
	{ "auto takes the highest allowed", many_with_bad, COMPAT_AUTO, false, "470.1", true, 2 },
	{ "auto, none", many, COMPAT_AUTO, false, "580.1", false, 1 },
	{ "on takes the first", many, COMPAT_ON, false, "470.1", true, 0 },
	{ "on takes the highest of the built-in", many, COMPAT_ON, true, "470.1", true, 1 },
	{ "off names the first", many, COMPAT_OFF, false, "470.1", false, 0 },
};

static void test_sets(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(choices); i++) {
		const struct fake_layer fakes[] = {
			{ .name = "compat",
				.role = ROLE_COMPAT,
				.built_in = choices[i].built_in,
				.sets = { "/a", "/b", "/c" },
				.files = choices[i].files },
		};
		struct policy policy = { .compat_mode = choices[i].mode };
		struct facts probed = { 0 };
		struct diag_list diags = { 0 };
		struct decision decision;
		struct layer **layers;

		print_message("%s\n", choices[i].name);
		fake_build(&policy, fakes, 1, &layers);
		facts_set(&probed, FACT_KERNEL_DRIVER, choices[i].kernel, "test");
		assert_int_equal(run(&policy, layers, 1, &probed, &decision, &diags), 0);
		assert_int_equal(decision.on, choices[i].on);
		assert_int_equal(decision.set, choices[i].set);
		assert_int_equal(diags.count, 0);
		decision_clear(&decision);
		/* a directory that is not there is not chosen */
		layers[0]->sets[choices[i].set].present = false;
		assert_int_equal(run(&policy, layers, 1, &probed, &decision, &diags), 0);
		assert_int_not_equal(decision.set, choices[i].set);
		decision_clear(&decision);
		facts_clear(&probed);
		diag_clear(&diags);
		fake_free(&policy, layers);
	}
}

/* A02: the closure of compat's libcuda lies in the tegra layer. */
static const struct {
	const char *name;
	const char *nvos_needed;
	const char *nvos_runpath;
	const char *missing; /* NULL: nothing */
	const char *found;   /* by the RUNPATH; NULL: nobody is asked */
} closures[] = {
	{ "whole", "libnvsocsys.so libc.so.6 libstdc++.so.6", NULL, NULL },
	{ "missing", "libnvsocsys.so libnvsciipc.so", NULL, "libnvsciipc.so" },
	{ "has a RUNPATH of its own", "libnvsocsys.so libnvsciipc.so", "/opt/x", NULL },
	{ "found by the RUNPATH", "libnvsocsys.so libnvsciipc.so", "/opt/x", NULL,
		"libnvsciipc.so" },
	{ "not found by the RUNPATH", "libnvsocsys.so libnvsciipc.so", "/opt/x", "libnvsciipc.so",
		"libother.so" },
	{ "no RUNPATH to find it", "libnvsocsys.so libnvsciipc.so", NULL, "libnvsciipc.so",
		"libnvsciipc.so" },
	{ "an empty RUNPATH", "libnvsocsys.so libnvsciipc.so", "", "libnvsciipc.so" },
	{ "the CUDA set of the host does not count", "libnvidia-nvvm.so.4", NULL,
		"libnvidia-nvvm.so.4" },
	{ "the compat layer's other files do not count", "libnvidia-ml.so.1", NULL,
		"libnvidia-ml.so.1" },
	{ "compat's own set counts", "libnvidia-ptxjitcompiler.so.1", NULL, NULL },
	{ "a cycle", "libnvrm_gpu.so", NULL, NULL },
};

static void test_closure(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(closures); i++) {
		const struct fake_file compat[] = {
			{ "lib/libcuda.so.1.1", NULL, "libcuda.so.1", "libc.so.6 libnvrm_gpu.so" },
			{ "lib/libnvidia-ptxjitcompiler.so.1", NULL,
				"libnvidia-ptxjitcompiler.so.1" },
			{ "lib/libnvidia-ml.so.1", NULL, "libnvidia-ml.so.1" },
			END,
		};
		const struct fake_file tegra[] = {
			CUDA("1.1"),
			{ "lib/libnvrm_gpu.so", NULL, "libnvrm_gpu.so", "libnvos.so" },
			{ "lib/libnvos.so", NULL, "libnvos.so", closures[i].nvos_needed,
				closures[i].nvos_runpath },
			{ "lib/libnvsocsys.so", NULL, "libnvsocsys.so" },
			{ "lib/libnvidia-nvvm.so.4", NULL, "libnvidia-nvvm.so.4" },
			END,
		};
		const struct fake_layer fakes[] = {
			{ .name = "compat", .role = ROLE_COMPAT, .cuda = "12.2", .files = compat },
			{ .name = "host", .role = ROLE_HOST, .cuda = "11.4", .files = tegra },
		};
		struct policy policy = { .compat_mode = COMPAT_AUTO };
		struct facts probed = { 0 };
		struct diag_list diags = { 0 };
		struct decision decision;
		struct layer **layers;

		print_message("%s\n", closures[i].name);
		fake_build(&policy, fakes, 2, &layers);
		assert_int_equal(
			run_with(&policy, layers, 2, &probed, closures[i].found, &decision, &diags),
			0);
		print_message("  %s\n", decision.reason);
		assert_int_equal(decision.on, !closures[i].missing);
		assert_string_equal(
			decision.rule, closures[i].missing ? "closure" : "cuda-versions");
		if (closures[i].missing) {
			assert_non_null(strstr(decision.reason, closures[i].missing));
			assert_non_null(strstr(decision.reason, "libnvos.so"));
		}
		decision_clear(&decision);
		fake_free(&policy, layers);
	}
}

static void test_facts(void **state)
{
	static const struct fake_file hosts[] = { CUDA("470.256.02"), CUDA("535.1"),
		LINK("470.256.02"), END };
	const struct fake_layer fakes[] = {
		{ .name = "compat", .role = ROLE_COMPAT, .cuda = "12.9", .files = v580_82 },
		{ .name = "host", .role = ROLE_HOST, .files = hosts },
	};
	struct policy policy = { .compat_mode = COMPAT_AUTO };
	struct facts probed = { 0 };
	struct diag_list diags = { 0 };
	struct decision decision;
	struct layer **layers;

	(void)state;
	fake_build(&policy, fakes, 2, &layers);
	assert_int_equal(run(&policy, layers, 2, &probed, &decision, &diags), 0);
	assert_string_equal(decision.facts.items[FACT_HOST_DRIVER].value, "470.256.02");
	assert_string_equal(decision.facts.items[FACT_HOST_CUDA].value, "11.4");
	assert_string_equal(decision.facts.items[FACT_HOST_CUDA].source,
		"the branch of driver 470.256.02 (driver.ini, built in)");
	assert_string_equal(decision.facts.items[FACT_COMPAT_DRIVER].value, "580.82.07");
	assert_string_equal(decision.facts.items[FACT_COMPAT_CUDA].value, "12.9");
	assert_string_equal(decision.facts.items[FACT_COMPAT_CUDA].source, "test.conf:9");
	decision_clear(&decision);
	fake_free(&policy, layers);
}

static void test_no_layers(void **state)
{
	struct policy policy = { .compat_mode = COMPAT_AUTO };
	struct facts probed = { 0 };
	struct diag_list diags = { 0 };
	struct decision decision;

	(void)state;
	assert_int_equal(run(&policy, NULL, 0, &probed, &decision, &diags), 0);
	assert_false(decision.on);
	assert_null(decision.layer);
	assert_string_equal(
		decision.reason, "there is no compat library: there is no compat layer");
	assert_int_equal(diags.count, 0);
	decision_clear(&decision);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rules),
		cmocka_unit_test(test_sets),
		cmocka_unit_test(test_closure),
		cmocka_unit_test(test_facts),
		cmocka_unit_test(test_no_layers),
	};

	return cmocka_run_group_tests(tests, make_tables, free_tables);
}
