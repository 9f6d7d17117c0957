/* SPDX-License-Identifier: MIT */
#include "policy_keys.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "policy.h"

static const struct policy_word yes_no[] = { { "yes", 1 }, { "no", 0 }, { NULL } };
static const struct policy_word on_off[] = { { "on", 1 }, { "off", 0 }, { NULL } };
static const struct policy_word presents[] = {
	{ "auto", PRESENT_AUTO },
	{ "file", PRESENT_FILE },
	{ "symlink", PRESENT_SYMLINK },
	{ NULL },
};
static const struct policy_word machines[] = {
	{ "native", MACHINE_NATIVE },
	{ "x86_64", MACHINE_X86_64 },
	{ "i386", MACHINE_I386 },
	{ "aarch64", MACHINE_AARCH64 },
	{ "armhf", MACHINE_ARMHF },
	{ NULL },
};
static const struct policy_word modes[] = {
	{ "auto", COMPAT_AUTO },
	{ "on", COMPAT_ON },
	{ "off", COMPAT_OFF },
	{ NULL },
};
static const struct policy_word roles[] = {
	{ "compat", ROLE_COMPAT },
	{ "tegra", ROLE_TEGRA },
	{ "host", ROLE_HOST },
	{ "extra", ROLE_EXTRA },
	{ NULL },
};

static const struct policy_word discovers[] = {
	{ "l4t", DISCOVER_L4T },
	{ "ldcache", DISCOVER_LDCACHE },
	{ "auto", DISCOVER_AUTO },
	{ NULL },
};

#define GENERAL(name, field) SECTION_GENERAL, name, .offset = offsetof(struct policy, field)
#define COMPAT(name, field)  SECTION_COMPAT, name, .offset = offsetof(struct policy, field)
#define LAYER(name, field)   SECTION_LAYER, name, .offset = offsetof(struct policy_layer, field)

const struct policy_key policy_keys[POLICY_KEY_COUNT] = {
	{ SECTION_GENERAL, "version", CHECK_VERSION, .fixed = true },
	{ GENERAL("mountpoint", mountpoint), .check = CHECK_MOUNTPOINT, .store = STORE_STRING,
		.fixed = true },
	{ GENERAL("present", present), .check = CHECK_WORD, .store = STORE_INT, .words = presents },
	{ GENERAL("runpath", runpath), .check = CHECK_RUNPATH, .store = STORE_STRING },
	{ GENERAL("machine", machine), .check = CHECK_WORD, .store = STORE_INT, .words = machines },
	{ GENERAL("allow-other", allow_other), .check = CHECK_WORD, .store = STORE_INT,
		.words = yes_no, .fixed = true },
	{ GENERAL("profile", profile), .check = CHECK_NAME, .store = STORE_STRING, .fixed = true,
		.override = true },
	{ GENERAL("watch", watch), .check = CHECK_WORD, .store = STORE_BOOL, .words = yes_no,
		.fixed = true },
	{ GENERAL("driver-probe", driver_probe), .check = CHECK_WORD, .store = STORE_BOOL,
		.words = yes_no },

	{ COMPAT("mode", compat_mode), .check = CHECK_WORD, .store = STORE_INT, .words = modes,
		.override = true },
	{ COMPAT("on-unknown", compat_unknown), .check = CHECK_WORD, .store = STORE_BOOL,
		.words = on_off },

	{ LAYER("role", role), .check = CHECK_WORD, .store = STORE_INT, .words = roles },
	{ LAYER("order", order), .check = CHECK_INTEGER, .store = STORE_INT },
	{ LAYER("enabled", enabled), .check = CHECK_WORD, .store = STORE_BOOL, .words = yes_no },
	{ LAYER("optional", optional), .check = CHECK_WORD, .store = STORE_BOOL, .words = yes_no },
	{ LAYER("trust", trust), .check = CHECK_WORD, .store = STORE_BOOL, .words = yes_no },
	{ LAYER("under", under), .check = CHECK_WORD, .store = STORE_BOOL, .words = yes_no },
	{ LAYER("dir", dirs), .check = CHECK_PATH, .store = STORE_LIST },
	{ LAYER("tree", trees), .check = CHECK_PATH, .store = STORE_LIST },
	{ LAYER("include", includes), .check = CHECK_PATTERN, .store = STORE_LIST },
	{ LAYER("exclude", excludes), .check = CHECK_PATTERN, .store = STORE_LIST },
	{ LAYER("root", root), .check = CHECK_PATH, .store = STORE_VALUE },
	{ LAYER("cuda", cuda), .check = CHECK_CUDA, .store = STORE_VALUE },
	{ LAYER("discover", discover), .check = CHECK_WORD, .store = STORE_INT,
		.words = discovers },
	{ LAYER("csv", csvs), .check = CHECK_PATH, .store = STORE_LIST },
	{ LAYER("cdi", cdis), .check = CHECK_PATH, .store = STORE_LIST },
};

const struct policy_key *policy_key_find(enum policy_section section, const char *name)
{
	for (size_t i = 0; i < POLICY_KEY_COUNT; i++)
		if (policy_keys[i].section == section && strcmp(policy_keys[i].name, name) == 0)
			return &policy_keys[i];
	return NULL;
}

size_t policy_key_index(const struct policy_key *key)
{
	return (size_t)(key - policy_keys);
}

static const char *word_of(const struct policy_word *words, int number)
{
	for (; words->text; words++)
		if (words->number == number)
			return words->text;
	return NULL;
}

const char *policy_present_name(enum policy_present present)
{
	return word_of(presents, (int)present);
}

const char *policy_machine_name(enum policy_machine machine)
{
	return word_of(machines, (int)machine);
}

const char *compat_mode_name(enum compat_mode mode)
{
	return word_of(modes, (int)mode);
}

const char *layer_role_name(enum layer_role role)
{
	return word_of(roles, (int)role);
}

int compat_mode_parse(const char *text, enum compat_mode *ret_mode)
{
	for (const struct policy_word *word = modes; word->text; word++) {
		if (strcmp(word->text, text) == 0) {
			*ret_mode = (enum compat_mode)word->number;
			return 0;
		}
	}
	return -EINVAL;
}

const char *layer_discover_name(enum layer_discover discover)
{
	return word_of(discovers, (int)discover);
}

static const char *const section_names[] = { "gldriverfs", "compat", "layer", "profile" };

const char *policy_section_name(enum policy_section section)
{
	return section_names[section];
}

int policy_section_parse(const char *text, enum policy_section *ret_section, const char **ret_name)
{
	size_t word = strcspn(text, " \t");
	const char *name = text + word + strspn(text + word, " \t");

	for (size_t i = 0; i < ARRAY_SIZE(section_names); i++) {
		bool named = i == SECTION_LAYER || i == SECTION_PROFILE;

		if (strlen(section_names[i]) != word || strncmp(section_names[i], text, word) != 0)
			continue;
		if (named != (*name != '\0'))
			return -EINVAL;
		*ret_section = (enum policy_section)i;
		*ret_name = named ? name : NULL;
		return 0;
	}
	return -EINVAL;
}

/* Levenshtein's, without regard to case; SIZE_MAX for words too long to be keys. */
static size_t edit_distance(const char *a, const char *b)
{
	size_t row[33];
	size_t a_size = strlen(a), b_size = strlen(b);

	if (a_size >= ARRAY_SIZE(row) || b_size >= ARRAY_SIZE(row))
		return SIZE_MAX;
	for (size_t j = 0; j <= b_size; j++)
		row[j] = j;
	for (size_t i = 1; i <= a_size; i++) {
		size_t diagonal = row[0];

		row[0] = i;
		for (size_t j = 1; j <= b_size; j++) {
			size_t cost = strncasecmp(&a[i - 1], &b[j - 1], 1) != 0;
			size_t best = diagonal + cost;

			if (row[j] + 1 < best)
				best = row[j] + 1;
			if (row[j - 1] + 1 < best)
				best = row[j - 1] + 1;
			diagonal = row[j];
			row[j] = best;
		}
	}
	return row[b_size];
}

static size_t common_prefix(const char *a, const char *b)
{
	size_t size = 0;

	while (a[size] && a[size] == b[size])
		size++;
	return size;
}

void policy_guess_try(struct policy_guess *guess, const char *candidate)
{
	size_t distance = edit_distance(guess->word, candidate);
	size_t length = strlen(candidate);

	/* A third of the word may be wrong; of a short one, one letter. */
	if (distance > (length > 6 ? length / 3 : length > 3 ? 2 : 1))
		return;
	if (guess->best && guess->distance < distance)
		return;
	if (guess->best && guess->distance == distance &&
		common_prefix(guess->word, guess->best) >= common_prefix(guess->word, candidate))
		return;
	guess->best = candidate;
	guess->distance = distance;
}

char *policy_guess_text(const struct policy_guess *guess)
{
	return guess->best ? string_format("; did you mean '%s'?", guess->best) : strdup("");
}
