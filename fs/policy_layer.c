/* SPDX-License-Identifier: MIT */
/* policy: its values, lists and layers: set, copied, freed. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "policy_merge.h"

void policy_value_clear(struct policy_value *value)
{
	free(value->text);
	free(value->file);
	*value = (struct policy_value){ 0 };
}

int policy_value_set(struct policy_value *value, const char *text, const char *file, unsigned line)
{
	struct policy_value new = { .text = strdup(text), .line = file ? line : 0 };

	new.file = file ? strdup(file) : NULL;
	if (!new.text || (file && !new.file)) {
		policy_value_clear(&new);
		return -ENOMEM;
	}
	policy_value_clear(value);
	*value = new;
	return 0;
}

void policy_list_clear(struct policy_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		policy_value_clear(&list->items[i]);
	free(list->items);
	*list = (struct policy_list){ 0 };
}

int policy_list_add(struct policy_list *list, const char *text, const char *file, unsigned line)
{
	struct policy_value value = { 0 };

	if (array_grow(&list->items, &list->capacity, list->count, sizeof(value)) < 0 ||
		policy_value_set(&value, text, file, line) < 0)
		return -ENOMEM;
	list->items[list->count++] = value;
	return 0;
}

void policy_layer_clear(struct policy_layer *layer)
{
	free(layer->name);
	free(layer->file);
	policy_list_clear(&layer->dirs);
	policy_list_clear(&layer->trees);
	policy_list_clear(&layer->csvs);
	policy_list_clear(&layer->cdis);
	policy_list_clear(&layer->includes);
	policy_list_clear(&layer->excludes);
	policy_value_clear(&layer->root);
	policy_value_clear(&layer->cuda);
	*layer = (struct policy_layer){ 0 };
}

static bool copy_text(const char *from, char **ret_copy)
{
	*ret_copy = from ? strdup(from) : NULL;
	return !from || *ret_copy;
}

/* An empty value stays empty. */
static bool copy_value(const struct policy_value *from, struct policy_value *ret_value)
{
	return !from->text || policy_value_set(ret_value, from->text, from->file, from->line) == 0;
}

static bool copy_list(const struct policy_list *from, struct policy_list *ret_list)
{
	for (size_t i = 0; i < from->count; i++) {
		const struct policy_value *value = &from->items[i];

		if (policy_list_add(ret_list, value->text, value->file, value->line) < 0)
			return false;
	}
	return true;
}

int policy_layer_copy(const struct policy_layer *from, struct policy_layer *ret_layer)
{
	struct policy_layer copy = {
		.line = from->line,
		.role = from->role,
		.order = from->order,
		.enabled = from->enabled,
		.optional = from->optional,
		.trust = from->trust,
		.under = from->under,
		.discover = from->discover,
	};

	if (copy_text(from->name, &copy.name) && copy_text(from->file, &copy.file) &&
		copy_list(&from->dirs, &copy.dirs) && copy_list(&from->trees, &copy.trees) &&
		copy_list(&from->csvs, &copy.csvs) && copy_list(&from->cdis, &copy.cdis) &&
		copy_list(&from->includes, &copy.includes) &&
		copy_list(&from->excludes, &copy.excludes) && copy_value(&from->root, &copy.root) &&
		copy_value(&from->cuda, &copy.cuda)) {
		*ret_layer = copy;
		return 0;
	}
	policy_layer_clear(&copy);
	return -ENOMEM;
}

struct policy *policy_free(struct policy *policy)
{
	if (!policy)
		return NULL;
	for (size_t i = 0; i < policy->n_layers; i++)
		policy_layer_clear(&policy->layers[i]);
	free(policy->layers);
	free(policy->mountpoint);
	free(policy->runpath);
	free(policy->profile);
	policy_value_clear(&policy->compat_mode_from);
	string_list_clear(&policy->profiles);
	free(policy);
	return NULL;
}

void policy_freep(struct policy **policy)
{
	*policy = policy_free(*policy);
}
