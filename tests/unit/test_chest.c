/* SPDX-License-Identifier: MIT */
#include "chest_fixture.h"

/* Files 1 … count, put in `slice` at a time, compacted and looked at twice. */
static void test_compact(void **state)
{
	static const struct {
		size_t count;
		size_t slice;
		unsigned drop;
	} rows[] = {
		{ 0, 1, 0 },
		{ 1, 1, 0 },
		{ 1, 1, 1 },
		{ 207, 1, 0 },
		{ 208, 1, 0 },
		{ 209, 1, 3 },
		{ 700, 7, 2 },
		{ 700, 208, 0 },
		{ 700, 208, 1 },
		{ 700, 208, 699 },
		{ 2000, 33, 5 },
	};

	(void)state;
	for (size_t row = 0; row < ARRAY_SIZE(rows); row++) {
		size_t before = count_open(), kept = 0;
		unsigned drop = rows[row].drop;
		struct chest chest;

		assert_int_equal(chest_new(&chest), 0);
		for (size_t i = 0; i < rows[row].count; i += rows[row].slice)
			put_all(&chest, i + 1,
				rows[row].slice < rows[row].count - i ? rows[row].slice
								      : rows[row].count - i);
		assert_int_equal(look(&chest)->count, rows[row].count);
		for (int round = 0; round < 2; round++) {
			const struct seen *seen;

			assert_int_equal(chest_compact(&chest, keep, &drop), 0);
			seen = look(&chest);
			kept = 0;
			for (size_t i = 1; i <= rows[row].count; i++) {
				assert_int_equal(seen->times[i], keep(&drop, i));
				kept += keep(&drop, i);
			}
			assert_int_equal(seen->count, kept);
			assert_int_equal(count_messages(&chest), (kept + MESSAGE - 1) / MESSAGE);
		}
		chest_clear(&chest);
		assert_int_equal(chest.in, -1);
		assert_int_equal(count_open(), before);
	}
}

static void take_ids(void *context, uint64_t id, int fd)
{
	uint64_t content = 0;

	if (id == 7)
		assert_int_equal(pread(fd, &content, sizeof(content), 0), sizeof(content));
	*(uint64_t *)context = *(uint64_t *)context * 1000 + content;
	close(fd);
}

/* Of two under one number compaction leaves the later one. */
static void test_replaced(void **state)
{
	unsigned drop = 0;
	struct chest chest;
	uint64_t contents = 0;

	(void)state;
	assert_int_equal(chest_new(&chest), 0);
	for (uint64_t content = 100; content <= 300; content += 100) {
		struct chest_item item = { .id = 7, .fd = make_file(content) };
		size_t done;

		assert_int_equal(chest_put(&chest, &item, 1, &done), 0);
		close(item.fd);
	}
	assert_int_equal(chest_look(&chest, take_ids, &contents), 0);
	assert_int_equal(contents, 100200300);
	contents = 0;
	assert_int_equal(chest_compact(&chest, keep, &drop), 0);
	assert_int_equal(chest_look(&chest, take_ids, &contents), 0);
	assert_int_equal(contents, 300);
	chest_clear(&chest);
}

/* However full it is, compaction has what it needs; twice as many fit when messages are full. */
static void test_full(void **state)
{
	static const size_t slices[] = { 1, 13, 89, 208 };
	const int room = 64 * 1024; /* the kernel doubles it */

	(void)state;
	for (size_t row = 0; row < ARRAY_SIZE(slices); row++) {
		size_t total = 0, compactions = 0, done, first;
		unsigned drop = 0;
		struct chest chest;

		assert_int_equal(chest_new(&chest), 0);
		assert_return_code(
			setsockopt(chest.in, SOL_SOCKET, SO_SNDBUF, &room, sizeof(room)), errno);
		do {
			int error;

			first = total;
			while ((error = put(&chest, total + 1, slices[row], &done)) == 0)
				total += done;
			assert_int_equal(error, -EAGAIN);
			total += done;
			assert_int_equal(chest_compact(&chest, keep, &drop), 0);
			assert_int_equal(look(&chest)->count, total);
			compactions++;
		} while (total > first + 20);
		assert_true(total > 6000);
		assert_true(compactions > 1 || slices[row] == MESSAGE);
		drop = 2;
		assert_int_equal(chest_compact(&chest, keep, &drop), 0);
		assert_int_equal(look(&chest)->count, total - total / 2);
		put_all(&chest, total + 1, 3000);
		chest_clear(&chest);
	}
}

/* Looking stays quick however small the messages were. */
static void test_small(void **state)
{
	struct chest chest;

	(void)state;
	assert_int_equal(chest_new(&chest), 0);
	for (size_t i = 0; i < 3000; i++) {
		put_all(&chest, i + 1, 1);
		if (i % 1000 == 999)
			chest.partial = 0; /* another process, which looks first */
		if (i % 1000 == 999)
			assert_int_equal(look(&chest)->count, i + 1);
		assert_true(count_messages(&chest) <= 512 + i / MESSAGE);
	}
	chest_clear(&chest);
}

static void test_many(void **state)
{
	enum { MANY = 20000 };
	const struct seen *seen;
	size_t before = count_open();
	unsigned drop = 3;
	struct chest chest;

	(void)state;
	if (geteuid() != 0)
		skip(); /* more than the user may have under way */
	assert_int_equal(chest_new(&chest), 0);
	put_all(&chest, 1, MANY);
	for (int round = 0; round < 2; round++) {
		seen = look(&chest);
		for (size_t i = 1; i <= MANY; i++)
			assert_int_equal(seen->times[i], round == 0 || keep(&drop, i));
		assert_int_equal(chest_compact(&chest, keep, &drop), 0);
		assert_int_equal(count_open(), before + 2);
	}
	chest_clear(&chest);
	assert_int_equal(count_open(), before);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_compact),
		cmocka_unit_test(test_replaced),
		cmocka_unit_test(test_full),
		cmocka_unit_test(test_small),
		cmocka_unit_test(test_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
