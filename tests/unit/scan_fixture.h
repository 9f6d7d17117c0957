/* SPDX-License-Identifier: MIT */
/* scan_fixture: what the scan's tests make in a directory, and a layer as lines of text. */
#pragma once

#include <stdio.h>
#include <sys/stat.h>

#include "elf_builder.h"
#include "scan.h"
#include "tree_builder.h"

enum make_kind { MAKE_ELF, MAKE_TEXT, MAKE_LINK, MAKE_FIFO, MAKE_DIRECTORY, MAKE_CUT, MAKE_HARD };

struct made {
	enum make_kind kind;
	const char *path;
	const char *text; /* content, target of the link, or the library's SONAME */
	struct elf_plan plan;
	size_t size; /* MAKE_CUT */
};

#define ELF(path_, ...)                                                                            \
	{                                                                                          \
		MAKE_ELF, path_, NULL, { .rpath = NULL, __VA_ARGS__ }, 0                           \
	}
#define TEXT(path_, text_)                                                                         \
	{                                                                                          \
		MAKE_TEXT, path_, text_, { 0 }, 0                                                  \
	}
#define LINK(path_, target_)                                                                       \
	{                                                                                          \
		MAKE_LINK, path_, target_, { 0 }, 0                                                \
	}
#define FIFO(path_)                                                                                \
	{                                                                                          \
		MAKE_FIFO, path_, NULL, { 0 }, 0                                                   \
	}
#define DIRECTORY(path_)                                                                           \
	{                                                                                          \
		MAKE_DIRECTORY, path_, NULL, { 0 }, 0                                              \
	}
#define CUT(path_, size_)                                                                          \
	{                                                                                          \
		MAKE_CUT, path_, NULL, { 0 }, size_                                                \
	}
#define VALUE(text_)                                                                               \
	{                                                                                          \
		(char *)text_, NULL, 0                                                             \
	}
#define VALUE_AT(text_, file_, line_)                                                              \
	{                                                                                          \
		(char *)text_, (char *)file_, line_                                                \
	}
#define HARD(path_, existing_)                                                                     \
	{                                                                                          \
		MAKE_HARD, path_, existing_, { 0 }, 0                                              \
	}

static inline void make(const struct tree *tree, const struct made *made)
{
	_cleanup_(freep) char *full = tree_path(tree, made->path);
	struct elf_built built;

	elf_build(&made->plan, &built);
	switch (made->kind) {
	case MAKE_ELF:
		tree_write(tree, made->path, built.bytes, built.size);
		break;
	case MAKE_CUT:
		tree_write(tree, made->path, built.bytes, made->size);
		break;
	case MAKE_TEXT:
		tree_text(tree, made->path, made->text);
		break;
	case MAKE_LINK:
		tree_link(tree, made->path, made->text);
		break;
	case MAKE_FIFO:
		assert_int_equal(mkfifo(full, 0644), 0);
		break;
	case MAKE_DIRECTORY:
		assert_int_equal(mkdir(full, 0755), 0);
		break;
	case MAKE_HARD: {
		_cleanup_(freep) char *existing = tree_path(tree, made->text);

		assert_int_equal(link(existing, full), 0);
		break;
	}
	}
}

static inline const char *without(const char *text, const char *prefix)
{
	return string_has_prefix(text, prefix) ? text + strlen(prefix) : text;
}

static inline void dump_layer(FILE *stream, const struct layer *layer, const char *top)
{
	for (int curated = 0; curated < 2; curated++)
		for (size_t i = 0; i < layer->n_candidates; i++) {
			const struct candidate *c = &layer->candidates[i];

			/* In the order of a reader: libraries first. */
			if (string_has_prefix(c->path, "lib/") != (curated == 0))
				continue;
			fprintf(stream, "%s%s%s = %s%s\n", c->path, c->link ? " -> " : "",
				c->link ? c->link : "", without(c->source->real_path, top),
				c->curated ? " *" : "");
		}
	for (size_t i = 0; i < layer->n_rejections; i++)
		fprintf(stream, "! %s: %s\n", without(layer->rejections[i].path, top),
			layer->rejections[i].text);
	for (size_t i = 0; i < layer->n_sets; i++)
		if (!layer->sets[i].present)
			fprintf(stream, "- %s\n", layer->sets[i].path);
}

static inline void layers_free(struct layer **layers, size_t n)
{
	for (size_t i = 0; layers && i < n; i++)
		layer_free(layers[i]);
	free(layers);
}
