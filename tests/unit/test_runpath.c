/* SPDX-License-Identifier: MIT */
#include "../compat/cmocka.h"

#include "fake.h"
#include "runpath.h"

static const struct {
	const char *what, *policy, *mountpoint, *host, *runpath, *set;
	unsigned depth;
	const char *wanted; /* NULL: `why` is not */
	const char *why;    /* a part of it */
} cases[] = {
	{ "in lib/", "pin", "/m", "/h/a.so", NULL, NULL, 0, "$ORIGIN:/m/lib", NULL },
	{ "an empty RUNPATH", "pin", "/m", "/h/a.so", "", NULL, 0, "$ORIGIN:/m/lib", NULL },
	{ "a plug-in", "pin", "/m", "/h/a.so", NULL, NULL, 1, "$ORIGIN:$ORIGIN/..:/m/lib", NULL },
	{ "deeper", "pin", "/m", "/h/a.so", NULL, NULL, 2, "$ORIGIN:$ORIGIN/../..:/m/lib", NULL },
	{ "its own RUNPATH", "pin", "/m", "/h/a.so", "/x", NULL, 0, NULL, "RUNPATH of its own" },
	{ "in a store", "pin", "/m", "/nix/store/a.so", NULL, NULL, 0, NULL, "Nix store" },
	{ "of a set", "pin", "/m", "/h/a.so", NULL, "0123abcd", 0,
		"$ORIGIN/../.gldriverfs/set/0123abcd/lib:/m/.gldriverfs/set/0123abcd/lib", NULL },
	{ "of a set, in a store, with its own", "pin", "/m", "/nix/store/a.so", "/x", "0123abcd", 0,
		"$ORIGIN/../.gldriverfs/set/0123abcd/lib:/m/.gldriverfs/set/0123abcd/lib", NULL },
	{ "no mountpoint", "pin", NULL, "/h/a.so", NULL, NULL, 0, "$ORIGIN", NULL },
	{ "a set without mountpoint", "pin", NULL, "/h/a.so", NULL, "0123abcd", 0,
		"$ORIGIN/../.gldriverfs/set/0123abcd/lib", NULL },
	{ "a mountpoint with ':'", "pin", "/m:n", "/h/a.so", NULL, NULL, 0, "$ORIGIN", NULL },
	{ "a mountpoint with '$'", "pin", "/$LIB", "/h/a.so", NULL, NULL, 1, "$ORIGIN:$ORIGIN/..",
		NULL },
	{ "origin", "origin", "/m", "/h/a.so", NULL, NULL, 1, "$ORIGIN", NULL },
	{ "origin, of a set", "origin", "/m", "/h/a.so", "/x", "0123abcd", 0, "$ORIGIN", NULL },
	{ "origin, its own", "origin", "/m", "/h/a.so", "/x", NULL, 0, NULL, "of its own" },
	{ "a literal", "/x:$ORIGIN", "/m", "/h/a.so", NULL, NULL, 0, "/x:$ORIGIN", NULL },
	{ "none", "none", "/m", "/h/a.so", NULL, "0123abcd", 0, NULL, "runpath = none" },
};

static void test_wanted(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct policy policy = { .runpath = strdup(cases[i].policy) };
		const struct runpath_place place = { cases[i].set, cases[i].depth };
		struct source *source = fake_source(cases[i].host);
		_cleanup_(freep) char *wanted = NULL;
		const char *why;

		source->elf.runpath = cases[i].runpath ? strdup(cases[i].runpath) : NULL;
		assert_int_equal(
			runpath_wanted(&policy, cases[i].mountpoint, source, &place, &wanted, &why),
			0);
		if (!string_equal(wanted, cases[i].wanted))
			fail_msg("%s: %s", cases[i].what, wanted ? wanted : "nothing");
		if (!cases[i].why)
			assert_null(why);
		else if (!why || !strstr(why, cases[i].why))
			fail_msg("%s: because %s", cases[i].what, why ? why : "?");
		source_unref(source);
		free(policy.runpath);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_wanted) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
