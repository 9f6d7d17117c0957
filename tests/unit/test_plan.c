/* SPDX-License-Identifier: MIT */
/* Plans of real files: read once while they stay the same, one for all places of a file. */
#include "../compat/cmocka.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../proto/world.h"
#include "patch_builder.h"
#include "plan.h"
#include "rootfs.h"

struct fixture {
	char *directory;
	struct policy policy;
	struct decision decision;
	struct plan_cache *cache;
};

static int set_up(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	fixture->directory = world_directory();
	fixture->policy.runpath = strdup("pin");
	fixture->cache = plan_cache_new();
	*state = fixture;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;

	plan_cache_free(fixture->cache);
	free(fixture->policy.runpath);
	world_remove(fixture->directory);
	free(fixture);
	return 0;
}

static void release(struct source *source)
{
	source->root = rootfs_unref(source->root);
}

/* A library on disk; `bytes` NULL: a text. */
static struct source *library(const struct fixture *fixture, const char *name, const char *soname)
{
	const struct patch_plan plan = {
		.soname = soname, .spare = 4, .slack = 0x400, .align = 0x1000
	};
	static struct patch_built built;
	struct source *source = world_source(fixture->directory, name, "", NULL);
	struct stat st;
	int fd = open(source->path, O_WRONLY | O_CLOEXEC);

	patch_build(&plan, &built);
	assert_int_equal(write(fd, built.bytes, built.size), built.size);
	assert_int_equal(fstat(fd, &st), 0);
	close(fd);
	source->identity.size = (uint64_t)st.st_size;
	source->identity.mtime_sec = st.st_mtim.tv_sec;
	source->identity.mtime_nsec = (uint32_t)st.st_mtim.tv_nsec;
	source->ctime_sec = st.st_ctim.tv_sec;
	source->ctime_nsec = (uint32_t)st.st_ctim.tv_nsec;
	source->is_elf = true;
	source->elf.soname = strdup(soname);
	source->release = release;
	return source;
}

static struct plan_list run(const struct fixture *fixture, struct view *view)
{
	const struct plan_request request = {
		.policy = &fixture->policy,
		.mountpoint = "/m",
		.decision = &fixture->decision,
		.cache = fixture->cache,
	};
	struct plan_list plans;

	assert_int_equal(plan_view(&request, view, &plans), 0);
	assert_int_equal(view_finish(view), 0);
	return plans;
}

/* A link to the host's file becomes a file, one in the mount stays; all places have one overlay. */
static void test_places(void **state)
{
	struct fixture *fixture = *state;
	struct source *cuda = library(fixture, "cuda", "libcuda.so.1");
	struct source *gbm = library(fixture, "gbm", "libnvidia-allocator.so.1");
	struct view *view = view_new();
	struct plan_list plans;
	const struct view_entry *entry;

	view_add_link(view, "lib/libcuda.so.1.1", cuda->real_path, cuda, "host");
	view_add_link(view, "lib/libcuda.so.1", "libcuda.so.1.1", cuda, "host");
	view_add_file(view, "lib/libnvidia-allocator.so.1", gbm, "host");
	view_add_link(view, "lib/gbm/nvidia_gbm.so", gbm->real_path, gbm, "host");
	view_add_file(view, "share/x.so", gbm, "host");
	plans = run(fixture, view);
	assert_int_equal(plans.count, 2);
	entry = view_find(view, "lib/libcuda.so.1.1");
	assert_int_equal(entry->kind, VIEW_FILE);
	assert_ptr_equal(entry->overlay, plan_find(&plans, cuda)->patch.overlay);
	assert_true(string_has_prefix(
		plan_find(&plans, cuda)->patch.runpath, "$ORIGIN/../.gldriverfs/set/"));
	assert_int_equal(view_find(view, "lib/libcuda.so.1")->kind, VIEW_LINK);
	assert_string_equal(plan_find(&plans, gbm)->patch.runpath, "$ORIGIN:$ORIGIN/..:/m/lib");
	entry = view_find(view, "lib/gbm/nvidia_gbm.so");
	assert_int_equal(entry->kind, VIEW_FILE);
	assert_ptr_equal(entry->overlay, view_find(view, "lib/libnvidia-allocator.so.1")->overlay);
	assert_null(view_find(view, "share/x.so")->overlay);
	plan_list_clear(&plans);
	view_free(view);
	source_unref(cuda);
	source_unref(gbm);
}

static struct plan_list plan_one(const struct fixture *fixture, struct source *source)
{
	struct view *view = view_new();
	struct plan_list plans;

	view_add_file(view, "lib/libnvidia-ml.so.1", source, "host");
	plans = run(fixture, view);
	view_free(view);
	return plans;
}

/* An unchanged file is not opened again: it may be gone. */
static void test_cache(void **state)
{
	struct fixture *fixture = *state;
	struct source *source = library(fixture, "ml", "libnvidia-ml.so.1");
	struct plan_list plans[4];

	plans[0] = plan_one(fixture, source);
	assert_int_equal(unlink(source->path), 0);
	plans[1] = plan_one(fixture, source);
	assert_int_equal(plans[0].items[0].patch.kind, ELFPATCH_IN_PLACE);
	assert_ptr_equal(plans[1].items[0].patch.overlay, plans[0].items[0].patch.overlay);
	/* With another ctime, or for another RUNPATH, it is. */
	source->ctime_nsec++;
	plans[2] = plan_one(fixture, source);
	assert_int_equal(plans[2].items[0].patch.refusal, ELFPATCH_IO);
	source->ctime_nsec--;
	free(fixture->policy.runpath);
	fixture->policy.runpath = strdup("origin");
	plans[3] = plan_one(fixture, source);
	assert_int_equal(plans[3].items[0].patch.refusal, ELFPATCH_IO);
	for (size_t i = 0; i < 4; i++)
		plan_list_clear(&plans[i]);
	source_unref(source);
}

/* What cannot be read or changed is served as it is; the next run tries again. */
static void test_refused(void **state)
{
	struct fixture *fixture = *state;
	struct source *source = library(fixture, "ml", "libnvidia-ml.so.1");
	_cleanup_(freep) char *away = string_format("%s.away", source->path);
	struct plan_list plans;

	/* The rename changes the ctime. */
	assert_int_equal(rename(source->path, away), 0);
	plans = plan_one(fixture, source);
	assert_string_equal(plan_kind_name(&plans.items[0]), "none");
	assert_string_equal(plan_reason(&plans.items[0]), elfpatch_refusal_text(ELFPATCH_IO));
	plan_list_clear(&plans);
	source_unref(source);

	source = library(fixture, "again", "libnvidia-ml.so.1");
	plans = plan_one(fixture, source);
	assert_string_equal(plan_kind_name(&plans.items[0]), "in place");
	assert_null(plan_reason(&plans.items[0]));
	plan_list_clear(&plans);
	source_unref(source);

	free(fixture->policy.runpath);
	fixture->policy.runpath = strdup("none");
	source = library(fixture, "none", "libnvidia-ml.so.1");
	plans = plan_one(fixture, source);
	assert_string_equal(plan_kind_name(&plans.items[0]), "none");
	assert_string_equal(plan_reason(&plans.items[0]), "the policy says runpath = none");
	plan_list_clear(&plans);
	source_unref(source);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_places, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_cache, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_refused, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
