/* SPDX-License-Identifier: MIT */
#include "../compat/cmocka.h"

#include <errno.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include "../proto/world.h"
#include "chest.h"
#include "fdpool.h"
#include "in_child.h"
#include "state.h"

#define LIMIT   4
#define SOURCES 10

static struct fdpool_counts counts_of(struct fdpool *pool)
{
	struct fdpool_counts counts;

	fdpool_count(pool, &counts);
	return counts;
}

static void expect_bytes(struct fdpool *pool, struct source *source, const char *expected)
{
	int fd = fdpool_acquire(pool, source);
	char bytes[32] = { 0 };

	assert_true(fd >= 0);
	assert_true(pread(fd, bytes, sizeof(bytes) - 1, 0) >= 0);
	assert_string_equal(bytes, expected);
	fdpool_release(pool, source, fd);
}

/* More files than descriptors: all are readable, the bound holds, the seen ones stay. */
static void test_bound(void **state)
{
	char *directory = world_directory();
	struct fdpool *pool = fdpool_new(LIMIT);
	struct source *sources[SOURCES];
	char name[16];

	(void)state;
	for (int i = 0; i < SOURCES; i++) {
		snprintf(name, sizeof(name), "file%d", i);
		sources[i] = world_source(directory, name, name, pool);
		if (i < 2)
			fdpool_reveal(pool, sources[i], true);
		assert_true(counts_of(pool).held <= LIMIT);
	}
	assert_int_equal(counts_of(pool).held, LIMIT);
	assert_int_equal(counts_of(pool).unpinned, 0); /* the two that are revealed were kept */
	for (int round = 0; round < 2; round++)
		for (int i = 0; i < SOURCES; i++) {
			snprintf(name, sizeof(name), "file%d", i);
			expect_bytes(pool, sources[i], name);
			assert_true(counts_of(pool).held <= LIMIT);
		}
	for (int i = 0; i < SOURCES; i++)
		fdpool_reveal(pool, sources[i], true);
	assert_int_equal(counts_of(pool).unpinned, SOURCES - LIMIT);
	for (int i = 0; i < SOURCES; i++)
		source_unref(sources[i]);
	assert_int_equal(counts_of(pool).held, 0);
	assert_int_equal(counts_of(pool).unpinned, 0);
	fdpool_free(pool);
	world_remove(directory);
}

/* A file without a descriptor that has another content now is not read. */
static void test_stale(void **state)
{
	char *directory = world_directory();
	struct fdpool *pool = fdpool_new(LIMIT);
	struct source *old = world_source(directory, "file", "old", NULL);
	struct source *new = world_source(directory, "file", "newer", pool);

	(void)state;
	assert_int_equal(fdpool_acquire(pool, old), -ESTALE);
	expect_bytes(pool, new, "newer");
	source_unref(old);
	source_unref(new);
	old = world_source(directory, "gone", "x", NULL);
	{
		_cleanup_(freep) char *path = string_format("%s/gone", directory);

		assert_int_equal(unlink(path), 0);
	}
	assert_int_equal(fdpool_acquire(pool, old), -ESTALE);
	source_unref(old);
	fdpool_free(pool);
	world_remove(directory);
}

/* In use, a descriptor is not taken away. */
static void test_in_use(void **state)
{
	char *directory = world_directory();
	struct fdpool *pool = fdpool_new(1);
	struct source *first = world_source(directory, "first", "first", pool);
	struct source *second = world_source(directory, "second", "second", pool);
	int fd = fdpool_acquire(pool, first);
	char bytes[8] = { 0 };

	(void)state;
	assert_true(fd >= 0);
	expect_bytes(pool, second, "second");
	assert_int_equal(pread(fd, bytes, 5, 0), 5);
	assert_string_equal(bytes, "first");
	fdpool_release(pool, first, fd);
	assert_int_equal(counts_of(pool).held, 1);
	source_unref(first);
	source_unref(second);
	fdpool_free(pool);
	world_remove(directory);
}

/* A lookup reveals, and must not allocate: of what was never offered nothing is noted. */
static void test_reveal(void **state)
{
	char *directory = world_directory();
	struct fdpool *pool = fdpool_new(LIMIT);
	struct source *source = world_source(directory, "file", "file", NULL);

	(void)state;
	fdpool_reveal(pool, source, true);
	assert_null(source->pin);
	expect_bytes(pool, source, "file");
	fdpool_reveal(pool, source, false);
	source_unref(source);
	assert_int_equal(counts_of(pool).held, 0);
	fdpool_free(pool);
	world_remove(directory);
}

static void test_raise_limit(void **state)
{
	struct rlimit limit;
	size_t room = fdpool_raise_limit();

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	assert_int_equal(limit.rlim_cur, limit.rlim_max);
	assert_true(room >= 8 && room < limit.rlim_max);
}

enum { BATCH = 20 };

static void make_batch(const char *directory, char kind, struct fdpool *pool, struct source **ret)
{
	char name[16];

	for (int i = 0; i < BATCH; i++) {
		snprintf(name, sizeof(name), "%c%d", kind, i);
		ret[i] = world_source(directory, name, name, pool);
	}
}

/* What is kept of files that have gone makes room where the user may have few under way. */
static void few_under_way(const void *context)
{
	struct source *first[BATCH], *second[BATCH];
	struct rlimit limit = { 256, 256 };
	struct fdpool *pool = fdpool_new(1000);
	atomic_ullong last = CHEST_FIRST_PIN;
	struct chest_item item;
	struct chest chest;
	size_t put;
	int error;

	make_batch(context, 'a', pool, first);
	make_batch(context, 'b', pool, second);
	if (geteuid() == 0)
		CHECK(setresuid(54322, 54322, 54322) == 0); /* nobody else is that one */
	CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
	CHECK(chest_new(&chest) == 0);
	CHECK(fdpool_keep(pool, &chest, &last, first, BATCH) == 0);
	item.fd = fdpool_acquire(pool, first[0]);
	do
		item.id = atomic_fetch_add(&last, 1) + 1;
	while ((error = chest_put(&chest, &item, 1, &put)) == 0);
	CHECK(error == -ETOOMANYREFS);
	CHECK(fdpool_keep(pool, &chest, &last, second, BATCH) == 0);
}

static void test_few_under_way(void **state)
{
	char *directory = world_directory();

	(void)state;
	in_child(few_under_way, directory);
	world_remove(directory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bound),
		cmocka_unit_test(test_stale),
		cmocka_unit_test(test_in_use),
		cmocka_unit_test(test_reveal),
		cmocka_unit_test(test_raise_limit),
		cmocka_unit_test(test_few_under_way),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
