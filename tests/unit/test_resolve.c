/* SPDX-License-Identifier: MIT */
#include "../compat/cmocka.h"

#include <stdio.h>
#include <time.h>

#include "../../fs/resolve.h"
#include "fake.h"

#define END                                                                                        \
	{                                                                                          \
		NULL                                                                               \
	}

struct scene {
	const char *name;
	struct fake_layer layers[4]; /* up to one without a name */
	const char *kernel;
	const char *view; /* "path", "path > target"; sorted */
	int compat;	  /* index of the compat layer that is used, -1: off */
	uint32_t set;
	enum policy_present present;
};

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

static const struct fake_file compat_files[] = {
	{ "lib/libcuda.so.1.1", NULL, "libcuda.so.1" },
	{ "lib/libcuda.so.1", "/compat/libcuda.so.1.1", "libcuda.so.1", .is_link = true },
	{ "lib/libcuda.so", "/compat/libcuda.so.1.1", "libcuda.so.1", .is_link = true },
	{ "lib/libnvidia-nvvm.so.535.1", NULL, "libnvidia-nvvm.so.4" },
	{ "lib/libnvidia-ml.so.535.1", NULL, "libnvidia-ml.so.1" },
	{ "lib/libnvrm_gpu.so", NULL, "libnvrm_gpu.so" },
	{ "lib/libnvcudla.so", NULL, "libnvcudla.so" },
	END,
};
static const struct fake_file host_files[] = {
	{ "lib/libcuda.so.470.1", NULL, "libcuda.so.1" },
	{ "lib/libcuda.so.1", "/host/libcuda.so.470.1", "libcuda.so.1", .is_link = true },
	{ "lib/libnvidia-nvvm.so.4.0.0", NULL, "libnvidia-nvvm.so.4" },
	{ "lib/libnvidia-ptxjitcompiler.so.470.1", NULL, "libnvidia-ptxjitcompiler.so.1" },
	{ "lib/libnvidia-ml.so.470.1", NULL, "libnvidia-ml.so.1" },
	{ "lib/libnvcudla.so", NULL, "libnvcudla.so" },
	{ "lib/libnvrm_gpu.so", NULL, "libnvrm_gpu.so" },
	END,
};
static const struct fake_file gl_files[] = {
	{ "lib/libcuda.so.550.1", NULL, "libcuda.so.1" },
	{ "lib/libGLX_nvidia.so.550.1", NULL, "libGLX_nvidia.so.0", "libnvidia-glcore.so.550.1" },
	{ "lib/libnvidia-glcore.so.550.1", NULL, "libnvidia-glcore.so.550.1",
		"libnvidia-gpucomp.so.550.1" },
	{ "lib/libnvidia-gpucomp.so.550.1", NULL, "libnvidia-gpucomp.so.550.1",
		"libnvidia-tileiras.so.550.1" },
	{ "lib/libnvidia-tileiras.so.550.1", NULL, "libnvidia-tileiras.so.550.1" },
	{ "lib/libnvidia-nvvm70.so.550.1", NULL, "libnvidia-nvvm70.so.550.1" },
	END,
};
static const struct fake_file just_cuda[] = { { "lib/libcuda.so.1.1", NULL, "libcuda.so.1" }, END };
static const struct fake_file two_versions[] = {
	{ "lib/libcuda.so.430.14", NULL, "libcuda.so.1" },
	{ "lib/libcuda.so.440.33.01", NULL, "libcuda.so.1" },
	{ "lib/libnvidia-ml.so.430.14", NULL, "libnvidia-ml.so.1" },
	{ "lib/libnvidia-ml.so.440.33.01", NULL, "libnvidia-ml.so.1" },
	{ "lib/libnvidia-glcore.so.430.14", NULL, "libnvidia-glcore.so.430.14" },
	{ "lib/libnvidia-glcore.so.440.33.01", NULL, "libnvidia-glcore.so.440.33.01" },
	END,
};
static const struct fake_file two_versions_linked[] = {
	{ "lib/libcuda.so.430.14", NULL, "libcuda.so.1" },
	{ "lib/libcuda.so.440.33.01", NULL, "libcuda.so.1" },
	{ "lib/libcuda.so.1", "/host/libcuda.so.430.14", "libcuda.so.1", .is_link = true },
	{ "lib/libnvidia-ml.so.430.14", NULL, "libnvidia-ml.so.1" },
	{ "lib/libnvidia-ml.so.440.33.01", NULL, "libnvidia-ml.so.1" },
	{ "lib/libnvidia-ml.so.1", "/host/libnvidia-ml.so.440.33.01", "libnvidia-ml.so.1",
		.is_link = true },
	END,
};
static const struct fake_file short_versions[] = {
	{ "lib/libcuda.so.9.2", NULL, "libcuda.so.1" },
	{ "lib/libcuda.so.10.1", NULL, "libcuda.so.1" },
	END,
};
static const struct fake_file copies[] = {
	{ "lib/libcuda.so", NULL, "libcuda.so.1" },
	{ "lib/libcuda.so.1", NULL, "libcuda.so.1" },
	{ "lib/libcuda.so.1.1", NULL, "libcuda.so.1" },
	END,
};
static const struct fake_file only_bare[] = { { "lib/libcuda.so", NULL, "libcuda.so.1" }, END };
static const struct fake_file tree[] = {
	{ "lib/libEGL.so.1.1.0", NULL, "libEGL.so.1" },
	{ "lib/libffi.so.7", NULL, "libffi.so.7" },
	{ "lib/libffi.so.8", NULL, "libffi.so.8" },
	{ "lib/libGLX_mesa.so.0", NULL, "libGLX_mesa.so.0" },
	{ "lib/libGLX_indirect.so.0", "/host/libGLX_mesa.so.0", "libGLX_mesa.so.0",
		.is_link = true },
	{ "lib/libgallium_a.so", NULL, "libgallium.so" },
	{ "lib/libgallium_b.so", NULL, "libgallium.so" },
	{ "lib/libgallium.so", NULL, "libgallium.so" },
	{ "lib/libscript.so", NULL, .plain = true },
	{ "lib/dri/a_dri.so", NULL, "libgallium.so" },
	{ "lib/dri/b_dri.so", NULL, "libgallium.so" },
	{ "lib/libm.so.6", NULL, "libm.so.6" },
	{ "lib/renamed.so", NULL, "libc.so.6" },
	{ "share/drirc.d/x.conf", NULL, .plain = true },
	{ ".gldriverfs/x", NULL, .plain = true },
	END,
};
static const struct fake_file store[] = {
	{ "lib/libcuda.so.1.1", "/nix/store/x/lib/libcuda.so.1.1", "libcuda.so.1" },
	{ "lib/libnvos.so", "/usr/lib/libnvos.so", "libnvos.so" },
	{ "share/vulkan/icd.d/n.json", "/nix/store/x/n.json", .plain = true },
	{ "share/a.txt", "/nix/store/x/a.txt", .plain = true },
	{ "etc/OpenCL/vendors/n.icd", "/nix/store/x/n.icd", .plain = true },
	{ "etc/n.icd", "/nix/store/x/o.icd", .plain = true },
	END,
};
static const struct fake_file odd_a[] = { { "lib/libx.so.1", NULL, "liby.so.1" },
	{ "share/x", NULL, .plain = true }, { "share/same", NULL, .plain = true }, END };
static const struct fake_file odd_b[] = { { "lib/libx.so.1.2", NULL, "libx.so.1" },
	{ "lib/libx.so", NULL, NULL }, { "share/x/y", NULL, .plain = true },
	{ "share/same", NULL, .plain = true }, END };
static const struct fake_file odd_c[] = { { "lib/libz.so.9.9", NULL, "libz.so.1" }, END };
static const struct fake_file odd_d[] = { { "lib/libz.so.9.9", NULL, "libz.so.2" }, END };
static const struct fake_file two_dirs[] = { { "lib/libcuda.so.1.1", "/b/libcuda.so.1.1",
						     "libcuda.so.1", .set = 1 },
	{ "lib/libcuda.so.1.1", "/a/libcuda.so.1.1", "libcuda.so.1", .set = 0 },
	{ "share/x", "/b/x", .plain = true, .set = 1 },
	{ "share/x", "/a/x", .plain = true, .set = 0 }, END };
static const struct fake_file tegra_files[] = {
	{ "lib/libnvrm_gpu.so", NULL, "libnvrm_gpu.so" },
	{ "lib/libnvidia-ml.so.1", NULL, "libnvidia-ml.so.1" },
	END,
};

#define COMPAT                                                                                     \
	{                                                                                          \
		.name = "compat", .role = ROLE_COMPAT, .files = compat_files                       \
	}
#define HOST                                                                                       \
	{                                                                                          \
		.name = "host", .role = ROLE_HOST, .files = host_files                             \
	}

static const struct scene scenes[] = {
	{ "compat on (A01)", { COMPAT, HOST }, NULL,
		"lib/libcuda.so > libcuda.so.1\n"
		"lib/libcuda.so.1 > libcuda.so.1.1\n"
		"lib/libcuda.so.1.1 = /compat/libcuda.so.1.1\n"
		"lib/libnvcudla.so = /compat/libnvcudla.so\n"
		"lib/libnvidia-ml.so > libnvidia-ml.so.1\n"
		"lib/libnvidia-ml.so.1 > libnvidia-ml.so.470.1\n"
		"lib/libnvidia-ml.so.470.1 = /host/libnvidia-ml.so.470.1\n"
		"lib/libnvidia-nvvm.so > libnvidia-nvvm.so.4\n"
		"lib/libnvidia-nvvm.so.4 > libnvidia-nvvm.so.535.1\n"
		"lib/libnvidia-nvvm.so.535.1 = /compat/libnvidia-nvvm.so.535.1\n"
		"lib/libnvrm_gpu.so = /host/libnvrm_gpu.so\n",
		0 },
	{ "compat on, after the host in order", { HOST, COMPAT }, NULL,
		"lib/libcuda.so > libcuda.so.1\n"
		"lib/libcuda.so.1 > libcuda.so.1.1\n"
		"lib/libcuda.so.1.1 = /compat/libcuda.so.1.1\n"
		"lib/libnvcudla.so = /compat/libnvcudla.so\n"
		"lib/libnvidia-ml.so > libnvidia-ml.so.1\n"
		"lib/libnvidia-ml.so.1 > libnvidia-ml.so.470.1\n"
		"lib/libnvidia-ml.so.470.1 = /host/libnvidia-ml.so.470.1\n"
		"lib/libnvidia-nvvm.so > libnvidia-nvvm.so.4\n"
		"lib/libnvidia-nvvm.so.4 > libnvidia-nvvm.so.535.1\n"
		"lib/libnvidia-nvvm.so.535.1 = /compat/libnvidia-nvvm.so.535.1\n"
		"lib/libnvrm_gpu.so = /host/libnvrm_gpu.so\n",
		1 },
	{ "compat off", { COMPAT, HOST }, NULL,
		"lib/libcuda.so > libcuda.so.1\n"
		"lib/libcuda.so.1 > libcuda.so.470.1\n"
		"lib/libcuda.so.470.1 = /host/libcuda.so.470.1\n"
		"lib/libnvcudla.so = /host/libnvcudla.so\n"
		"lib/libnvidia-ml.so > libnvidia-ml.so.1\n"
		"lib/libnvidia-ml.so.1 > libnvidia-ml.so.470.1\n"
		"lib/libnvidia-ml.so.470.1 = /host/libnvidia-ml.so.470.1\n"
		"lib/libnvidia-nvvm.so > libnvidia-nvvm.so.4\n"
		"lib/libnvidia-nvvm.so.4 > libnvidia-nvvm.so.4.0.0\n"
		"lib/libnvidia-nvvm.so.4.0.0 = /host/libnvidia-nvvm.so.4.0.0\n"
		"lib/libnvidia-ptxjitcompiler.so > libnvidia-ptxjitcompiler.so.1\n"
		"lib/libnvidia-ptxjitcompiler.so.1 > libnvidia-ptxjitcompiler.so.470.1\n"
		"lib/libnvidia-ptxjitcompiler.so.470.1 = /host/libnvidia-ptxjitcompiler.so.470.1\n"
		"lib/libnvrm_gpu.so = /host/libnvrm_gpu.so\n",
		-1 },
	{ "compat on, gpucomp stays for GL",
		{ { .name = "compat", .role = ROLE_COMPAT, .files = just_cuda },
			{ .name = "host", .role = ROLE_HOST, .files = gl_files } },
		NULL,
		"lib/libGLX_nvidia.so > libGLX_nvidia.so.0\n"
		"lib/libGLX_nvidia.so.0 > libGLX_nvidia.so.550.1\n"
		"lib/libGLX_nvidia.so.550.1 = /host/libGLX_nvidia.so.550.1\n"
		"lib/libcuda.so > libcuda.so.1\n"
		"lib/libcuda.so.1 > libcuda.so.1.1\n"
		"lib/libcuda.so.1.1 = /compat/libcuda.so.1.1\n"
		"lib/libnvidia-glcore.so > libnvidia-glcore.so.550.1\n"
		"lib/libnvidia-glcore.so.550.1 = /host/libnvidia-glcore.so.550.1\n"
		"lib/libnvidia-gpucomp.so.550.1 = /host/libnvidia-gpucomp.so.550.1\n"
		"lib/libnvidia-tileiras.so.550.1 = /host/libnvidia-tileiras.so.550.1\n",
		0 },
	{ "compat includes NVML",
		{ { .name = "compat",
			.role = ROLE_COMPAT,
			.files = compat_files,
			.include = "libnvidia-ml.so.1" } },
		NULL,
		"lib/libcuda.so > libcuda.so.1\n"
		"lib/libcuda.so.1 > libcuda.so.1.1\n"
		"lib/libcuda.so.1.1 = /compat/libcuda.so.1.1\n"
		"lib/libnvcudla.so = /compat/libnvcudla.so\n"
		"lib/libnvidia-ml.so > libnvidia-ml.so.1\n"
		"lib/libnvidia-ml.so.1 > libnvidia-ml.so.535.1\n"
		"lib/libnvidia-ml.so.535.1 = /compat/libnvidia-ml.so.535.1\n"
		"lib/libnvidia-nvvm.so > libnvidia-nvvm.so.4\n"
		"lib/libnvidia-nvvm.so.4 > libnvidia-nvvm.so.535.1\n"
		"lib/libnvidia-nvvm.so.535.1 = /compat/libnvidia-nvvm.so.535.1\n",
		0 },
	{ "the chosen set only",
		{ { .name = "compat",
			.role = ROLE_COMPAT,
			.sets = { "/a", "/b" },
			.files = two_dirs } },
		NULL,
		"lib/libcuda.so > libcuda.so.1\n"
		"lib/libcuda.so.1 > libcuda.so.1.1\n"
		"lib/libcuda.so.1.1 = /b/libcuda.so.1.1\n",
		0, 1 },
	{ "two directories of a host",
		{ { .name = "host",
			.role = ROLE_HOST,
			.sets = { "/a", "/b" },
			.files = two_dirs } },
		NULL,
		"lib/libcuda.so > libcuda.so.1\n"
		"lib/libcuda.so.1 > libcuda.so.1.1\n"
		"lib/libcuda.so.1.1 = /a/libcuda.so.1.1\n"
		"share/x = /a/x\n",
		-1 },
	{ "tegra before its order",
		{ HOST, { .name = "tegra", .role = ROLE_TEGRA, .files = tegra_files } }, NULL,
		"lib/libcuda.so > libcuda.so.1\n"
		"lib/libcuda.so.1 > libcuda.so.470.1\n"
		"lib/libcuda.so.470.1 = /host/libcuda.so.470.1\n"
		"lib/libnvcudla.so = /host/libnvcudla.so\n"
		"lib/libnvidia-ml.so > libnvidia-ml.so.1\n"
		"lib/libnvidia-ml.so.1 > libnvidia-ml.so.470.1\n"
		"lib/libnvidia-ml.so.470.1 = /host/libnvidia-ml.so.470.1\n"
		"lib/libnvidia-nvvm.so > libnvidia-nvvm.so.4\n"
		"lib/libnvidia-nvvm.so.4 > libnvidia-nvvm.so.4.0.0\n"
		"lib/libnvidia-nvvm.so.4.0.0 = /host/libnvidia-nvvm.so.4.0.0\n"
		"lib/libnvidia-ptxjitcompiler.so > libnvidia-ptxjitcompiler.so.1\n"
		"lib/libnvidia-ptxjitcompiler.so.1 > libnvidia-ptxjitcompiler.so.470.1\n"
		"lib/libnvidia-ptxjitcompiler.so.470.1 = /host/libnvidia-ptxjitcompiler.so.470.1\n"
		"lib/libnvrm_gpu.so = /tegra/libnvrm_gpu.so\n",
		-1 },
#define VERSION(v)                                                                                 \
	"lib/libcuda.so > libcuda.so.1\n"                                                          \
	"lib/libcuda.so.1 > libcuda.so." v "\n"                                                    \
	"lib/libcuda.so." v " = /host/libcuda.so." v "\n"
#define ML_VERSION(v)                                                                              \
	"lib/libnvidia-ml.so > libnvidia-ml.so.1\n"                                                \
	"lib/libnvidia-ml.so.1 > libnvidia-ml.so." v "\n"                                          \
	"lib/libnvidia-ml.so." v " = /host/libnvidia-ml.so." v "\n"
#define GLCORE_VERSION(v)                                                                          \
	"lib/libnvidia-glcore.so > libnvidia-glcore.so." v "\n"                                    \
	"lib/libnvidia-glcore.so." v " = /host/libnvidia-glcore.so." v "\n"
	{ "A10: the kernel's, lower",
		{ { .name = "host", .role = ROLE_HOST, .files = two_versions } }, "430.14",
		VERSION("430.14") GLCORE_VERSION("430.14") ML_VERSION("430.14"), -1 },
	{ "A10: the kernel's, higher",
		{ { .name = "host", .role = ROLE_HOST, .files = two_versions_linked } },
		"440.33.01", VERSION("440.33.01") ML_VERSION("440.33.01"), -1 },
	{ "A10: the highest", { { .name = "host", .role = ROLE_HOST, .files = two_versions } },
		NULL, VERSION("440.33.01") GLCORE_VERSION("440.33.01") ML_VERSION("440.33.01"),
		-1 },
	{ "A10: another kernel's", { { .name = "host", .role = ROLE_HOST, .files = two_versions } },
		"535.1", VERSION("440.33.01") GLCORE_VERSION("440.33.01") ML_VERSION("440.33.01"),
		-1 },
	{ "A10: libcuda's link, for all",
		{ { .name = "host", .role = ROLE_HOST, .files = two_versions_linked } }, NULL,
		VERSION("430.14") ML_VERSION("430.14"), -1 },
	{ "A10: numbers, not text",
		{ { .name = "host", .role = ROLE_HOST, .files = short_versions } }, NULL,
		VERSION("10.1"), -1 },
	{ "A08: copies", { { .name = "host", .role = ROLE_HOST, .files = copies } }, NULL,
		VERSION("1.1"), -1 },
	{ "A08: only libcuda.so", { { .name = "host", .role = ROLE_HOST, .files = only_bare } },
		NULL,
		"lib/libcuda.so = /host/libcuda.so\n"
		"lib/libcuda.so.1 > libcuda.so\n",
		-1 },
	{ "a tree", { { .name = "host", .role = ROLE_HOST, .files = tree, .curated = true } }, NULL,
		"lib/dri/a_dri.so = /host/a_dri.so\n"
		"lib/dri/b_dri.so = /host/b_dri.so\n"
		"lib/libEGL.so > libEGL.so.1\n"
		"lib/libEGL.so.1 > libEGL.so.1.1.0\n"
		"lib/libEGL.so.1.1.0 = /host/libEGL.so.1.1.0\n"
		"lib/libGLX_indirect.so.0 > libGLX_mesa.so.0\n"
		"lib/libGLX_mesa.so > libGLX_mesa.so.0\n"
		"lib/libGLX_mesa.so.0 = /host/libGLX_mesa.so.0\n"
		"lib/libffi.so > libffi.so.8\n"
		"lib/libffi.so.7 = /host/libffi.so.7\n"
		"lib/libffi.so.8 = /host/libffi.so.8\n"
		"lib/libgallium.so = /host/libgallium.so\n"
		"lib/libgallium_a.so = /host/libgallium_a.so\n"
		"lib/libgallium_b.so = /host/libgallium_b.so\n"
		"lib/libscript.so = /host/libscript.so\n"
		"share/drirc.d/x.conf = /host/x.conf\n",
		-1 },
	{ "present = auto", { { .name = "host", .role = ROLE_HOST, .files = store } }, NULL,
		"etc/OpenCL/vendors/n.icd = /nix/store/x/n.icd\n"
		"etc/n.icd > /nix/store/x/o.icd\n"
		"lib/libcuda.so > libcuda.so.1\n"
		"lib/libcuda.so.1 > libcuda.so.1.1\n"
		"lib/libcuda.so.1.1 > /nix/store/x/lib/libcuda.so.1.1\n"
		"lib/libnvos.so = /usr/lib/libnvos.so\n"
		"share/a.txt > /nix/store/x/a.txt\n"
		"share/vulkan/icd.d/n.json = /nix/store/x/n.json\n",
		-1, 0, PRESENT_AUTO },
	{ "present = file", { { .name = "host", .role = ROLE_HOST, .files = store } }, NULL,
		"etc/OpenCL/vendors/n.icd = /nix/store/x/n.icd\n"
		"etc/n.icd = /nix/store/x/o.icd\n"
		"lib/libcuda.so > libcuda.so.1\n"
		"lib/libcuda.so.1 > libcuda.so.1.1\n"
		"lib/libcuda.so.1.1 = /nix/store/x/lib/libcuda.so.1.1\n"
		"lib/libnvos.so = /usr/lib/libnvos.so\n"
		"share/a.txt = /nix/store/x/a.txt\n"
		"share/vulkan/icd.d/n.json = /nix/store/x/n.json\n",
		-1, 0, PRESENT_FILE },
	{ "present = symlink", { { .name = "host", .role = ROLE_HOST, .files = store } }, NULL,
		"etc/OpenCL/vendors/n.icd = /nix/store/x/n.icd\n"
		"etc/n.icd > /nix/store/x/o.icd\n"
		"lib/libcuda.so > libcuda.so.1\n"
		"lib/libcuda.so.1 > libcuda.so.1.1\n"
		"lib/libcuda.so.1.1 > /nix/store/x/lib/libcuda.so.1.1\n"
		"lib/libnvos.so > /usr/lib/libnvos.so\n"
		"share/a.txt > /nix/store/x/a.txt\n"
		"share/vulkan/icd.d/n.json = /nix/store/x/n.json\n",
		-1, 0, PRESENT_SYMLINK },
	{ "names that are others' SONAMEs, paths in the way",
		{ { .name = "a", .role = ROLE_HOST, .files = odd_a },
			{ .name = "b", .role = ROLE_EXTRA, .files = odd_b } },
		NULL,
		"lib/libx.so = /b/libx.so\n"
		"lib/libx.so.1 > libx.so.1.2\n"
		"lib/libx.so.1.2 = /b/libx.so.1.2\n"
		"lib/liby.so > liby.so.1\n"
		"lib/liby.so.1 = /a/libx.so.1\n"
		"share/same = /a/same\n"
		"share/x = /a/x\n",
		-1 },
	{ "a path wanted by two SONAMEs",
		{ { .name = "c", .role = ROLE_HOST, .files = odd_c },
			{ .name = "d", .role = ROLE_EXTRA, .files = odd_d } },
		NULL,
		"lib/libz.so > libz.so.1\n"
		"lib/libz.so.1 > libz.so.9.9\n"
		"lib/libz.so.2 = /d/libz.so.9.9\n"
		"lib/libz.so.9.9 = /c/libz.so.9.9\n",
		-1 },
};

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
		"only layer host has SONAME libnvidia-ml.so.1" },
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
	setup(&fixture, &scenes[2]);
	facts_set(&fixture.decision.facts, FACT_HOST_DRIVER, "470.1", "x");
	facts_set(&fixture.decision.facts, FACT_KERNEL_DRIVER, "535.1", "x");
	run(&fixture);
	assert_int_equal(fixture.diags.count, 1);
	assert_non_null(strstr(fixture.diags.items[0].text, "error 803"));
	teardown(&fixture);
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
