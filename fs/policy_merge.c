/* SPDX-License-Identifier: MIT */
#include "policy_merge.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define LAYERS_MAX 256

static const int default_orders[] = {
	[ROLE_COMPAT] = 10, [ROLE_TEGRA] = 20, [ROLE_HOST] = 30, [ROLE_EXTRA] = 40
};

int policy_merge_init(struct policy_merge *merge, struct policy_errors *errors)
{
	_cleanup_(policy_freep) struct policy *policy = calloc(1, sizeof(*policy));

	if (!policy)
		return -ENOMEM;
	policy->machine = policy_machine_native();
	policy->allow_other = -1;
	policy->watch = true;
	policy->runpath = strdup("pin");
	if (!policy->runpath)
		return -ENOMEM;
	*merge = (struct policy_merge){ .policy = steal_pointer(policy), .errors = errors };
	return 0;
}

void policy_merge_clear(struct policy_merge *merge)
{
	for (size_t i = 0; i < merge->n_layers; i++) {
		policy_layer_clear(&merge->layers[i]->layer);
		free(merge->layers[i]);
	}
	free(merge->layers);
	policy_free(merge->policy);
	*merge = (struct policy_merge){ 0 };
}

static struct policy_merge_layer *layer_find(const struct policy_merge *merge, const char *name)
{
	for (size_t i = 0; i < merge->n_layers; i++)
		if (strcmp(merge->layers[i]->layer.name, name) == 0)
			return merge->layers[i];
	return NULL;
}

static int layer_unknown(struct policy_merge *merge, const struct policy_setting *setting)
{
	struct policy_guess guess = { .word = setting->layer };
	_cleanup_(freep) char *hint = NULL;

	for (size_t i = 0; i < merge->known->n_layers; i++)
		policy_guess_try(&guess, merge->known->layers[i]->layer.name);
	hint = policy_guess_text(&guess);
	if (!hint)
		return -ENOMEM;
	policy_error(merge->errors, setting->file, setting->line, "there is no [layer %s]%s",
		setting->layer, hint);
	return 0;
}

/* The setting's layer, a new one if need be; *ret_layer is NULL where that was an error. */
static int layer_get(struct policy_merge *merge, const struct policy_setting *setting,
	struct policy_merge_layer **ret_layer)
{
	struct policy_merge_layer *found = layer_find(merge, setting->layer);
	_cleanup_(freep) struct policy_merge_layer *layer = NULL;

	*ret_layer = found;
	if (found)
		return 0;
	if (merge->known && !layer_find(merge->known, setting->layer))
		return layer_unknown(merge, setting);
	if (merge->n_layers == LAYERS_MAX) {
		policy_error(merge->errors, setting->file, setting->line,
			"[layer %s]: there are more than %d layers", setting->layer, LAYERS_MAX);
		return 0;
	}
	if (array_grow(&merge->layers, &merge->layers_capacity, merge->n_layers,
		    sizeof(struct policy_merge_layer *)) < 0)
		return -ENOMEM;
	layer = calloc(1, sizeof(*layer));
	if (!layer)
		return -ENOMEM;
	layer->layer.name = strdup(setting->layer);
	if (!layer->layer.name)
		return -ENOMEM;
	layer->layer.enabled = true;
	*ret_layer = merge->layers[merge->n_layers++] = steal_pointer(layer);
	return 0;
}

/* A layer's section header. */
static int enter_layer(struct policy_layer *layer, const struct policy_setting *setting)
{
	free(layer->file);
	layer->line = setting->line;
	layer->file = setting->file ? strdup(setting->file) : NULL;
	if (!setting->file)
		layer->line = 0;
	return setting->file && !layer->file ? -ENOMEM : 0;
}

static int store(const struct policy_setting *setting, struct policy_parsed *parsed, void *target,
	bool new_stage)
{
	switch (setting->key->store) {
	case STORE_NOTHING:
		return 0;
	case STORE_BOOL:
		*(bool *)target = parsed->number;
		return 0;
	case STORE_INT:
		if (setting->key->check == CHECK_WORD && parsed->number == MACHINE_NATIVE)
			parsed->number = (int)policy_machine_native();
		memcpy(target, &parsed->number, sizeof(int));
		return 0;
	case STORE_STRING:
		free(*(char **)target);
		*(char **)target = steal_pointer(parsed->text);
		return 0;
	case STORE_VALUE:
		return policy_value_set(target, parsed->text, setting->file, setting->line);
	case STORE_LIST:
		if (new_stage)
			policy_list_clear(target);
		return policy_list_add(target, parsed->text, setting->file, setting->line);
	}
	return 0;
}

static int apply_one(
	struct policy_merge *merge, const struct policy_setting *setting, unsigned stage)
{
	const struct policy_key *key = setting->key;
	struct policy_merge_layer *layer = NULL;
	struct policy_parsed parsed = { 0 };
	_cleanup_(freep) char *why = NULL;
	struct policy_origin *origin;
	char *base;
	int r = 0;

	if (setting->layer)
		r = layer_get(merge, setting, &layer);
	if (r < 0 || (setting->layer && !layer))
		return r;
	if (!key)
		return layer ? enter_layer(&layer->layer, setting) : 0;
	base = layer ? (char *)&layer->layer : (char *)merge->policy;
	origin = (layer ? layer->origins : merge->origins) + policy_key_index(key);
	if (origin->stage == stage && key->store != STORE_LIST) {
		policy_error(merge->errors, setting->file, setting->line,
			"%s has a value in this file already, in line %u", key->name, origin->line);
		return 0;
	}
	r = policy_value_parse(key, setting->text, &parsed, &why);
	if (r == -EINVAL)
		policy_error(merge->errors, setting->file, setting->line, "%s: %s", key->name, why);
	else if (r == 0)
		r = store(setting, &parsed, base + key->offset, origin->stage != stage);
	free(parsed.text);
	*origin = (struct policy_origin){ setting->file, setting->line, stage };
	return r == -EINVAL ? 0 : r;
}

int policy_merge_apply(
	struct policy_merge *merge, const struct policy_settings *settings, unsigned stage)
{
	for (size_t i = 0; i < settings->count; i++) {
		int r = apply_one(merge, &settings->items[i], stage + settings->items[i].stage);

		if (r < 0)
			return r;
	}
	return 0;
}

static const struct policy_origin *origin_of(
	const struct policy_origin *origins, enum policy_section section, const char *key)
{
	return &origins[policy_key_index(policy_key_find(section, key))];
}

static void check_role(struct policy_merge *merge, struct policy_merge_layer *item)
{
	struct policy_layer *layer = &item->layer;
	const struct policy_word *word = policy_key_find(SECTION_LAYER, "role")->words;

	if (origin_of(item->origins, SECTION_LAYER, "role")->stage)
		return;
	while (word->text && strcmp(word->text, layer->name) != 0)
		word++;
	if (word->text)
		layer->role = (enum layer_role)word->number;
	else
		policy_error(merge->errors, layer->file, layer->line,
			"[layer %s] has no role = compat, tegra, host or extra", layer->name);
}

/* Beside what is under the mount. */
static bool has_source(const struct policy_layer *layer)
{
	return layer->dirs.count || layer->trees.count || layer->csvs.count || layer->cdis.count ||
	       layer->discover != DISCOVER_NONE;
}

void policy_merge_check(struct policy_merge *merge)
{
	for (size_t i = 0; i < merge->n_layers; i++) {
		const struct policy_layer *layer = &merge->layers[i]->layer;

		check_role(merge, merge->layers[i]);
		if (!has_source(layer) && !layer->under)
			policy_error(merge->errors, layer->file, layer->line,
				"[layer %s] has no source: dir, tree, csv, cdi, discover or under "
				"= yes",
				layer->name);
	}
}

void policy_merge_check_trial(struct policy_merge *trial)
{
	for (size_t i = 0; i < trial->n_layers; i++) {
		const struct policy_merge_layer *item = trial->layers[i];
		const struct policy_origin *under =
			origin_of(item->origins, SECTION_LAYER, "under");
		const struct policy_merge_layer *base = layer_find(trial->known, item->layer.name);

		if (under->stage && !item->layer.under && !has_source(&item->layer) &&
			!has_source(&base->layer))
			policy_error(trial->errors, under->file, under->line,
				"[layer %s] has no source left", item->layer.name);
	}
}

/* Stable: by order, then as written. */
static int move_layers(struct policy_merge *merge)
{
	struct policy *policy = merge->policy;
	size_t n = merge->n_layers;

	policy->layers = calloc(n ? n : 1, sizeof(*policy->layers));
	if (!policy->layers)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		struct policy_layer *layer = &merge->layers[i]->layer;
		size_t place = policy->n_layers;

		if (!layer->enabled)
			continue;
		for (; place > 0 && policy->layers[place - 1].order > layer->order; place--)
			policy->layers[place] = policy->layers[place - 1];
		policy->layers[place] = *layer;
		policy->n_layers++;
		*layer = (struct policy_layer){ 0 };
	}
	return 0;
}

int policy_merge_finish(struct policy_merge *merge, struct policy **ret_policy)
{
	const struct policy_origin *mode = origin_of(merge->origins, SECTION_COMPAT, "mode");
	_cleanup_(freep) char *profile = NULL;
	struct policy *policy = merge->policy;
	int r;

	if (merge->errors->count)
		return 0;
	for (size_t i = 0; i < merge->n_layers; i++) {
		struct policy_merge_layer *item = merge->layers[i];

		if (origin_of(item->origins, SECTION_LAYER, "order")->stage == 0)
			item->layer.order = default_orders[item->layer.role];
	}
	if (mode->stage) {
		/* Of no file: a built-in profile's. */
		if (!mode->file && policy->profile)
			profile = string_format("profile %s", policy->profile);
		r = policy_value_set(&policy->compat_mode_from,
			compat_mode_name(policy->compat_mode), profile ? profile : mode->file,
			profile ? 0 : mode->line);
		if (r < 0)
			return r;
	}
	r = move_layers(merge);
	if (r < 0)
		return r;
	*ret_policy = steal_pointer(merge->policy);
	policy_merge_clear(merge);
	return 0;
}
