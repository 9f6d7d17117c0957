/* SPDX-License-Identifier: MIT */
#include "../compat/cmocka.h"

#include "../../fs/findings.h"
#include "generation_builder.h"

static void test_kinds(void **state)
{
	size_t count;
	const struct finding_kind *kinds = finding_kinds(&count);

	(void)state;
	assert_true(count > 20);
	for (size_t i = 0; i < count; i++) {
		assert_true(i == 0 || strcmp(kinds[i - 1].id, kinds[i].id) < 0);
		assert_ptr_equal(finding_kind(kinds[i].id), &kinds[i]);
		assert_true(strlen(kinds[i].meaning) > 0 && strlen(kinds[i].remedy) > 0);
	}
	assert_null(finding_kind("nonsense"));
}

/* Every kind that the code names is in the table. */
static void test_ids(void **state)
{
	static const char *const ids[] = { "cuda-load", "compat-device", "compat-jetpack",
		"compat-older", "compat-unknown", "dangling-link", "driver-probe", "duplicate",
		"duplicate-role", "gpu-stack", "kernel-mismatch", "layer-unread", "link-loop",
		"manifest-outside", "missing-library", "missing-libnvrm", "no-compat", "no-libcuda",
		"note-invalid", "policy", "program-library", "reflexive-link", "sets",
		"several-versions", "tables", "unwatched" };
	size_t count;

	(void)state;
	finding_kinds(&count);
	assert_int_equal(count, ARRAY_SIZE(ids));
	for (size_t i = 0; i < ARRAY_SIZE(ids); i++)
		assert_non_null(finding_kind(ids[i]));
}

/* "level id file:line text" of all, one a line. */
static char *text_of(const struct findings *findings)
{
	char *text = strdup("");

	for (size_t i = 0; i < findings->count; i++) {
		const struct finding *finding = &findings->items[i];
		char *longer = string_format("%s%s %s %s:%u %s\n", text,
			diag_level_name(finding->level), finding->kind ? finding->kind->id : "-",
			finding->file ? finding->file : "", finding->line, finding->text);

		free(text);
		text = longer;
	}
	return text;
}

static void expect(const struct generation *generation, const char *wanted)
{
	struct findings findings;
	_cleanup_(freep) char *text = NULL;

	assert_int_equal(findings_make(generation, &findings), 0);
	text = text_of(&findings);
	assert_string_equal(text, wanted);
	findings_clear(&findings);
}

#define LOAD                                                                                       \
	"error cuda-load :0 libnvrm_gpu.so is needed by libcuda.so.1.1 and no layer provides it\n"
#define CAREFUL "warning policy /etc/p.conf:4 be careful\n"
#define BOTH                                                                                       \
	"info duplicate :0 layers compat and host both have libcuda.so.1: compat gives it, as "    \
	"compat is on\n"

static void test_generation(void **state)
{
	_cleanup_(generation_unrefp) struct generation *generation = builder_generation();

	(void)state;
	expect(generation, LOAD CAREFUL BOTH);
}

static void test_kernel(void **state)
{
	_cleanup_(generation_unrefp) struct generation *generation = builder_generation();
	struct facts *facts = &generation->decision.facts;

	(void)state;
	facts_set(facts, FACT_KERNEL_DRIVER, "470.1", "/proc");
	expect(generation, LOAD CAREFUL BOTH);
	/* L4T's own number on R35 */
	facts_set(facts, FACT_KERNEL_DRIVER, "35.4.1", "/proc");
	expect(generation, LOAD CAREFUL BOTH);
	facts_set(facts, FACT_KERNEL_DRIVER, "535.86.05", "/proc");
	expect(generation,
		"error kernel-mismatch /h/libcuda.so.470.1:0 the loaded kernel driver is "
		"535.86.05, but libcuda.so.1 of layer host is of driver 470.1\n" LOAD CAREFUL BOTH);
}

static void test_pieces(void **state)
{
	static const struct {
		const char *l4t, *stack, *missing;
	} machines[] = {
		/* libnvrm_gpu.so is told as an error already */
		{ "35.4.1", "nvgpu",
			"libnvos.so, libnvrm_chip.so, libnvrm_host1x.so, libnvrm_mem.so, "
			"libnvrm_sync.so, libnvsciipc.so, libnvsocsys.so" },
		{ "34.1", "nvgpu",
			"libnvos.so, libnvrm_chip.so, libnvrm_host1x.so, libnvrm_mem.so, "
			"libnvrm_sync.so, libnvsciipc.so, libnvsocsys.so" },
		{ "32.7.1", "nvgpu", "libnvos.so, libnvrm.so, libnvrm_graphics.so" },
		{ "38.2", "openrm", NULL },
		{ "36.4", NULL, NULL },
		{ NULL, "nvgpu", NULL },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(machines); i++) {
		_cleanup_(generation_unrefp) struct generation *generation = builder_generation();
		_cleanup_(freep) char *wanted = NULL;

		facts_set(&generation->decision.facts, FACT_L4T, machines[i].l4t, "x");
		facts_set(&generation->decision.facts, FACT_GPU_STACK, machines[i].stack, "x");
		wanted =
			machines[i].missing
				? string_format(LOAD CAREFUL
					  "warning missing-libnvrm :0 no layer has what belongs to "
					  "L4T %s: %s\n" BOTH,
					  machines[i].l4t, machines[i].missing)
				: strdup(LOAD CAREFUL BOTH);
		expect(generation, wanted);
	}
}

static void test_unresolved(void **state)
{
	static const struct {
		const char *needed, *by, *told;
	} cases[] = {
		{ "libstdc++.so.6", "libcuda.so.1.1",
			"info program-library :0 libstdc++.so.6 is needed by libcuda.so.1.1 and is "
			"left to the program\n" },
		{ "libnvidia-tls.so.1", "libnvidia-glcore.so.1",
			"warning missing-library :0 libnvidia-tls.so.1 is needed by "
			"libnvidia-glcore.so.1 and no layer provides it\n" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_(generation_unrefp) struct generation *generation = builder_generation();
		struct unresolved *unresolved = generation->resolution->unresolved;
		_cleanup_(freep) char *wanted = string_format(CAREFUL "%s" BOTH, cases[i].told);

		free(unresolved->needed);
		free(unresolved->by);
		unresolved->needed = strdup(cases[i].needed);
		unresolved->by = strdup(cases[i].by);
		expect(generation, wanted);
	}
}

static void test_links(void **state)
{
	_cleanup_(generation_unrefp) struct generation *generation = builder_generation();
	struct layer *layer = generation->layers[1];
	struct findings findings;

	(void)state;
	layer_add_rejection(layer, "/h/a.so", "to nowhere");
	layer_set_fault(layer, LINK_DANGLING);
	layer_add_rejection(layer, "/h/b.so", "to itself");
	layer_set_fault(layer, LINK_REFLEXIVE);
	layer_add_rejection(layer, "/h/c.so", "round");
	layer_set_fault(layer, LINK_LOOP);
	expect(generation, LOAD CAREFUL "warning dangling-link /h/a.so:0 layer host: to nowhere\n"
					"warning reflexive-link /h/b.so:0 layer host: to itself\n"
					"warning link-loop /h/c.so:0 layer host: round\n" BOTH);
	assert_int_equal(findings_make(generation, &findings), 0);
	for (size_t i = 0; i < findings.count; i++)
		assert_int_equal(finding_is_link(&findings.items[i]), i >= 2 && i <= 4);
	findings_clear(&findings);
}

static void test_roles(void **state)
{
	_cleanup_(generation_unrefp) struct generation *generation = builder_generation();

	(void)state;
	generation->policy->layers[0].role = ROLE_HOST;
	for (size_t i = 1; i < generation->resolution->n_verdicts; i++)
		generation->resolution->verdicts[i].code = VERDICT_LOST_ORDER;
	expect(generation, LOAD CAREFUL
		"warning duplicate-role :0 layers compat and host both have libcuda.so.1: compat "
		"gives it, only because it comes first\n");
	generation->policy->layers[0].role = ROLE_TEGRA;
	expect(generation, LOAD CAREFUL
		"info duplicate :0 layers compat and host both have libcuda.so.1: compat gives it, "
		"which comes first\n");
}

static void test_no_libcuda(void **state)
{
	_cleanup_(generation_unrefp) struct generation *generation = builder_generation();

	(void)state;
	generation->resolution->verdicts[0].code = VERDICT_COMPAT_OFF;
	expect(generation,
		CAREFUL "warning no-libcuda :0 no layer has a libcuda that can be served\n"
			"warning missing-library :0 libnvrm_gpu.so is needed by libcuda.so.1.1 and "
			"no layer "
			"provides it\n");
}

static void test_diags(void **state)
{
	struct diag_list diags = { .lost = 1 };
	struct findings findings;
	_cleanup_(freep) char *text = NULL;

	(void)state;
	diag_add(&diags, DIAG_ERROR, "/etc/p.conf", 2, "bad");
	diag_add_as(&diags, DIAG_ERROR, "layer-unread", NULL, 0, "slow");
	assert_int_equal(findings_of_diags(&diags, &findings), 0);
	text = text_of(&findings);
	assert_string_equal(text, "error policy /etc/p.conf:2 bad\nerror layer-unread :0 slow\n"
				  "warning policy :0 findings were lost for want of memory\n");
	findings_clear(&findings);
	diag_clear(&diags);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kinds),
		cmocka_unit_test(test_ids),
		cmocka_unit_test(test_generation),
		cmocka_unit_test(test_kernel),
		cmocka_unit_test(test_pieces),
		cmocka_unit_test(test_unresolved),
		cmocka_unit_test(test_links),
		cmocka_unit_test(test_roles),
		cmocka_unit_test(test_no_libcuda),
		cmocka_unit_test(test_diags),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
