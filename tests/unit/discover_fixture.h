/* SPDX-License-Identifier: MIT */
/* discover_fixture: what the tests of discover, csv and cdi layers share: a made-up machine to
 * candidates, rejections, sets and warnings. */
#pragma once

#include <errno.h>
#include <sys/resource.h>

#include "ldcache_builder.h"
#include "scan_fixture.h"

#define ARM "usr/lib/aarch64-linux-gnu/"
#define R36 "# R36 (release), REVISION: 4.7, GCID: 1, BOARD: generic, EABI: aarch64, DATE: x\n"
#define GPU "opt/nvidia/l4t-gpu-libs/"

#define EIGHT(x) x "/" x "/" x "/" x "/" x "/" x "/" x "/" x

struct discover_case {
	const char *what;
	struct made made[12];
	enum layer_discover discover;
	struct policy_value csvs[3], cdis[2], includes[2], excludes[2];
	const char *root;
	struct ldcache_plan cache; /* where it has entries */
	const char *open_file;     /* everybody's to write */
	rlim_t descriptors;        /* more than there are now */
	bool optional, check_trust;
	int result;
	const char *expected;
};

static inline void list_from(
	const struct policy_value *values, size_t max, struct policy_list *ret_list)
{
	ret_list->items = (struct policy_value *)values;
	while (ret_list->count < max && values[ret_list->count].text)
		ret_list->count++;
}

static inline void make_machine(const struct tree *tree, const struct discover_case *c)
{
	for (size_t i = 0; i < ARRAY_SIZE(c->made) && c->made[i].path; i++)
		make(tree, &c->made[i]);
	if (c->cache.entries[0].path) {
		struct ldcache_built built;

		ldcache_build(&c->cache, &built);
		tree_write(tree, "etc/ld.so.cache", built.bytes, built.size);
	}
	if (c->open_file) {
		_cleanup_(freep) char *path = tree_path(tree, c->open_file);

		assert_int_equal(chmod(path, 0666), 0);
	}
}

/* The machine's paths are those inside it. */
static inline void print_inside(FILE *stream, const char *text, const char *top)
{
	for (const char *at; (at = strstr(text, top)); text = at + strlen(top))
		fprintf(stream, "%.*s", (int)(at - text), text);
	fputs(text, stream);
}

static inline char *dump(struct layer **layers, const struct diag_list *diags, const char *top)
{
	char *text = NULL, *inside = NULL;
	size_t size;
	FILE *stream = open_memstream(&text, &size);

	if (layers)
		dump_layer(stream, layers[0], top);
	for (size_t i = 0; layers && i < layers[0]->n_sets; i++)
		if (layers[0]->sets[i].present)
			fprintf(stream, "+ %s\n", layers[0]->sets[i].path);
	for (size_t i = 0; i < diags->count; i++) {
		_cleanup_(freep) char *line = diag_format(&diags->items[i]);

		fprintf(stream, "%s\n", line);
	}
	fclose(stream);
	stream = open_memstream(&inside, &size);
	print_inside(stream, text, top);
	fclose(stream);
	free(text);
	return inside;
}

/* Leaves that many free descriptors from the lowest on; 0: as many as there are. Returns the limit
 * before. */
static inline rlim_t limit_descriptors(rlim_t free_ones)
{
	struct rlimit limit;
	rlim_t before;
	int lowest = dup(0);

	close(lowest);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	before = limit.rlim_cur;
	if (free_ones) {
		limit.rlim_cur = (rlim_t)lowest + free_ones;
		assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	}
	return before;
}

static inline void restore_descriptors(rlim_t before)
{
	struct rlimit limit;

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	limit.rlim_cur = before;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

static inline void discover_run_case(const struct discover_case *c)
{
	_cleanup_(rootfs_unrefp) struct rootfs *root = NULL;
	_cleanup_(diag_clear) struct diag_list diags = { 0 };
	_cleanup_(freep) char *text = NULL;
	struct policy_layer layer = { .name = (char *)"test",
		.role = ROLE_HOST,
		.enabled = true,
		.optional = c->optional,
		.discover = c->discover,
		.root = { (char *)c->root, NULL, 0 } };
	struct policy policy = { .machine = MACHINE_X86_64, .layers = &layer, .n_layers = 1 };
	struct scan_request request = {
		.policy = &policy, .timeout_ms = 5000, .check_trust = c->check_trust
	};
	struct layer **layers = NULL;
	struct tree tree;
	rlim_t before;
	int result;

	list_from(c->csvs, ARRAY_SIZE(c->csvs), &layer.csvs);
	list_from(c->cdis, ARRAY_SIZE(c->cdis), &layer.cdis);
	list_from(c->includes, ARRAY_SIZE(c->includes), &layer.includes);
	list_from(c->excludes, ARRAY_SIZE(c->excludes), &layer.excludes);
	tree_new(&tree);
	make_machine(&tree, c);
	assert_int_equal(rootfs_open(tree.top, &root), 0);
	request.root = root;
	before = limit_descriptors(c->descriptors);
	result = scan(&request, &layers, &diags);
	restore_descriptors(before);
	if (result != c->result)
		fail_msg("%s: %s", c->what, strerror(-result));
	text = dump(layers, &diags, tree.top);
	if (strcmp(text, c->expected) != 0)
		fail_msg("%s:\n%s-- expected --\n%s", c->what, text, c->expected);
	layers_free(layers, 1);
	tree_remove(&tree);
}
