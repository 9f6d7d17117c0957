/* SPDX-License-Identifier: MIT */
/* Which libcudas are asked, with what, and how often: the child is a script that notes its
 * arguments. */
#include "../compat/cmocka.h"

#include <stdio.h>
#include <sys/stat.h>

#include "../../fs/driver_closure.h"
#include "../../fs/driver_probe.h"
#include "../../fs/rootfs.h"
#include "fake.h"
#include "tree_builder.h"

static const struct fake_file compat_files[] = {
	{ .path = "lib/libcuda.so.1.1",
		.host = "/c0",
		.soname = "libcuda.so.1",
		.needed = "libnvrm_gpu.so libc.so.6 libm.so.6" },
	{ .path = "lib/libcuda.so.2.2", .host = "/c1", .soname = "libcuda.so.1", .set = 1 },
	{ 0 },
};
static const struct fake_file host_files[] = {
	{ .path = "lib/libcuda.so.535.1",
		.host = "/h0",
		.soname = "libcuda.so.1",
		.needed = "libnvrm_gpu.so libabsent.so" },
	{ .path = "lib/libnvrm_gpu.so",
		.host = "/h1",
		.soname = "libnvrm_gpu.so",
		.needed = "libnvos.so libnvrm_mem.so" },
	{ .path = "lib/libnvrm_mem.so",
		.host = "/h2",
		.soname = "libnvrm_mem.so",
		.needed = "libnvos.so libnvrm_gpu.so" },
	{ .path = "lib/libnvos.so.1", .host = "/h3", .soname = "libnvos.so" },
	{ .path = "lib/libc.so.6", .host = "/h4", .soname = "libc.so.6" },
	{ 0 },
};
static const struct fake_layer fakes[] = {
	{ .name = "compat", .role = ROLE_COMPAT, .files = compat_files, .sets = { "/c0", "/c1" } },
	{ .name = "host", .role = ROLE_HOST, .files = host_files },
};

struct fixture {
	struct tree tree;
	struct rootfs *root;
	struct policy policy;
	struct layer **layers;
	struct facts facts;
	struct tables *tables;
	struct decide_input input;
	char *helper;
};

/* The script's answer is the content of the last descriptor's file. */
static void set_up(struct fixture *fixture)
{
	static const char script[] = "#!/bin/sh\n"
				     "answer=$2 log=${0%/*}/log\n"
				     "shift 2\n"
				     "names=\n"
				     "for fd; do\n"
				     "  read -r name </proc/self/fd/$fd\n"
				     "  names=\"$names$name \"\n"
				     "done\n"
				     "echo \"$names\" >>\"$log\"\n"
				     "case $name in\n"
				     "  h0) printf v12020 ;;\n"
				     "  c0) printf v12060 ;;\n"
				     "  *) printf 'ebroken' ;;\n"
				     "esac >/proc/self/fd/$answer\n";

	*fixture = (struct fixture){ 0 };
	tree_new(&fixture->tree);
	tree_text(&fixture->tree, "helper", script);
	fixture->helper = tree_path(&fixture->tree, "helper");
	assert_int_equal(chmod(fixture->helper, 0755), 0);
	assert_int_equal(rootfs_open(fixture->tree.top, &fixture->root), 0);
	fake_build(&fixture->policy, fakes, ARRAY_SIZE(fakes), &fixture->layers);
	for (size_t i = 0; i < ARRAY_SIZE(fakes); i++) {
		for (size_t k = 0; k < fixture->layers[i]->n_candidates; k++) {
			struct source *source = fixture->layers[i]->candidates[k].source;
			_cleanup_(freep) char *line = string_format("%s\n", source->path + 1);
			_cleanup_(freep) char *path = NULL;
			struct stat st;

			tree_text(&fixture->tree, source->path + 1, line);
			path = tree_path(&fixture->tree, source->path + 1);
			assert_int_equal(stat(path, &st), 0);
			source->identity.dev = st.st_dev;
			source->identity.ino = st.st_ino;
			source->identity.size = (uint64_t)st.st_size;
			source->identity.mtime_sec = st.st_mtim.tv_sec;
			source->identity.mtime_nsec = (uint32_t)st.st_mtim.tv_nsec;
			source->root = fixture->root;
		}
	}
	assert_int_equal(tables_new(&fixture->tables), 0);
	fixture->input = (struct decide_input){ .policy = &fixture->policy,
		.layers = fixture->layers,
		.n_layers = ARRAY_SIZE(fakes),
		.probed = &fixture->facts,
		.tables = fixture->tables };
}

static void tear_down(struct fixture *fixture)
{
	fake_free(&fixture->policy, fixture->layers);
	rootfs_unref(fixture->root);
	tables_free(fixture->tables);
	free(fixture->helper);
	tree_remove(&fixture->tree);
}

static void expect_log(const struct fixture *fixture, const char *wanted)
{
	_cleanup_(freep) char *path = tree_path(&fixture->tree, "log");
	char text[512] = "";
	FILE *file = fopen(path, "r");

	if (file) {
		text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
		fclose(file);
	}
	assert_string_equal(text, wanted);
}

#define ASKED "h3 h2 h1 h0 \nh3 h2 h1 c0 \nc1 \n"

static void test_once(void **state)
{
	struct driver_probe_cache *cache;
	struct fixture fixture;

	(void)state;
	set_up(&fixture);
	cache = driver_probe_cache_new(fixture.helper);
	for (int i = 0; i < 3; i++) {
		struct driver_probe *probes;
		size_t count;

		assert_int_equal(driver_probe_run(cache, &fixture.input, &probes, &count), 0);
		assert_int_equal(count, 3);
		assert_string_equal(probes[0].cuda, "12.2");
		assert_null(probes[0].why);
		assert_string_equal(probes[1].cuda, "12.6");
		assert_string_equal(probes[2].cuda, "");
		assert_string_equal(probes[2].why, "broken");
		assert_string_equal(probes[2].source->path, "/c1");
		free(probes);
		expect_log(&fixture, ASKED);
	}
	driver_probe_cache_free(cache);
	tear_down(&fixture);
}

/* A library that the libcuda needs is another one: asked again; the old answer is forgotten. */
static void test_changed(void **state)
{
	struct driver_probe_cache *cache;
	struct driver_probe *probes;
	struct fixture fixture;
	size_t count;

	(void)state;
	set_up(&fixture);
	cache = driver_probe_cache_new(fixture.helper);
	assert_int_equal(driver_probe_run(cache, &fixture.input, &probes, &count), 0);
	free(probes);
	for (size_t i = 0; i < fixture.layers[1]->n_candidates; i++)
		if (strcmp(fixture.layers[1]->candidates[i].source->path, "/h3") == 0)
			fixture.layers[1]->candidates[i].source->identity.build_id_size = 1;
	assert_int_equal(driver_probe_run(cache, &fixture.input, &probes, &count), 0);
	free(probes);
	expect_log(&fixture, ASKED "h3 h2 h1 h0 \nh3 h2 h1 c0 \n");
	driver_probe_cache_free(cache);
	tear_down(&fixture);
}

/* The file has been replaced since the scan: what is there now is not asked. */
static void test_replaced(void **state)
{
	struct driver_probe_cache *cache;
	struct driver_probe *probes;
	struct diag_list diags = { 0 };
	struct fixture fixture;
	_cleanup_(freep) char *text = NULL;
	_cleanup_(freep) char *from = NULL;
	_cleanup_(freep) char *to = NULL;
	size_t count;

	(void)state;
	set_up(&fixture);
	tree_text(&fixture.tree, "new", "longer than before\n");
	from = tree_path(&fixture.tree, "new");
	to = tree_path(&fixture.tree, "c1");
	assert_int_equal(rename(from, to), 0);
	cache = driver_probe_cache_new(fixture.helper);
	assert_int_equal(driver_probe_run(cache, &fixture.input, &probes, &count), 0);
	assert_string_equal(probes[2].why, "/c1: Stale file handle");
	driver_probe_tell(probes, count, &diags);
	assert_int_equal(diags.count, 1);
	text = diag_format(&diags.items[0]);
	assert_string_equal(text, "/c1: info: cuDriverGetVersion could not be asked: /c1: Stale "
				  "file handle");
	diag_clear(&diags);
	free(probes);
	driver_probe_cache_free(cache);
	tear_down(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_once),
		cmocka_unit_test(test_changed),
		cmocka_unit_test(test_replaced),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
