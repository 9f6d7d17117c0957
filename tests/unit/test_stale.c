/* SPDX-License-Identifier: MIT */
#include "../compat/cmocka.h"

#include <stdio.h>
#include <time.h>

#include "stale.h"
#include "util.h"

static enum stale_answer ask(struct stale *stale, pid_t thread, const char *name)
{
	uint32_t ino = 0;
	enum stale_answer answer = stale_ask(stale, thread, 0, 2, name, false, &ino);

	if (answer == STALE_SERVE)
		assert_int_equal(ino, 40);
	return answer;
}

static void test_answers(void **state)
{
	struct stale *stale = stale_new(NULL);

	(void)state;
	assert_int_equal(ask(stale, 1, "a"), STALE_ABSENT);
	stale_note(stale, 2, "a", 40);
	stale_note(stale, 2, "b", 40);
	stale_note(stale, 2, "c", 40);
	assert_int_equal(ask(stale, 0, "a"), STALE_ABSENT_NOW);
	assert_int_equal(ask(stale, 1, "a"), STALE_AGAIN);
	assert_int_equal(ask(stale, 2, "a"), STALE_AGAIN);
	assert_int_equal(ask(stale, 1, "a"), STALE_ABSENT_NOW);
	/* A directory of the path went as well: no link was on the way. */
	assert_int_equal(ask(stale, 2, "b"), STALE_ABSENT_NOW);
	/* A walk that came to another end is over. */
	assert_int_equal(ask(stale, 2, "b"), STALE_AGAIN);
	assert_int_equal(ask(stale, 2, "never"), STALE_ABSENT);
	assert_int_equal(ask(stale, 2, "b"), STALE_AGAIN);
	stale_followed(stale, 2);
	assert_int_equal(ask(stale, 2, "b"), STALE_SERVE);
	assert_int_equal(ask(stale, 2, "c"), STALE_AGAIN);
	stale_arrived(stale, 2);
	assert_int_equal(ask(stale, 2, "c"), STALE_AGAIN);
	stale_arrived(stale, 99);
	/* Sent on by a link to the same name, which went again meanwhile. */
	stale_followed(stale, 2);
	assert_int_equal(ask(stale, 2, "c"), STALE_SERVE);
	stale_free(stale);
}

/* The kernel asks twice in one walk for a name that it was given but may not trust. */
static void test_served(void **state)
{
	struct stale *stale = stale_new(NULL);
	const struct timespec while_recent = { .tv_sec = 1, .tv_nsec = 50000000 };

	(void)state;
	stale_note(stale, 2, "a", 40);
	assert_int_equal(ask(stale, 1, "a"), STALE_AGAIN);
	stale_followed(stale, 1);
	assert_int_equal(ask(stale, 3, "a"), STALE_AGAIN);
	assert_int_equal(ask(stale, 1, "a"), STALE_SERVE);
	assert_int_equal(ask(stale, 2, "a"), STALE_SERVE);
	assert_int_equal(ask(stale, 2, "a"), STALE_SERVE);
	assert_int_equal(ask(stale, 3, "a"), STALE_SERVE);
	nanosleep(&while_recent, NULL);
	assert_int_equal(ask(stale, 2, "a"), STALE_AGAIN);
	assert_int_equal(ask(stale, 2, "a"), STALE_ABSENT);
	/* It came back and went again. */
	stale_note(stale, 2, "a", 40);
	assert_int_equal(ask(stale, 2, "a"), STALE_AGAIN);
	assert_int_equal(ask(stale, 2, "a"), STALE_ABSENT_NOW);
	stale_free(stale);
}

/* Too many threads at once get a plain answer, never a second ESTALE. */
static void test_full(void **state)
{
	struct stale *stale = stale_new(NULL);
	int again = 0;

	(void)state;
	stale_note(stale, 2, "a", 40);
	for (pid_t thread = 1; thread <= 1000; thread++)
		again += ask(stale, thread, "a") == STALE_AGAIN;
	assert_true(again >= 16 && again < 1000);
	for (pid_t thread = 1; thread <= 1000; thread++)
		if (thread <= again)
			assert_int_equal(ask(stale, thread, "a"), STALE_ABSENT_NOW);
	stale_free(stale);
}

/* The ring keeps the latest names. */
static void test_ring(void **state)
{
	struct stale *stale = stale_new(NULL);
	char name[16];

	(void)state;
	for (int i = 0; i < 5000; i++) {
		snprintf(name, sizeof(name), "n%d", i);
		stale_note(stale, 2, name, 40);
	}
	assert_int_equal(ask(stale, 1, "n4999"), STALE_AGAIN);
	assert_int_equal(ask(stale, 2, "n4500"), STALE_AGAIN);
	assert_int_equal(ask(stale, 3, "n0"), STALE_ABSENT);
	stale_free(stale);
}

/* A successor knows who is between two walks. */
static void test_successor(void **state)
{
	static _Alignas(8) unsigned char memory[STALE_MEMORY];
	struct stale *stale = stale_new(memory);
	uint32_t ino;

	(void)state;
	stale_note(stale, 2, "a", 40);
	stale_note(stale, 2, "b", 40);
	assert_int_equal(ask(stale, 1, "a"), STALE_AGAIN);
	assert_int_equal(ask(stale, 2, "b"), STALE_AGAIN);
	stale_free(stale);
	stale = stale_new(memory);
	assert_int_equal(ask(stale, 1, "a"), STALE_ABSENT_NOW);
	stale_followed(stale, 2);
	stale_free(stale);
	stale = stale_new(memory);
	assert_int_equal(ask(stale, 2, "b"), STALE_SERVE);
	assert_int_equal(ask(stale, 3, "b"), STALE_SERVE);
	assert_int_equal(ask(stale, 3, "a"), STALE_AGAIN);
	/* The answer did not reach the kernel: the same request once more, then the second walk. */
	stale_arrived(stale, 3);
	assert_int_equal(stale_ask(stale, 3, 88, 2, "a", false, &ino), STALE_AGAIN);
	stale_free(stale);
	stale = stale_new(memory);
	assert_int_equal(stale_ask(stale, 3, 88, 2, "a", false, &ino), STALE_AGAIN);
	stale_followed(stale, 3);
	assert_int_equal(stale_ask(stale, 3, 90, 2, "a", false, &ino), STALE_SERVE);
	stale_free(stale);
	stale = stale_new(memory);
	ino = 0;
	assert_int_equal(stale_ask(stale, 3, 90, 2, "a", false, &ino), STALE_SERVE);
	assert_int_equal(ino, 40);
	stale_free(stale);
}

/* A name that the kernel knows is asked for twice in one walk: both times it is sent back. */
static void test_known(void **state)
{
	static const struct {
		bool known, restarts, follows;
		enum stale_answer second, third;
	} cases[] = {
		{ true, false, false, STALE_AGAIN, STALE_ABSENT_NOW },
		{ true, true, false, STALE_ABSENT_NOW, STALE_AGAIN },
		{ true, true, true, STALE_SERVE, STALE_SERVE },
		{ false, false, false, STALE_ABSENT_NOW, STALE_AGAIN },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct stale *stale = stale_new(NULL);
		uint32_t ino;

		stale_note(stale, 2, "a", 40);
		assert_int_equal(stale_ino(stale, 2, "a"), 40);
		assert_int_equal(stale_ino(stale, 3, "a"), 0);
		assert_int_equal(stale_ask(stale, 7, 0, 2, "a", cases[i].known, &ino), STALE_AGAIN);
		if (cases[i].restarts)
			stale_restarted(stale, 7);
		if (cases[i].follows)
			stale_followed(stale, 7);
		/* It may be forgotten meanwhile. */
		assert_int_equal(stale_ask(stale, 7, 0, 2, "a", false, &ino), cases[i].second);
		assert_int_equal(stale_ask(stale, 7, 0, 2, "a", false, &ino), cases[i].third);
		stale_free(stale);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_known),
		cmocka_unit_test(test_answers),
		cmocka_unit_test(test_served),
		cmocka_unit_test(test_full),
		cmocka_unit_test(test_ring),
		cmocka_unit_test(test_successor),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
