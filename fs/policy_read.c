/* SPDX-License-Identifier: MIT */
#include "policy_read.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ERRORS_MAX   20
#define PROFILES_MAX 256

struct reader {
	const struct policy_input *input;
	const struct ini_file *file;
	bool builtin;
	bool override;
	bool skip_layers;
	unsigned stage;
	struct policy_text *text;
	struct policy_errors *errors;
	/* The section that the current entry is in. */
	bool known;
	enum policy_section section;
	const char *section_name; /* the layer's or profile's */
	size_t profile;
};

void policy_error(
	struct policy_errors *errors, const char *file, unsigned line, const char *format, ...)
{
	_cleanup_(freep) char *text = NULL;
	va_list arguments;

	if (errors->count++ > ERRORS_MAX)
		return;
	if (errors->count > ERRORS_MAX) {
		diag_add(errors->diags, DIAG_ERROR, file, line,
			"there are more errors from here on");
		return;
	}
	va_start(arguments, format);
	if (vasprintf(&text, format, arguments) < 0)
		text = NULL;
	va_end(arguments);
	diag_add(errors->diags, DIAG_ERROR, file, line, "%s", text ? text : "out of memory");
}

static void settings_clear(struct policy_settings *settings)
{
	for (size_t i = 0; i < settings->count; i++)
		free(settings->items[i].layer);
	free(settings->items);
	*settings = (struct policy_settings){ 0 };
}

void policy_text_clear(struct policy_text *text)
{
	for (size_t i = 0; i < text->n_profiles; i++) {
		settings_clear(&text->profiles[i].settings);
		free(text->profiles[i].name);
	}
	free(text->profiles);
	settings_clear(&text->base);
	settings_clear(&text->override);
	*text = (struct policy_text){ 0 };
}

const struct policy_profile *policy_text_profile(const struct policy_text *text, const char *name)
{
	for (size_t i = 0; i < text->n_profiles; i++)
		if (strcmp(text->profiles[i].name, name) == 0)
			return &text->profiles[i];
	return NULL;
}

static int add_setting(struct reader *reader, struct policy_settings *settings,
	const struct policy_key *key, const char *layer, const struct ini_entry *entry)
{
	struct policy_setting setting = {
		.key = key,
		.text = entry->value,
		.file = reader->builtin ? NULL : reader->file->name,
		.line = entry->line,
		.stage = reader->stage,
	};

	if (array_grow(&settings->items, &settings->capacity, settings->count, sizeof(setting)) < 0)
		return -ENOMEM;
	if (layer) {
		setting.layer = strdup(layer);
		if (!setting.layer)
			return -ENOMEM;
	}
	settings->items[settings->count++] = setting;
	return 0;
}

static int enter_profile(struct reader *reader, const struct ini_entry *entry, const char *name)
{
	struct policy_text *text = reader->text;
	const char *problem = policy_profile_name_problem(name);
	const struct policy_profile *profile = policy_text_profile(text, name);
	struct policy_profile new = { 0 };

	if (profile) {
		reader->profile = (size_t)(profile - text->profiles);
		return 0;
	}
	reader->known = false;
	if (!problem && text->n_profiles == PROFILES_MAX)
		problem = "there are more than 256 profiles";
	if (problem) {
		policy_error(reader->errors, reader->file->name, entry->line, "[%s]: %s",
			entry->section, problem);
		return 0;
	}
	if (array_grow(&text->profiles, &text->profiles_capacity, text->n_profiles, sizeof(new)) <
		0)
		return -ENOMEM;
	new.name = strdup(name);
	if (!new.name)
		return -ENOMEM;
	text->profiles[text->n_profiles] = new;
	reader->profile = text->n_profiles++;
	reader->known = true;
	return 0;
}

static int unknown_section(struct reader *reader, const struct ini_entry *entry)
{
	size_t word = strcspn(entry->section, " \t");
	bool named = entry->section[word] != '\0';
	_cleanup_(freep) char *first = strndup(entry->section, word);
	_cleanup_(freep) char *hint = NULL;
	struct policy_guess guess = { .word = first };

	if (!first)
		return -ENOMEM;
	for (int i = SECTION_GENERAL; i <= SECTION_PROFILE; i++)
		policy_guess_try(&guess, policy_section_name((enum policy_section)i));
	hint = policy_guess_text(&guess);
	if (!hint)
		return -ENOMEM;
	if (guess.best && guess.distance == 0 && strcmp(guess.best, first) == 0)
		policy_error(reader->errors, reader->file->name, entry->line,
			named ? "[%s]: [%s] takes no name"
			      : "[%s]: a name is missing, as in [%s NAME]",
			entry->section, first);
	else
		policy_error(reader->errors, reader->file->name, entry->line,
			"unknown section [%s]%s", entry->section, hint);
	return 0;
}

static int enter_section(struct reader *reader, const struct ini_entry *entry)
{
	reader->known =
		policy_section_parse(entry->section, &reader->section, &reader->section_name) == 0;
	if (!reader->known)
		return unknown_section(reader, entry);
	if (reader->override)
		return 0;
	if (reader->section == SECTION_PROFILE)
		return enter_profile(reader, entry, reader->section_name);
	if (reader->section == SECTION_LAYER && !reader->skip_layers)
		return add_setting(reader, &reader->text->base, NULL, reader->section_name, entry);
	return 0;
}

static int unknown_key(struct reader *reader, const struct ini_entry *entry,
	enum policy_section section, const char *name)
{
	struct policy_guess guess = { .word = name };
	_cleanup_(freep) char *hint = NULL;

	for (size_t i = 0; i < POLICY_KEY_COUNT; i++) {
		const struct policy_key *key = &policy_keys[i];

		if (key->section == section) {
			policy_guess_try(&guess, key->name);
		} else if (!hint && strcmp(key->name, name) == 0) {
			hint = string_format("; it belongs to [%s%s]",
				policy_section_name(key->section),
				key->section == SECTION_LAYER ? " …" : "");
			if (!hint)
				return -ENOMEM;
		}
	}
	if (!hint)
		hint = policy_guess_text(&guess);
	if (!hint)
		return -ENOMEM;
	policy_error(reader->errors, reader->file->name, entry->line, "unknown key '%s' in [%s]%s",
		entry->key, entry->section, hint);
	return 0;
}

static int bare_profile_key(struct reader *reader, const struct ini_entry *entry)
{
	const char *section = "compat", *name = "mode";

	for (size_t i = 0; i < POLICY_KEY_COUNT; i++) {
		if (strcmp(policy_keys[i].name, entry->key) == 0) {
			section = policy_section_name(policy_keys[i].section);
			name = policy_keys[i].name;
		}
	}
	policy_error(reader->errors, reader->file->name, entry->line,
		"'%s' in [%s] is not of the form section.key, as %s%s.%s", entry->key,
		entry->section, section, strcmp(section, "layer") == 0 ? " NAME" : "", name);
	return 0;
}

/* `section.key = value`; a layer's name may have dots, a key has none. */
static int read_profile_key(struct reader *reader, const struct ini_entry *entry)
{
	struct policy_settings *settings = &reader->text->profiles[reader->profile].settings;
	const char *dot = strrchr(entry->key, '.');
	_cleanup_(freep) char *left = dot ? strndup(entry->key, (size_t)(dot - entry->key)) : NULL;
	enum policy_section section;
	const struct policy_key *key;
	const char *layer;

	if (!dot)
		return bare_profile_key(reader, entry);
	if (!left)
		return -ENOMEM;
	if (policy_section_parse(left, &section, &layer) < 0 || section == SECTION_PROFILE) {
		policy_error(reader->errors, reader->file->name, entry->line,
			"'%s' in [%s]: there is no section [%s] that a profile could change",
			entry->key, entry->section, left);
		return 0;
	}
	key = policy_key_find(section, dot + 1);
	if (!key)
		return unknown_key(reader, entry, section, dot + 1);
	if (key->fixed) {
		policy_error(reader->errors, reader->file->name, entry->line,
			"%s: a profile cannot change it", entry->key);
		return 0;
	}
	return add_setting(reader, settings, key, layer, entry);
}

static int read_key(struct reader *reader, const struct ini_entry *entry)
{
	const struct policy_key *key;

	if (reader->section == SECTION_PROFILE && !reader->override)
		return read_profile_key(reader, entry);
	if (reader->section == SECTION_LAYER && reader->skip_layers)
		return 0;
	key = policy_key_find(reader->section, entry->key);
	if (reader->override && (!key || !key->override)) {
		policy_error(reader->errors, reader->file->name, entry->line,
			"'%s' in [%s]: the runtime override has only compat.mode and "
			"gldriverfs.profile",
			entry->key, entry->section);
		return 0;
	}
	if (!key)
		return unknown_key(reader, entry, reader->section, entry->key);
	/* A user's mount is not where the machine's policy puts the system's. */
	if (key->check == CHECK_MOUNTPOINT && reader->input->user && reader->file->system)
		return 0;
	return add_setting(reader, reader->override ? &reader->text->override : &reader->text->base,
		key, reader->section_name, entry);
}

/* A file of a newer format is refused for that alone, not for the keys that are new in it. */
static bool is_newer_format(struct reader *reader)
{
	for (size_t i = 0; i < reader->file->count; i++) {
		const struct ini_entry *entry = &reader->file->entries[i];

		if (!entry->key || strcmp(entry->section, "gldriverfs") != 0 ||
			strcmp(entry->key, "version") != 0 ||
			!policy_version_is_newer(entry->value))
			continue;
		policy_error(reader->errors, reader->file->name, entry->line,
			"version %s of the policy format is newer than this gldriverfs (%s) knows",
			entry->value, GLDRIVERFS_VERSION);
		return true;
	}
	return false;
}

static int read_file(struct reader *reader, const struct ini_file *file)
{
	reader->file = file;
	reader->stage++;
	reader->known = false;
	if (is_newer_format(reader))
		return 0;
	for (size_t i = 0; i < file->count; i++) {
		const struct ini_entry *entry = &file->entries[i];
		int r = 0;

		if (!entry->key)
			r = enter_section(reader, entry);
		else if (reader->known)
			r = read_key(reader, entry);
		if (r < 0)
			return r;
	}
	return 0;
}

static bool has_layers(const struct policy_input *input)
{
	enum policy_section section;
	const char *name;

	for (size_t i = 0; i < input->n_files; i++)
		for (size_t j = 0; j < input->files[i]->count; j++)
			if (policy_section_parse(
				    input->files[i]->entries[j].section, &section, &name) == 0 &&
				section == SECTION_LAYER)
				return true;
	return false;
}

int policy_read(const struct policy_input *input, const struct ini_file *builtin,
	struct policy_text *ret_text, struct policy_errors *errors)
{
	_cleanup_(policy_text_clear) struct policy_text text = { 0 };
	struct reader reader = { .input = input, .text = &text, .errors = errors };
	int r;

	reader.builtin = true;
	reader.skip_layers = has_layers(input);
	r = read_file(&reader, builtin);
	reader.builtin = reader.skip_layers = false;
	for (size_t i = 0; i < input->n_files && r == 0; i++)
		r = read_file(&reader, input->files[i]);
	reader.override = true;
	if (input->override && r == 0)
		r = read_file(&reader, input->override);
	if (r < 0)
		return r;
	*ret_text = text;
	text = (struct policy_text){ 0 };
	return 0;
}
