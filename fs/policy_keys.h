/* SPDX-License-Identifier: MIT */
/* policy_keys: the table of all keys that a policy may have, how their values are checked and where
 * they go; and the guesses at what a misspelt word was meant to be. Core, of `policy` only. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "util.h"

enum policy_section { SECTION_GENERAL, SECTION_COMPAT, SECTION_LAYER, SECTION_PROFILE };

enum policy_check {
	CHECK_WORD,       /* one of `words` */
	CHECK_INTEGER,    /* -1000000 … 1000000 */
	CHECK_VERSION,    /* of the policy format */
	CHECK_PATH,       /* absolute */
	CHECK_MOUNTPOINT, /* absolute, gets normalised */
	CHECK_PATTERN,    /* of a file name */
	CHECK_CUDA,       /* MAJOR.MINOR */
	CHECK_NAME,       /* of a profile */
	CHECK_RUNPATH,    /* pin, origin, none, or directories with ":" between them */
};

/* What stands at `offset` of struct policy (SECTION_LAYER: struct policy_layer). */
enum policy_store {
	STORE_NOTHING,
	STORE_BOOL,
	STORE_INT, /* or an enum */
	STORE_STRING,
	STORE_VALUE, /* struct policy_value */
	STORE_LIST,  /* struct policy_list: the key may be repeated */
};

struct policy_word {
	const char *text;
	int number;
};

#define MACHINE_NATIVE (-1)

struct policy_key {
	enum policy_section section;
	const char *name;
	enum policy_check check;
	enum policy_store store;
	size_t offset;
	const struct policy_word *words; /* CHECK_WORD; ends with a NULL text */
	bool fixed;                      /* of the instance: no profile may change it */
	bool override;                   /* the runtime override may set it */
};

#define POLICY_KEY_COUNT 26
/* Grouped by section. */
extern const struct policy_key policy_keys[POLICY_KEY_COUNT];

/* The key of that section and name, or NULL. */
const struct policy_key *policy_key_find(enum policy_section section, const char *name);
/* Its place in policy_keys. */
size_t policy_key_index(const struct policy_key *key);

/* A value that passed its check: the number of a word or an integer, or the text to be stored. */
struct policy_parsed {
	int number;
	char *text; /* owned */
};
/* Checks a value. Returns 0, -EINVAL with *ret_why (owned; what is wrong with it), or -ENOMEM. */
int policy_value_parse(const struct policy_key *key, const char *text,
	struct policy_parsed *ret_parsed, char **ret_why);
/* Whether the text is a version of the policy format that this program does not know yet. */
bool policy_version_is_newer(const char *text);
/* What is wrong with a profile's name (a constant), or NULL. */
const char *policy_profile_name_problem(const char *name);

/* "gldriverfs", "compat", "layer", "profile". */
const char *policy_section_name(enum policy_section section);
/* Splits "layer host" into the section and its name (a pointer into text, NULL: none). Returns 0 or
 * -EINVAL: there is no such section, or it has a name where it must not, or none where it must. */
int policy_section_parse(const char *text, enum policy_section *ret_section, const char **ret_name);

/* A guess at the word that was meant: the candidate with the fewest edits, if they are few. */
struct policy_guess {
	const char *word;
	const char *best;
	size_t distance;
};
void policy_guess_try(struct policy_guess *guess, const char *candidate);
/* "; did you mean 'x'?" or "" (owned), NULL without memory. */
char *policy_guess_text(const struct policy_guess *guess);
