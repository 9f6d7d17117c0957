/* SPDX-License-Identifier: MIT */
/* snapshot: what comes back is what was written. */
#include "../compat/cmocka.h"

#include <stdio.h>
#include <time.h>

#include "snapshot_bytes.h"
#include "snapshot_compare.h"

static void test_round_trip(void **state)
{
	struct builder builder;
	struct snapshot decoded;
	_cleanup_(bytes_clear) struct bytes bytes = { 0 };

	(void)state;
	builder_make(&builder);
	builder.sources[0]->is_elf = true;
	bytes = encode(&builder.snapshot);
	assert_int_equal(snapshot_decode(bytes.at, bytes.size, &decoded), 0);
	/* Nothing is borrowed of the bytes. */
	memset(bytes.at, 0xa5, bytes.size);
	assert_int_equal(
		same_snapshot(&builder.snapshot, &decoded), BUILDER_SOURCES + BUILDER_OVERLAYS);
	assert_int_equal(decoded.n_sources, BUILDER_SOURCES);
	assert_int_equal(decoded.layers.count, 4); /* host, store, u, compat */
	for (size_t i = 0; i < decoded.n_sources; i++) {
		const char *path = decoded.sources[i]->path;
		size_t k = 0;

		while (strcmp(builder.sources[k]->path, path) != 0)
			assert_true(++k < BUILDER_SOURCES);
		assert_int_equal(decoded.pins[i], builder_pin(&builder, builder.sources[k]));
	}
	snapshot_clear(&decoded);
	assert_null(decoded.view);
	builder_clear(&builder);
}

/* A view of nothing, and none who asks for descriptors; what was decoded is encoded again. */
static void test_twice(void **state)
{
	struct snapshot empty = {
		.name = (char *)"", .mountpoint = (char *)"/", .view = view_new()
	};
	struct builder builder;
	struct snapshot *snapshots[] = { &empty, &builder.snapshot };

	(void)state;
	builder_make(&builder);
	assert_int_equal(view_finish(empty.view), 0);
	for (size_t i = 0; i < ARRAY_SIZE(snapshots); i++) {
		struct bytes first = encode(snapshots[i]), second;
		struct snapshot once, twice;

		assert_int_equal(snapshot_decode(first.at, first.size, &once), 0);
		second = encode(&once);
		assert_int_equal(second.size, first.size);
		assert_int_equal(snapshot_decode(second.at, second.size, &twice), 0);
		same_snapshot(snapshots[i], &twice);
		for (size_t k = 0; k < twice.n_sources; k++)
			assert_int_equal(twice.pins[k], 0);
		snapshot_clear(&once);
		snapshot_clear(&twice);
		bytes_clear(&first);
		bytes_clear(&second);
	}
	view_free(empty.view);
	builder_clear(&builder);
}

/* Who decodes may keep parts: the view with its layers, a source, the sets, the nodes. */
static void test_steal(void **state)
{
	_cleanup_(bytes_clear) struct bytes bytes = encode_built();
	struct snapshot decoded;
	struct string_list layers;
	struct set_list sets;
	struct source *source;
	struct view *view;

	(void)state;
	assert_int_equal(snapshot_decode(bytes.at, bytes.size, &decoded), 0);
	view = steal_pointer(decoded.view);
	source = steal_pointer(decoded.sources[0]);
	sets = decoded.sets;
	decoded.sets = (struct set_list){ 0 };
	layers = decoded.layers;
	decoded.layers = (struct string_list){ 0 };
	snapshot_clear(&decoded);
	assert_string_equal(view_find(view, "lib/libcuda.so.1")->layer, "host");
	assert_string_equal(sets.items[1]->entries[0].source->path, "/compat/libcuda.so.600.1");
	assert_non_null(source->path);
	view_free(view);
	sets_clear(&sets);
	source_unref(source);
	string_list_clear(&layers);

	assert_int_equal(snapshot_decode(bytes.at, bytes.size, &decoded), 0);
	for (size_t i = 0; i < decoded.n_sources; i++)
		source_unref(decoded.sources[i]);
	free(steal_pointer(decoded.sources));
	for (size_t i = 0; i < decoded.n_nodes; i++) {
		free(decoded.nodes[i].path);
		free(decoded.nodes[i].target);
		source_unref(decoded.nodes[i].source);
		overlay_unref(decoded.nodes[i].overlay);
	}
	free(steal_pointer(decoded.nodes));
	snapshot_clear(&decoded);
}

/* Copies numbers and records of an encoded snapshot, each record with three more bytes. */
struct copy {
	const uint8_t *from;
	uint8_t *to;
};

static uint32_t copy32(struct copy *copy)
{
	uint32_t value = 0;

	for (size_t i = 0; i < 4; i++)
		value |= (uint32_t)(*copy->to++ = *copy->from++) << (8 * i);
	return value;
}

static void copy_bytes(struct copy *copy, size_t size)
{
	memcpy(copy->to, copy->from, size);
	copy->from += size;
	copy->to += size;
}

static void copy_string(struct copy *copy)
{
	uint32_t size = copy32(copy);

	copy_bytes(copy, size ? size - 1 : 0);
}

static void copy_record(struct copy *copy, void (*body)(struct copy *copy, size_t size))
{
	uint8_t *start = copy->to;
	uint32_t size = copy32(copy);

	body(copy, size);
	memset(copy->to, 0xff, 3);
	copy->to += 3;
	size = (uint32_t)(copy->to - start) - 4;
	for (size_t i = 0; i < 4; i++)
		start[i] = (uint8_t)(size >> (8 * i));
}

static void copy_records(struct copy *copy, void (*body)(struct copy *copy, size_t size))
{
	for (uint32_t count = copy32(copy); count > 0; count--)
		copy_record(copy, body);
}

static void copy_set(struct copy *copy, size_t size)
{
	(void)size;
	copy_string(copy);
	copy_records(copy, copy_bytes);
}

static void test_longer_records(void **state)
{
	struct builder builder;
	_cleanup_(bytes_clear) struct bytes bytes = { 0 };
	_cleanup_(freep) uint8_t *longer = NULL;
	struct snapshot decoded;
	struct copy copy;
	size_t size;

	(void)state;
	builder_make(&builder);
	bytes = encode(&builder.snapshot);
	longer = malloc(bytes.size * 2);
	copy = (struct copy){ bytes.at, longer };
	copy_bytes(&copy, sizeof(struct snapshot_header));
	copy_record(&copy, copy_bytes);
	for (uint32_t layers = copy32(&copy); layers > 0; layers--)
		copy_string(&copy);
	for (size_t i = 0; i < 3; i++) /* sources, overlays, entries */
		copy_records(&copy, copy_bytes);
	copy_records(&copy, copy_set);
	for (size_t i = 0; i < 2; i++) /* nodes, names */
		copy_records(&copy, copy_bytes);
	copy_bytes(&copy, (size_t)(bytes.at + bytes.size - copy.from));
	size = (size_t)(copy.to - longer);
	assert_true(size > bytes.size + (size_t)3 * (1 + BUILDER_SOURCES + BUILDER_NODES));
	sign(longer, size);
	assert_int_equal(snapshot_decode(longer, size, &decoded), 0);
	same_snapshot(&builder.snapshot, &decoded);
	snapshot_clear(&decoded);
	builder_clear(&builder);
}

/* Files with a node and every second with an overlay of its own, in a few directories. */
static void make_many(struct snapshot *snapshot, size_t count)
{
	snapshot->view = view_new();
	snapshot->nodes = calloc(count, sizeof(*snapshot->nodes));
	for (size_t i = 0; i < count; i++) {
		_cleanup_(freep) char *path = string_format("lib/%zu/lib%zu.so.1", i % 7, i);
		_cleanup_(freep) char *host = string_format("/usr/lib/nvidia/lib%zu.so.1", i);
		struct source *source = fake_source(host);
		struct overlay *overlay = i % 2 ? overlay_new(4096) : NULL;

		if (overlay) {
			overlay_write(overlay, 64, &i, sizeof(i));
			overlay_finish(overlay);
		}
		view_add_patched(snapshot->view, path, source, overlay, i % 3 ? "host" : "compat");
		/* The view has references. */
		snapshot->nodes[snapshot->n_nodes++] = (struct snapshot_node){
			.ino = (uint32_t)i, .kind = VIEW_FILE, .source = source, .overlay = overlay
		};
		source_unref(source);
		overlay_unref(overlay);
	}
	assert_int_equal(view_finish(snapshot->view), 0);
}

static double seconds(clock_t since)
{
	return (double)(clock() - since) / CLOCKS_PER_SEC;
}

/* Takes a time in proportion to the size; one that grows with its square takes seconds. */
static void test_many(void **state)
{
	enum { MANY = 20000 };
	struct snapshot snapshot = { .name = (char *)"x", .mountpoint = (char *)"/x" }, decoded;
	double encoding, decoding;
	struct bytes bytes;
	clock_t start;

	(void)state;
	make_many(&snapshot, MANY);
	start = clock();
	bytes = encode(&snapshot);
	encoding = seconds(start);
	start = clock();
	assert_int_equal(snapshot_decode(bytes.at, bytes.size, &decoded), 0);
	decoding = seconds(start);
	assert_int_equal(decoded.n_sources, MANY);
	assert_int_equal(decoded.n_nodes, MANY);
	printf("%d files, %zu KiB: encoded in %.1f ms, decoded in %.1f ms\n", MANY,
		bytes.size / 1024, encoding * 1e3, decoding * 1e3);
	assert_true(encoding < 1 && decoding < 1);
	snapshot_clear(&decoded);
	bytes_clear(&bytes);
	view_free(snapshot.view);
	free(snapshot.nodes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_twice),
		cmocka_unit_test(test_steal),
		cmocka_unit_test(test_longer_records),
		cmocka_unit_test(test_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
