/* SPDX-License-Identifier: MIT */
/* fake: layers, sources and policies made in code. A source's identity follows from its path. */
#pragma once

#include <assert.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "../../fs/layer.h"
#include "../../fs/util.h"

struct fake_file {
	const char *path;   /* in the driver directory */
	const char *host;   /* of the file it leads to; NULL: "/<layer>/<path's name>" */
	const char *soname; /* NULL: none */
	const char *needed; /* names with blanks between, NULL: none */
	const char *runpath;
	uint32_t set;
	bool is_link;
	bool plain; /* not an ELF file */
	const struct compat_note *note;
};

struct fake_layer {
	const char *name;
	enum layer_role role;
	const char *cuda;    /* `cuda =`, or NULL */
	const char *include; /* or NULL */
	const char *sets[4]; /* paths; none: one set */
	bool built_in;
	bool curated;
	const struct fake_file *files; /* up to one without a path */
};

static inline struct source *fake_source(const char *path)
{
	struct source *source = calloc(1, sizeof(*source));

	assert(source);
	atomic_init(&source->references, 1);
	source->identity.dev = 1;
	source->identity.ino = fnv1a(FNV_START, path, strlen(path));
	source->identity.size = 4096;
	source->mode = 0100644;
	source->path = strdup(path);
	source->real_path = strdup(path);
	source->in_store = string_has_prefix(path, "/nix/store/");
	return source;
}

static inline void fake_words(struct string_list *list, const char *words)
{
	char *copy = strdup(words ? words : "");
	char *rest = copy;

	for (char *word; (word = strsep(&rest, " ")) != NULL;) {
		if (*word)
			string_list_add(list, word);
	}
	free(copy);
}

static inline void fake_add(struct layer *layer, const struct fake_file *file, bool curated)
{
	char *host = file->host
			     ? strdup(file->host)
			     : string_format("/%s/%s", layer->policy->name, path_base(file->path));
	struct source *source = fake_source(host);

	source->is_elf = !file->plain;
	source->elf.soname = file->soname ? strdup(file->soname) : NULL;
	source->elf.runpath = file->runpath ? strdup(file->runpath) : NULL;
	fake_words(&source->elf.needed, file->needed);
	if (file->note) {
		source->note = malloc(sizeof(*source->note));
		assert(source->note);
		*source->note = *file->note;
	}
	layer_add_candidate(layer, file->path, source, file->is_link ? path_base(host) : NULL,
		file->set, curated);
	source_unref(source);
	free(host);
}

static inline void fake_value(struct policy_value *value, const char *text, unsigned line)
{
	value->text = strdup(text);
	value->file = strdup("test.conf");
	value->line = line;
}

/* Fills policy->layers and *ret_layers (n of each, to be freed with fake_free). */
static inline void fake_build(
	struct policy *policy, const struct fake_layer *fakes, size_t n, struct layer ***ret_layers)
{
	policy->layers = calloc(n, sizeof(*policy->layers));
	policy->n_layers = n;
	*ret_layers = calloc(n, sizeof(**ret_layers));
	for (size_t i = 0; i < n; i++) {
		struct policy_layer *to = &policy->layers[i];
		struct layer *layer = calloc(1, sizeof(*layer));

		to->name = strdup(fakes[i].name);
		to->role = fakes[i].role;
		to->enabled = true;
		to->file = fakes[i].built_in ? NULL : strdup("test.conf");
		if (fakes[i].cuda)
			fake_value(&to->cuda, fakes[i].cuda, 9);
		if (fakes[i].include) {
			array_grow(&to->includes.items, &to->includes.capacity, 0,
				sizeof(*to->includes.items));
			to->includes.count = 1;
			fake_value(&to->includes.items[0], fakes[i].include, 10);
		}
		layer->policy = to;
		for (size_t s = 0; s < 4 && (s == 0 || fakes[i].sets[s]); s++)
			layer_add_set(
				layer, fakes[i].sets[s] ? fakes[i].sets[s] : "/set", NULL, 0, true);
		for (const struct fake_file *file = fakes[i].files; file && file->path; file++)
			fake_add(layer, file, fakes[i].curated);
		layer_sort(layer);
		(*ret_layers)[i] = layer;
	}
}

static inline void fake_value_clear(struct policy_value *value)
{
	free(value->text);
	free(value->file);
}

static inline void fake_free(struct policy *policy, struct layer **layers)
{
	for (size_t i = 0; i < policy->n_layers; i++) {
		struct policy_layer *layer = &policy->layers[i];

		layer_free(layers[i]);
		free(layer->name);
		free(layer->file);
		fake_value_clear(&layer->cuda);
		for (size_t k = 0; k < layer->includes.count; k++)
			fake_value_clear(&layer->includes.items[k]);
		free(layer->includes.items);
	}
	free(layers);
	free(policy->layers);
	policy->layers = NULL;
	policy->n_layers = 0;
}
