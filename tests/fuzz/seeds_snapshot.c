/* SPDX-License-Identifier: MIT */
/* seeds_snapshot DIR: writes the seeds of fuzz_snapshot (tests/fuzz/corpus/snapshot is its output).
 */
#include <stdio.h>

#include "../unit/snapshot_builder.h"

static bool write_seed(const char *directory, const char *name, const struct snapshot *snapshot)
{
	_cleanup_(freep) char *path = string_format("%s/%s", directory, name);
	_cleanup_(freep) uint8_t *bytes = NULL;
	size_t size;
	FILE *stream;

	if (snapshot_encode(snapshot, &bytes, &size) < 0)
		return false;
	stream = fopen(path, "w");
	return stream && fwrite(bytes, 1, size, stream) == size && fclose(stream) == 0;
}

/* Everything, and parts of it by leaving out the rest. */
int main(int argc, char **argv)
{
	struct builder builder;
	struct snapshot *all = &builder.snapshot;
	struct snapshot head, nodes, change, sets;
	bool good;

	if (argc != 2)
		return 2;
	builder_make(&builder);
	head = (struct snapshot){
		.name = all->name, .mountpoint = all->mountpoint, .view = view_new()
	};
	if (!head.view || view_finish(head.view) < 0)
		return 1;
	nodes = change = sets = head;
	nodes.nodes = all->nodes;
	nodes.n_nodes = all->n_nodes;
	change.change = all->change;
	change.attributes = all->attributes;
	change.n_attributes = all->n_attributes;
	sets.sets = all->sets;
	good = write_seed(argv[1], "all", all) && write_seed(argv[1], "head", &head) &&
	       write_seed(argv[1], "nodes", &nodes) && write_seed(argv[1], "change", &change) &&
	       write_seed(argv[1], "sets", &sets);
	view_free(head.view);
	builder_clear(&builder);
	return good ? 0 : 1;
}
