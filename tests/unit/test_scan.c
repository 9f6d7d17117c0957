/* SPDX-License-Identifier: MIT */
/* scan: made-up directories to candidates and rejections, each as one line of text. */
#include "../compat/cmocka.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "elf_builder.h"
#include "scan.h"
#include "tree_builder.h"

enum make_kind { MAKE_ELF, MAKE_TEXT, MAKE_LINK, MAKE_FIFO, MAKE_DIRECTORY, MAKE_CUT, MAKE_HARD };

struct made {
	enum make_kind kind;
	const char *path;
	const char *text; /* content, target of the link, or the library's SONAME */
	struct elf_plan plan;
	size_t size; /* MAKE_CUT */
};

#define ELF(path_, ...)                                                                            \
	{                                                                                          \
		MAKE_ELF, path_, NULL, { .rpath = NULL, __VA_ARGS__ }, 0                           \
	}
#define TEXT(path_, text_)                                                                         \
	{                                                                                          \
		MAKE_TEXT, path_, text_, { 0 }, 0                                                  \
	}
#define LINK(path_, target_)                                                                       \
	{                                                                                          \
		MAKE_LINK, path_, target_, { 0 }, 0                                                \
	}
#define FIFO(path_)                                                                                \
	{                                                                                          \
		MAKE_FIFO, path_, NULL, { 0 }, 0                                                   \
	}
#define DIRECTORY(path_)                                                                           \
	{                                                                                          \
		MAKE_DIRECTORY, path_, NULL, { 0 }, 0                                              \
	}
#define CUT(path_, size_)                                                                          \
	{                                                                                          \
		MAKE_CUT, path_, NULL, { 0 }, size_                                                \
	}
#define VALUE(text_)                                                                               \
	{                                                                                          \
		(char *)text_, NULL, 0                                                             \
	}
#define VALUE_AT(text_, file_, line_)                                                              \
	{                                                                                          \
		(char *)text_, (char *)file_, line_                                                \
	}
#define HARD(path_, existing_)                                                                     \
	{                                                                                          \
		MAKE_HARD, path_, existing_, { 0 }, 0                                              \
	}

struct scan_case {
	const char *what;
	struct made made[16];
	struct policy_value dirs[3], trees[3], includes[3], excludes[3];
	const char *root;
	bool optional, trust, check_trust;
	int result;
	const char *expected;
};

static const struct scan_case cases[] = {
	{ .what = "links and files of one library",
		.made = { ELF("host/libcuda.so.1.1", .soname = "libcuda.so.1"),
			LINK("host/libcuda.so.1", "libcuda.so.1.1"),
			LINK("host/libcuda.so", "libcuda.so.1"), TEXT("host/readme.txt", "x"),
			ELF("host/libfoo.so.1"), ELF("host/libstdc++.so.6") },
		.dirs = { VALUE("/host") },
		.expected = "lib/libcuda.so -> libcuda.so.1 = /host/libcuda.so.1.1\n"
			    "lib/libcuda.so.1 -> libcuda.so.1.1 = /host/libcuda.so.1.1\n"
			    "lib/libcuda.so.1.1 = /host/libcuda.so.1.1\n" },
	{ .what = "a link that leads out of the directory",
		.made = { ELF("opt/nv/libcuda.so.1.1"),
			LINK("host/libcuda.so.1", "/opt/nv/libcuda.so.1.1") },
		.dirs = { VALUE("/host") },
		.expected = "lib/libcuda.so.1 -> /opt/nv/libcuda.so.1.1 = "
			    "/opt/nv/libcuda.so.1.1\n" },
	{ .what = "A06: empty, cut short, text",
		.made = { TEXT("host/libcuda.so.1", ""), CUT("host/libnvos.so", 100),
			CUT("host/libnvcuvid.so.1", 40), TEXT("host/libnvidia-ml.so.1", "hello"),
			CUT("host/libnvdc.so", 230) },
		.dirs = { VALUE("/host") },
		.expected = "! /host/libcuda.so.1: the file is empty\n"
			    "! /host/libnvcuvid.so.1: the file is cut short\n"
			    "! /host/libnvdc.so: the file is cut short\n"
			    "! /host/libnvidia-ml.so.1: the file is not an ELF file\n"
			    "! /host/libnvos.so: the file is cut short\n" },
	{ .what = "A07: stubs, also by a link",
		.made = { ELF("cuda/lib64/stubs/libcuda.so", .soname = "libcuda.so.1"),
			LINK("host/libcuda.so.1", "../cuda/lib64/stubs/libcuda.so"),
			LINK("elsewhere", "cuda/lib64/stubs"), DIRECTORY("a/stubs"),
			ELF("real/libcuda.so"), LINK("b/stubs", "../real") },
		.dirs = { VALUE("/host"), VALUE("/elsewhere"), VALUE("/b/stubs") },
		.expected = "! /b/stubs/libcuda.so: it is a stub: a directory of its path is named "
			    "stubs\n"
			    "! /elsewhere/libcuda.so: it is a stub: a directory of its path is "
			    "named stubs\n"
			    "! /host/libcuda.so.1: it is a stub: a directory of its path is named "
			    "stubs\n" },
	{ .what = "A09: wrong machine, class, type, byte order",
		.made = { ELF("host/libcuda.so.1", .machine = EM_AARCH64),
			ELF("host/libnvos.so", .class = ELFCLASS32, .machine = EM_386),
			ELF("host/libnvcuvid.so.1", .type = ET_EXEC),
			ELF("host/libnvidia-cfg.so.1", .pie = true),
			ELF("host/libnvidia-ml.so.1", .big_endian = true),
			ELF("host/libnvidia-fbc.so.1", .type = ET_REL),
			ELF("host/libnvdc.so", .machine = 999) },
		.dirs = { VALUE("/host") },
		.expected = "! /host/libcuda.so.1: it is for aarch64, this view is for x86_64\n"
			    "! /host/libnvcuvid.so.1: it is an executable\n"
			    "! /host/libnvdc.so: it is for machine 999 (64 bits), this view is for "
			    "x86_64\n"
			    "! /host/libnvidia-cfg.so.1: it is an executable\n"
			    "! /host/libnvidia-fbc.so.1: it is an object file\n"
			    "! /host/libnvidia-ml.so.1: it is for a big-endian machine\n"
			    "! /host/libnvos.so: it is for i386, this view is for x86_64\n" },
	{ .what = "A11: dangling, looping, directories, FIFOs",
		.made = { LINK("host/libcuda.so.1", "missing"),
			LINK("host/libnvos.so", "libnvos.so"),
			LINK("host/libnvdc.so", "libnvll.so"),
			LINK("host/libnvll.so", "libnvdc.so"), DIRECTORY("host/libnvvic.so"),
			FIFO("host/libnvimp.so"), LINK("host/tegra", ".") },
		.dirs = { VALUE("/host/tegra/tegra") },
		.expected =
			"! /host/tegra/tegra/libcuda.so.1: it is a link to missing, which leads "
			"nowhere\n"
			"! /host/tegra/tegra/libnvdc.so: it is a link that leads in a circle\n"
			"! /host/tegra/tegra/libnvimp.so: it is a FIFO\n"
			"! /host/tegra/tegra/libnvll.so: it is a link that leads in a circle\n"
			"! /host/tegra/tegra/libnvos.so: it is a link that leads in a circle\n"
			"! /host/tegra/tegra/libnvvic.so: it is a directory\n" },
	{ .what = "A13: only what is asked for, and never the C library",
		.made = { ELF("host/libdrm.so.2"), ELF("host/libgcc_s.so.1"), ELF("host/libc.so.6"),
			ELF("host/libfoo.so"), ELF("host/libnvos.so") },
		.dirs = { VALUE("/host") },
		.includes = { VALUE("lib*"), VALUE("libdrm.so.2"), VALUE("libc.so.6") },
		.excludes = { VALUE("libnv*") },
		.expected = "lib/libdrm.so.2 = /host/libdrm.so.2\n"
			    "lib/libfoo.so = /host/libfoo.so\n"
			    "! /host/libc.so.6: it belongs to the C library, which is never "
			    "served\n" },
	{ .what = "temporary names",
		.made = { ELF("host/libcuda.so.1.dpkg-new"), ELF("host/libcuda.so.1~"),
			ELF("host/.#libcuda.so.1"), ELF("tree/lib/libcuda.so.1~"),
			TEXT("tree/share/x.json.bak", "{}") },
		.dirs = { VALUE("/host") },
		.trees = { VALUE("/tree") },
		.expected = "" },
	{ .what = "plug-ins beside the libraries",
		.made = { ELF("host/libnvidia-allocator.so.1"),
			LINK("host/gbm/nvidia-drm_gbm.so", "../libnvidia-allocator.so.1"),
			ELF("host/gbm/dri_gbm.so"), ELF("host/dri/nvidia_drv_video.so"),
			ELF("host/dri/i965_dri.so"), ELF("host/vdpau/libvdpau_nvidia.so.1"),
			ELF("host/vdpau/libvdpau_r600.so.1"), ELF("host/vdpau/nvidia.so") },
		.dirs = { VALUE("/host") },
		.expected = "lib/dri/nvidia_drv_video.so = /host/dri/nvidia_drv_video.so\n"
			    "lib/gbm/nvidia-drm_gbm.so -> ../libnvidia-allocator.so.1 = "
			    "/host/libnvidia-allocator.so.1\n"
			    "lib/libnvidia-allocator.so.1 = /host/libnvidia-allocator.so.1\n"
			    "lib/vdpau/libvdpau_nvidia.so.1 = /host/vdpau/libvdpau_nvidia.so.1\n" },
	{ .what = "a tree",
		.made = { ELF("tree/lib/libGL.so.1"), ELF("tree/lib/dri/iris_dri.so"),
			TEXT("tree/lib/libfoo.la", "x"), TEXT("tree/lib/libbar.so", "INPUT(x)\n"),
			TEXT("tree/lib/libbad.so", "text"), ELF("tree/lib/libc.so.6"),
			TEXT("tree/share/vulkan/icd.d/x.json", "{}"),
			TEXT("tree/etc/OpenCL/vendors/nvidia.icd", "x"), TEXT("tree/bin/tool", "x"),
			LINK("tree/share/up", ".."),
			LINK("tree/lib/liblink.so.1", "/store/liblink.so.1"),
			ELF("store/liblink.so.1"), ELF("tree/lib/libarm.so", .machine = EM_ARM),
			LINK("tree/lib/d", "/store2"), TEXT("store2/data", "x") },
		.trees = { VALUE("/tree") },
		.expected =
			"lib/d/data = /store2/data *\n"
			"lib/dri/iris_dri.so = /tree/lib/dri/iris_dri.so *\n"
			"lib/libGL.so.1 = /tree/lib/libGL.so.1 *\n"
			"lib/libbar.so = /tree/lib/libbar.so *\n"
			"lib/libfoo.la = /tree/lib/libfoo.la *\n"
			"lib/liblink.so.1 -> /store/liblink.so.1 = /store/liblink.so.1 *\n"
			"etc/OpenCL/vendors/nvidia.icd = /tree/etc/OpenCL/vendors/nvidia.icd *\n"
			"share/vulkan/icd.d/x.json = /tree/share/vulkan/icd.d/x.json *\n"
			"! /tree/lib/libarm.so: it is for machine 40 (64 bits), this view is for "
			"x86_64\n"
			"! /tree/lib/libbad.so: the file is not an ELF file\n"
			"! /tree/share/up: it leads back to a directory that it is in\n" },
	{ .what = "a root of its own",
		.made = { ELF("jetson/usr/lib/libnvos.so"), ELF("jetson/opt/libcuda.so.1.1"),
			LINK("jetson/usr/lib/libcuda.so.1", "/opt/libcuda.so.1.1"),
			ELF("opt/libnvdc.so"),
			LINK("jetson/usr/lib/libnvdc.so", "/../opt/libnvdc.so") },
		.dirs = { VALUE("/usr/lib") },
		.root = "/jetson",
		.expected =
			"lib/libcuda.so.1 -> /opt/libcuda.so.1.1 = /jetson/opt/libcuda.so.1.1\n"
			"lib/libnvos.so = /jetson/usr/lib/libnvos.so\n"
			"! /jetson/usr/lib/libnvdc.so: it is a link to /../opt/libnvdc.so, which "
			"leads nowhere inside /jetson\n" },
	{ .what = "a missing directory",
		.dirs = { VALUE_AT("/none", "x.conf", 7) },
		.result = -ENOENT,
		.expected = "x.conf:7: error: layer test: /none does not exist\n" },
	{ .what = "a missing optional directory",
		.made = { ELF("host/libnvos.so") },
		.dirs = { VALUE_AT("/none", "x.conf", 7), VALUE("/host") },
		.optional = true,
		.expected = "lib/libnvos.so = /host/libnvos.so\n"
			    "- /none\n" },
	{ .what = "a missing optional root",
		.dirs = { VALUE("/host") },
		.root = "/none",
		.optional = true,
		.expected = "- /host\n" },
	{ .what = "a file for a directory",
		.made = { TEXT("file", "x") },
		.trees = { VALUE_AT("/file", "x.conf", 2) },
		.result = -ENOTDIR,
		.expected = "x.conf:2: error: layer test: /file: Not a directory\n" },
	{ .what = "hard links are one source",
		.made = { ELF("host/libnvos.so"), HARD("host/libnvdc.so", "host/libnvos.so") },
		.dirs = { VALUE("/host") },
		.expected = "lib/libnvdc.so = /host/libnvdc.so\n"
			    "lib/libnvos.so = /host/libnvdc.so\n" },
};

static void make(const struct tree *tree, const struct made *made)
{
	_cleanup_(freep) char *full = tree_path(tree, made->path);
	struct elf_built built;

	elf_build(&made->plan, &built);
	switch (made->kind) {
	case MAKE_ELF:
		tree_write(tree, made->path, built.bytes, built.size);
		break;
	case MAKE_CUT:
		tree_write(tree, made->path, built.bytes, made->size);
		break;
	case MAKE_TEXT:
		tree_text(tree, made->path, made->text);
		break;
	case MAKE_LINK:
		tree_link(tree, made->path, made->text);
		break;
	case MAKE_FIFO:
		assert_int_equal(mkfifo(full, 0644), 0);
		break;
	case MAKE_DIRECTORY:
		assert_int_equal(mkdir(full, 0755), 0);
		break;
	case MAKE_HARD: {
		_cleanup_(freep) char *existing = tree_path(tree, made->text);

		assert_int_equal(link(existing, full), 0);
		break;
	}
	}
}

static void list_from(const struct policy_value values[3], struct policy_list *ret_list)
{
	ret_list->items = (struct policy_value *)values;
	ret_list->count = 0;
	while (ret_list->count < 3 && values[ret_list->count].text)
		ret_list->count++;
}

static struct policy_layer layer_from(const struct scan_case *c)
{
	struct policy_layer layer = { .name = (char *)"test",
		.role = ROLE_HOST,
		.enabled = true,
		.optional = c->optional,
		.trust = c->trust,
		.root = { (char *)c->root, NULL, 0 } };

	list_from(c->dirs, &layer.dirs);
	list_from(c->trees, &layer.trees);
	list_from(c->includes, &layer.includes);
	list_from(c->excludes, &layer.excludes);
	return layer;
}

static const char *without(const char *text, const char *prefix)
{
	return string_has_prefix(text, prefix) ? text + strlen(prefix) : text;
}

static void dump_layer(FILE *stream, const struct layer *layer, const char *top)
{
	for (int curated = 0; curated < 2; curated++)
		for (size_t i = 0; i < layer->n_candidates; i++) {
			const struct candidate *c = &layer->candidates[i];

			/* In the order of a reader: libraries first. */
			if (string_has_prefix(c->path, "lib/") != (curated == 0))
				continue;
			fprintf(stream, "%s%s%s = %s%s\n", c->path, c->link ? " -> " : "",
				c->link ? c->link : "", without(c->source->real_path, top),
				c->curated ? " *" : "");
		}
	for (size_t i = 0; i < layer->n_rejections; i++)
		fprintf(stream, "! %s: %s\n", without(layer->rejections[i].path, top),
			layer->rejections[i].text);
	for (size_t i = 0; i < layer->n_sets; i++)
		if (!layer->sets[i].present)
			fprintf(stream, "- %s\n", layer->sets[i].path);
}

static void layers_free(struct layer **layers, size_t n)
{
	for (size_t i = 0; layers && i < n; i++)
		layer_free(layers[i]);
	free(layers);
}

static void run_case(const struct scan_case *c)
{
	_cleanup_(rootfs_unrefp) struct rootfs *root = NULL;
	_cleanup_(diag_clear) struct diag_list diags = { 0 };
	_cleanup_(freep) char *text = NULL;
	struct policy_layer layer = layer_from(c);
	struct policy policy = { .machine = MACHINE_X86_64, .layers = &layer, .n_layers = 1 };
	struct scan_request request = {
		.policy = &policy, .timeout_ms = 5000, .check_trust = c->check_trust
	};
	struct layer **layers = NULL;
	struct tree tree;
	size_t size;
	FILE *stream = open_memstream(&text, &size);

	tree_new(&tree);
	for (size_t i = 0; i < ARRAY_SIZE(c->made) && c->made[i].path; i++)
		make(&tree, &c->made[i]);
	assert_int_equal(rootfs_open(tree.top, &root), 0);
	request.root = root;
	assert_int_equal(scan(&request, &layers, &diags), c->result);
	if (layers) {
		assert_ptr_equal(layers[0]->policy, &layer);
		dump_layer(stream, layers[0], tree.top);
	}
	for (size_t i = 0; i < diags.count; i++) {
		_cleanup_(freep) char *line = diag_format(&diags.items[i]);

		fprintf(stream, "%s\n", line);
	}
	fclose(stream);
	if (strcmp(text, c->expected) != 0)
		fail_msg("%s:\n%s-- expected --\n%s", c->what, text, c->expected);
	layers_free(layers, 1);
	tree_remove(&tree);
}

static void test_cases(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		run_case(&cases[i]);
}

struct setting {
	struct tree tree;
	struct rootfs *root;
	struct policy_value dir;
	struct policy_layer layer;
	struct policy policy;
	struct scan_request request;
	unsigned offers;
};

static void count_offer(void *context, struct source *source, int fd)
{
	struct setting *s = context;
	struct stat stat;

	assert_int_equal(fstat(fd, &stat), 0);
	assert_int_equal(stat.st_ino, source->identity.ino);
	assert_int_equal(fcntl(fd, F_GETFL) & O_ACCMODE, O_RDONLY);
	assert_int_equal(fcntl(fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
	s->offers++;
	close(fd);
}

static void setting_new(struct setting *s)
{
	static const struct made library =
		ELF("host/libnvos.so", .soname = "libnvos.so", .build_id_size = 20, .build_id = 9);

	*s = (struct setting){ .dir = { (char *)"/host", NULL, 0 } };
	tree_new(&s->tree);
	make(&s->tree, &library);
	assert_int_equal(rootfs_open(s->tree.top, &s->root), 0);
	s->layer = (struct policy_layer){ .name = (char *)"test", .dirs = { &s->dir, 1, 1 } };
	s->policy = (struct policy){ .layers = &s->layer, .n_layers = 1 };
	s->request = (struct scan_request){ .policy = &s->policy,
		.root = s->root,
		.timeout_ms = 5000,
		.offer = count_offer,
		.offer_context = s };
}

static void setting_clear(struct setting *s)
{
	scan_cache_free(s->request.cache);
	rootfs_unref(s->root);
	tree_remove(&s->tree);
}

/* The source of the only candidate, a reference. */
static struct source *scan_one(struct setting *s)
{
	_cleanup_(diag_clear) struct diag_list diags = { 0 };
	struct layer **layers;
	struct source *source;

	assert_int_equal(scan(&s->request, &layers, &diags), 0);
	assert_int_equal(layers[0]->n_candidates, 1);
	source = source_ref(layers[0]->candidates[0].source);
	layers_free(layers, 1);
	return source;
}

static void test_source(void **state)
{
	_cleanup_(source_unrefp) struct source *source = NULL;
	_cleanup_(freep) char *path = NULL;
	struct setting s;
	struct stat stat;

	(void)state;
	setting_new(&s);
	path = tree_path(&s.tree, "host/libnvos.so");
	assert_int_equal(chmod(path, 06755), 0);
	source = scan_one(&s);
	assert_int_equal(lstat(path, &stat), 0);
	assert_int_equal(s.offers, 1);
	assert_int_equal(source->identity.dev, stat.st_dev);
	assert_int_equal(source->identity.ino, stat.st_ino);
	assert_int_equal(source->identity.size, stat.st_size);
	assert_int_equal(source->identity.build_id_size, 20);
	assert_int_equal(source->identity.build_id[19], 9);
	assert_int_equal(source->mode, S_IFREG | 0755);
	assert_string_equal(source->path, "/host/libnvos.so");
	assert_string_equal(source->real_path, path);
	assert_string_equal(source->elf.soname, "libnvos.so");
	assert_true(source->is_elf);
	assert_false(source->in_store);
	setting_clear(&s);
}

static void test_cache(void **state)
{
	_cleanup_(freep) char *path = NULL, *store = NULL;
	struct source *first, *second;
	struct setting s;

	(void)state;
	setting_new(&s);
	s.request.cache = scan_cache_new();
	path = tree_path(&s.tree, "host/libnvos.so");
	first = scan_one(&s);
	second = scan_one(&s);
	assert_ptr_equal(first, second);
	assert_int_equal(s.offers, 1);
	source_unref(second);

	/* Only the ctime changes: another source of the same identity. */
	assert_int_equal(chmod(path, 0700), 0);
	second = scan_one(&s);
	assert_ptr_not_equal(first, second);
	assert_memory_equal(&first->identity, &second->identity, sizeof(first->identity));
	assert_int_equal(second->mode & 0777, 0700);
	assert_int_equal(s.offers, 2);
	source_unref(second);

	/* Another file of the same size in its place. */
	{
		static const struct made library = ELF(
			"host/new", .soname = "libnvos.so", .build_id_size = 20, .build_id = 10);
		_cleanup_(freep) char *new = tree_path(&s.tree, "host/new");

		make(&s.tree, &library);
		assert_int_equal(rename(new, path), 0);
	}
	second = scan_one(&s);
	assert_memory_not_equal(&first->identity, &second->identity, sizeof(first->identity));
	assert_int_equal(second->elf.build_id[0], 10);
	/* What a successful scan does not see is dropped. */
	s.layer.excludes =
		(struct policy_list){ &(struct policy_value){ (char *)"*", NULL, 0 }, 1, 1 };
	{
		struct diag_list diags = { 0 };
		struct layer **layers;

		assert_int_equal(scan(&s.request, &layers, &diags), 0);
		layers_free(layers, 1);
	}
	assert_int_equal(atomic_load(&second->references), 1);
	source_unref(second);
	source_unref(first);
	setting_clear(&s);
}

static void test_trust(void **state)
{
	_cleanup_(diag_clear) struct diag_list diags = { 0 };
	_cleanup_(freep) char *path = NULL;
	struct layer **layers;
	struct setting s;

	(void)state;
	if (geteuid() != 0)
		skip();
	setting_new(&s);
	path = tree_path(&s.tree, "host");
	assert_int_equal(chmod(path, 0777), 0);
	s.request.check_trust = true;
	assert_int_equal(scan(&s.request, &layers, &diags), 0);
	assert_int_equal(layers[0]->n_candidates, 0);
	assert_int_equal(layers[0]->n_rejections, 1);
	assert_true(string_has_prefix(
		layers[0]->rejections[0].text, "it could be replaced by another user: "));
	assert_non_null(strstr(layers[0]->rejections[0].text, path));
	assert_int_equal(s.offers, 0);
	layers_free(layers, 1);
	s.layer.trust = true;
	source_unref(scan_one(&s));
	setting_clear(&s);
}

static void test_under(void **state)
{
	static const struct made made[] = { ELF("run/driver/lib/libnvos.so"),
		ELF("run/driver/lib/libGL.so.1"),
		LINK("run/driver/lib/libnvdc.so", "/host/libnvos.so"),
		TEXT("run/driver/share/vulkan/icd.d/x.json", "{}") };
	_cleanup_(diag_clear) struct diag_list diags = { 0 };
	_cleanup_(rootfs_unrefp) struct rootfs *under = NULL;
	_cleanup_(freep) char *path = NULL, *text = NULL;
	struct layer **layers;
	struct setting s;
	size_t size;
	FILE *stream;

	(void)state;
	setting_new(&s);
	s.layer.dirs.count = 0;
	s.layer.under = true;
	assert_int_equal(scan(&s.request, &layers, &diags), -ENOENT);
	assert_int_equal(diag_count(&diags, DIAG_ERROR), 1);
	for (size_t i = 0; i < ARRAY_SIZE(made); i++)
		make(&s.tree, &made[i]);
	path = tree_path(&s.tree, "run/driver");
	assert_int_equal(
		rootfs_from_fd(open(path, O_PATH | O_CLOEXEC), "/run/driver", s.root, &under), 0);
	s.request.under = under;
	assert_int_equal(scan(&s.request, &layers, &diags), 0);
	stream = open_memstream(&text, &size);
	dump_layer(stream, layers[0], s.tree.top);
	fclose(stream);
	assert_string_equal(text,
		"lib/libnvdc.so -> /host/libnvos.so = /host/libnvos.so\n"
		"lib/libnvos.so = /run/driver/lib/libnvos.so\n"
		"share/vulkan/icd.d/x.json = /run/driver/share/vulkan/icd.d/x.json\n");
	layers_free(layers, 1);
	setting_clear(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cases),
		cmocka_unit_test(test_source),
		cmocka_unit_test(test_cache),
		cmocka_unit_test(test_trust),
		cmocka_unit_test(test_under),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
