/* SPDX-License-Identifier: MIT */
/* decide: what notes, SoCs, L4T releases, names and probes make of it, and the warnings. Whole
 * machines are in tests/machines. */
#include "../compat/cmocka.h"

#include "../../fs/decide.h"
#include <stdio.h>

#include "fake.h"

#define SERVER_NOTE                                                                                \
	{                                                                                          \
		535, 550, 560, 565, 570, 575                                                       \
	}

static const struct compat_note server_note = { NOTE_PRESENT, "12.9", SERVER_NOTE, 6, NULL };
static const struct compat_note orin_note = { NOTE_PRESENT, "13.2", { 0 }, 0, NULL };
static const struct compat_note bad_note = { NOTE_INVALID, "", { 0 }, 0, "it is not JSON" };

struct machine {
	const char *soc, *l4t, *stack, *gpu, *kernel;
};

static const struct machine orin_r36 = { "tegra234", "36.4.7", "nvgpu", NULL, "540.4.0" };
static const struct machine orin_r35 = { "tegra234", "35.4.1", "nvgpu", NULL, "35.4.1" };
static const struct machine orin_r39 = { "tegra234", "39.2", "nvgpu", NULL, "595.58.03" };
static const struct machine thor = { "tegra264", "38.2.1", "openrm", NULL, "580.00" };
static const struct machine thor_r39 = { "tegra264", "39.2", "openrm", NULL, "595.58.03" };
static const struct machine nano = { "tegra210", "32.7.1", "nvgpu", NULL, NULL };
static const struct machine unknown_soc = { NULL, "39.2", NULL, NULL, NULL };
static const struct machine unknown_l4t = { "tegra234", NULL, "nvgpu", NULL, NULL };
static const struct machine future_l4t = { "tegra234", "41.1", "nvgpu", NULL, NULL };
static const struct machine server = { .kernel = "535.129.03" };
static const struct machine geforce = { .gpu = "NVIDIA GeForce RTX 4090", .kernel = "535.1" };
static const struct machine nothing = { NULL };

static const struct {
	const char *name;
	const struct machine *machine;
	const char *host; /* version in the libcuda's name, or a path */
	const char *host_cuda, *host_probed;
	const char *compat, *compat_path, *compat_cuda, *compat_probed;
	const struct compat_note *note;
	enum compat_mode mode;
	bool on;
	const char *rule, *reason;
	const char *warning; /* part of the only one; NULL: none */
} cases[] = {
	/* NVIDIA's rules with a note */
	{ "listed and newer", &server, "535.129.03", NULL, NULL, "575.57.08", "/c", NULL, NULL,
		&server_note, COMPAT_AUTO, true, "note-drivers", "lists the host's driver 535",
		NULL },
	{ "newer, not listed", &server, "535.129.03", NULL, NULL, "590.1", "/c", NULL, NULL,
		&orin_note, COMPAT_AUTO, false, "note-drivers", "does not list", NULL },
	{ "listed, not newer", &server, "535.129.03", NULL, NULL, "535.54.03", "/c", NULL, NULL,
		&server_note, COMPAT_AUTO, false, "note-drivers", "compat is not newer", NULL },
	{ "a note and no number", &nothing, "1", "12.2", NULL, "575.57.08", "/c", NULL, NULL,
		&server_note, COMPAT_AUTO, true, "note-cuda", "12.9 of compat's note is newer",
		NULL },
	{ "an invalid note is none", &server, "535.129.03", NULL, NULL, "575.57.08", "/c", NULL,
		NULL, &bad_note, COMPAT_AUTO, true, "driver-numbers", "575.57.08",
		"note cannot be used: it is not JSON" },
	{ "Orin's note on R36", &orin_r36, "1.1", NULL, NULL, "1.1", "/c/compat_orin", NULL, NULL,
		&orin_note, COMPAT_AUTO, true, "note-cuda", "newer than the host's 12.6",
		"above 12.9, the highest for L4T 36.4.7: programs will get error 801" },
	{ "Orin's note on R39", &orin_r39, "1.1", NULL, NULL, "1.1", "/c/compat_orin", NULL, NULL,
		&orin_note, COMPAT_AUTO, false, "note-cuda", "not newer than the host's 13.2",
		NULL },
	/* windows */
	{ "in the window, by name", &orin_r35, "1.1", NULL, NULL, "1.1",
		"/usr/local/cuda-12.2/compat", NULL, NULL, NULL, COMPAT_AUTO, true,
		"support-window", "12.2 is newer than the host's 11.4 and within the window up to",
		NULL },
	{ "above the window", &orin_r35, "1.1", NULL, NULL, "1.1", "/usr/local/cuda-12.6/compat",
		NULL, NULL, NULL, COMPAT_AUTO, false, "support-window",
		"12.6 is above 12.2, the highest for L4T 35.4.1 (JetPack 5.1.2) on tegra234",
		NULL },
	{ "below the host's", &orin_r36, "1.1", NULL, NULL, "1.1", "/usr/local/cuda-12.2/compat",
		NULL, NULL, NULL, COMPAT_AUTO, false, "support-window",
		"12.2 is not newer than the host's 12.6", NULL },
	{ "no window", &nano, "1.1", NULL, NULL, "1.1", "/c", NULL, NULL, NULL, COMPAT_AUTO, false,
		"support-window", "no compat of a Jetson for L4T 32.7.1", NULL },
	{ "a Nix store path", &orin_r36, "1.1", NULL, NULL, "1.1",
		"/nix/store/0c-cuda12.8-cuda_compat-12.8.39468522/compat", NULL, NULL, NULL,
		COMPAT_AUTO, true, "support-window", "12.8 is newer", NULL },
	{ "compat's probe", &orin_r36, "1.1", NULL, NULL, "1.1", "/c", NULL, "12.8", NULL,
		COMPAT_AUTO, true, "support-window", "12.8 is newer than the host's 12.6", NULL },
	{ "the host's probe before the table", &orin_r36, "1.1", NULL, "12.9", "1.1", "/c", NULL,
		"12.8", NULL, COMPAT_AUTO, false, "support-window",
		"not newer than the host's 12.9", NULL },
	{ "cuda = before the probe and the name", &orin_r36, "1.1", "12.4", "12.9", "1.1",
		"/usr/local/cuda-12.9/compat", "12.5", "12.9", NULL, COMPAT_AUTO, true,
		"cuda-versions", "12.5 is newer than the host's 12.4", NULL },
	{ "compat unknown", &orin_r36, "1.1", NULL, NULL, "1.1", "/c", NULL, NULL, NULL,
		COMPAT_AUTO, false, "unknown", "unknown: compat's CUDA version (for /c)",
		"compat's CUDA version" },
	{ "release unknown", &unknown_l4t, "1.1", NULL, NULL, "1.1", "/usr/local/cuda-12.2/compat",
		NULL, NULL, NULL, COMPAT_AUTO, false, "unknown", "unknown: the L4T release",
		"the L4T release" },
	{ "release of the future", &future_l4t, "1.1", NULL, NULL, "1.1",
		"/usr/local/cuda-13.5/compat", NULL, NULL, NULL, COMPAT_AUTO, false, "unknown",
		"no table has it", "unknown" },
	{ "SoC unknown", &unknown_soc, "1.1", NULL, NULL, "1.1", "/usr/local/cuda-13.2/compat",
		NULL, NULL, NULL, COMPAT_AUTO, false, "unknown", "unknown: the SoC",
		"unknown: the SoC" },
	/* devices */
	{ "a server's on nvgpu", &orin_r36, "1.1", NULL, NULL, "575.57.08", "/c", NULL, NULL,
		&server_note, COMPAT_AUTO, false, "not-server", "is for servers", NULL },
	{ "a server's on Thor", &thor, "580.00", NULL, NULL, "590.44.01", "/c", NULL, NULL, NULL,
		COMPAT_AUTO, true, "driver-numbers", "590.44.01", NULL },
	{ "Orin's on Thor", &thor, "580.00", NULL, NULL, "1.1", "/c/compat_orin", NULL, NULL,
		&orin_note, COMPAT_AUTO, false, "not-orin", "this is tegra264", NULL },
	{ "a Jetson's, no Tegra (A05)", &nothing, "535.1", NULL, NULL, "1.1", "/c", NULL, NULL,
		NULL, COMPAT_AUTO, false, "not-tegra", "driver 535.1 is not a Jetson's", NULL },
	{ "a Jetson's and no fact (A05)", &nothing, NULL, NULL, NULL, "1.1", "/c", NULL, NULL, NULL,
		COMPAT_AUTO, false, "not-tegra", "no Tegra SoC or L4T release is known", NULL },
	{ "GeForce", &geforce, "535.1", NULL, NULL, "550.1", "/c", NULL, NULL, NULL, COMPAT_AUTO,
		true, "driver-numbers", "550.1", "RTX 4090) has no forward compatibility" },
	/* forced, and known to be bad */
	{ "on: above the window", &orin_r35, "1.1", NULL, NULL, "1.1",
		"/usr/local/cuda-12.6/compat", NULL, NULL, NULL, COMPAT_ON, true, "forced-on", "on",
		"error 801" },
	{ "on: no window", &nano, "1.1", NULL, NULL, "1.1", "/usr/local/cuda-11.8/compat", NULL,
		NULL, NULL, COMPAT_ON, true, "forced-on", "on", "error 801" },
	{ "on: below the host's", &orin_r36, "1.1", NULL, NULL, "1.1",
		"/usr/local/cuda-12.2/compat", NULL, NULL, NULL, COMPAT_ON, true, "forced-on", "on",
		"error 803" },
	{ "on: in the window", &orin_r36, "1.1", NULL, NULL, "1.1", "/usr/local/cuda-12.9/compat",
		NULL, NULL, NULL, COMPAT_ON, true, "forced-on", "on", NULL },
	{ "on: a server's on nvgpu", &orin_r36, "1.1", NULL, NULL, "575.57.08", "/c", NULL, NULL,
		NULL, COMPAT_ON, true, "forced-on", "on", "error 804" },
	{ "on: Orin's on Thor", &thor, "580.00", NULL, NULL, "1.1", "/c/compat_orin", NULL, NULL,
		NULL, COMPAT_ON, true, "forced-on", "on", "error 100" },
	{ "on: not listed", &server, "535.129.03", NULL, NULL, "590.1", "/c", NULL, NULL,
		&orin_note, COMPAT_ON, true, "forced-on", "on",
		"does not list the host's 535.129.03: programs "
		"will get error 803" },
	{ "on: a Jetson's and no fact", &nothing, NULL, NULL, NULL, "1.1", "/c", NULL, NULL, NULL,
		COMPAT_ON, true, "forced-on", "on", "error 804" },
	/* the host's own */
	{ "openrm on Orin", &orin_r39, "/opt/nvidia/l4t-gpu-libs/openrm/libcuda.so.1.1", NULL, NULL,
		NULL, NULL, NULL, NULL, NULL, COMPAT_OFF, false, "forced-off", "off",
		"openrm's, and tegra234 needs that of nvgpu: programs will get error 100" },
	{ "nvgpu on Thor", &thor_r39, "/opt/nvidia/l4t-gpu-libs/nvgpu/libcuda.so.1.1", NULL, NULL,
		NULL, NULL, NULL, NULL, NULL, COMPAT_AUTO, false, "no-compat", "no directory",
		"error 100" },
	{ "nvgpu on Orin", &orin_r39, "/opt/nvidia/l4t-gpu-libs/nvgpu/libcuda.so.1.1", NULL, NULL,
		NULL, NULL, NULL, NULL, NULL, COMPAT_OFF, false, "forced-off", "off", NULL },
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

static void set_facts(struct facts *facts, const struct machine *machine)
{
	facts_set(facts, FACT_SOC, machine->soc, "test");
	facts_set(facts, FACT_L4T, machine->l4t, "test");
	facts_set(facts, FACT_GPU_STACK, machine->stack, "test");
	facts_set(facts, FACT_GPU, machine->gpu, "test");
	facts_set(facts, FACT_KERNEL_DRIVER, machine->kernel, "test");
}

static size_t add_probe(
	struct driver_probe *probes, size_t n, struct layer *layer, const char *cuda)
{
	if (!cuda || layer->n_candidates == 0)
		return n;
	probes[n].source = layer->candidates[0].source;
	snprintf(probes[n].cuda, sizeof(probes[n].cuda), "%s", cuda);
	return n + 1;
}

/* Layer files made of a version, or of a host path. */
static struct fake_file make_file(
	const char *version, const char *directory, const struct compat_note *note, char **texts)
{
	struct fake_file file = { .soname = "libcuda.so.1", .note = note };

	if (!version)
		return (struct fake_file){ 0 };
	if (*version == '/') {
		texts[0] = string_format("lib/%s", path_base(version));
		texts[1] = strdup(version);
	} else {
		texts[0] = string_format("lib/libcuda.so.%s", version);
		texts[1] = string_format("%s/libcuda.so.%s", directory, version);
	}
	file.path = texts[0];
	file.host = texts[1];
	return file;
}

static void check_case(size_t i)
{
	char *texts[4] = { NULL };
	const struct fake_file compat[] = {
		make_file(cases[i].compat, cases[i].compat_path, cases[i].note, texts), { 0 }
	};
	const struct fake_file host[] = { make_file(cases[i].host, "/host", NULL, texts + 2),
		{ 0 } };
	const struct fake_layer fakes[] = {
		{ .name = "compat",
			.role = ROLE_COMPAT,
			.cuda = cases[i].compat_cuda,
			.sets = { cases[i].compat_path },
			.files = compat },
		{ .name = "host", .role = ROLE_HOST, .cuda = cases[i].host_cuda, .files = host },
	};
	struct policy policy = { .compat_mode = cases[i].mode };
	struct driver_probe probes[2] = { 0 };
	struct facts probed = { 0 };
	struct diag_list diags = { 0 };
	struct decision decision;
	struct layer **layers;
	size_t n_probes;

	print_message("%s\n", cases[i].name);
	fake_build(&policy, fakes, 2, &layers);
	set_facts(&probed, cases[i].machine);
	n_probes = add_probe(probes, 0, layers[0], cases[i].compat_probed);
	n_probes = add_probe(probes, n_probes, layers[1], cases[i].host_probed);
	assert_int_equal(decide(&(struct decide_input){ &policy, layers, 2, &probed, tables, probes,
					n_probes },
				 &decision, &diags),
		0);
	print_message("  %s: %s\n", decision.rule, decision.reason);
	for (size_t k = 0; k < diags.count; k++)
		print_message("  %s\n", diags.items[k].text);
	assert_int_equal(decision.on, cases[i].on);
	assert_string_equal(decision.rule, cases[i].rule);
	assert_non_null(strstr(decision.reason, cases[i].reason));
	assert_int_equal(diags.count, cases[i].warning != NULL);
	if (cases[i].warning)
		assert_non_null(strstr(diags.items[0].text, cases[i].warning));
	decision_clear(&decision);
	facts_clear(&probed);
	diag_clear(&diags);
	fake_free(&policy, layers);
	for (size_t k = 0; k < ARRAY_SIZE(texts); k++)
		free(texts[k]);
}

static void test_machines(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		check_case(i);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_machines),
	};

	return cmocka_run_group_tests(tests, make_tables, free_tables);
}
