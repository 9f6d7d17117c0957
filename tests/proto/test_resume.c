/* SPDX-License-Identifier: MIT */
/* A successor: what an earlier process read and did not answer is answered, numbers and bytes are
 * the same, and what was not told is told. */
#include "../compat/cmocka.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "invalidate.h"
#include "resume.h"
#include "served.h"

static int set_up(void **state)
{
	struct served *served = served_new(false);
	struct tree_change change = served_publish(served, served_view(served, "first"));

	tree_change_clear(&change);
	served_start(served);
	*state = served;
	return 0;
}

static int tear_down(void **state)
{
	served_free(*state);
	return 0;
}

static struct resume resume_of(struct served *served)
{
	return (struct resume){
		.state = served->wire.state,
		.tree = served->tree,
		.pool = served->pool,
	};
}

/* Publishes as the daemon does, up to the telling. */
static struct tree_change publish_kept(struct served *served, struct view *view)
{
	struct generation *generation = world_generation(view);
	struct resume resume = resume_of(served);
	struct tree_change change;

	generation->decision.on = true;
	assert_int_equal(tree_prepare(served->tree, generation, &change), 0);
	assert_int_equal(resume_save(&resume, &change), 0);
	tree_commit(served->tree, &change, resume_published, &resume);
	generation_unref(generation);
	return change;
}

/* The process ends in the middle: threads, tree and descriptors are gone. */
static void die(struct served *served)
{
	assert_true(session_stop(served->wire.session));
	served->wire.session = session_free(served->wire.session);
	close(served->wire.fd);
	tree_free(served->tree);
	fdpool_free(served->pool);
	served->pool = fdpool_new(16);
	served->tree = tree_new(served->pool);
	served->ops.tree = served->tree;
	served->ops.pool = served->pool;
}

/* The kernel of a successor's first moment: it ignores the answer to INIT. */
static void connect_successor(struct served *served)
{
	static struct wire_reply reply;
	int sockets[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets), 0);
	served->wire.fd = sockets[0];
	wire_attach(&served->wire, sockets[1], &served->ops);
	session_resume(served->wire.session);
	wire_receive(&served->wire, &reply);
	assert_int_equal(reply.header.unique, 1);
}

static void resurrect(struct served *served, struct resume_loaded *ret_loaded)
{
	struct resume resume = resume_of(served);

	assert_int_equal(resume_load(&resume, ret_loaded), 0);
	connect_successor(served);
	assert_int_equal(session_start(served->wire.session), 0);
}

static void test_same_numbers_and_bytes(void **state)
{
	struct served *served = *state;
	struct tree_change change = publish_kept(served, served_view(served, "first"));
	uint64_t lib = served_node(served, "lib", NULL);
	uint64_t cuda = served_node(served, "lib", "libcuda.so.1.1");
	uint64_t link = served_node(served, "lib", "libcuda.so.1");
	_cleanup_(freep) char *path = string_format("%s/first", served->directory);
	struct resume_loaded loaded;
	struct fuse_forget_in forget = { .nlookup = 100 };
	static struct wire_reply reply;

	tree_change_clear(&change);
	assert_int_equal(unlink(path), 0);
	die(served);
	resurrect(served, &loaded);
	assert_true(loaded.generation->decision.on);
	/* Numbers that the kernel has are answered without a lookup. */
	assert_int_equal(served_read(served, cuda, 0, 100, &reply), 0);
	assert_memory_equal(reply.bytes, "first", 5);
	assert_int_equal(wire_ask(&served->wire, FUSE_READLINK, link, NULL, 0, NULL, 0, &reply), 0);
	assert_memory_equal(reply.bytes, "libcuda.so.1.1", 14);
	assert_int_equal(served_node(served, "lib", NULL), lib);
	assert_int_equal(served_node(served, "lib", "libcuda.so.1.1"), cuda);
	/* A count that is not known takes nothing away. */
	wire_send(&served->wire, FUSE_FORGET, cuda, &forget, sizeof(forget), NULL, 0);
	change = publish_kept(served, served_view(served, "second"));
	assert_int_equal(change.diff.n_names, 1);
	tree_change_clear(&change);
	change = publish_kept(served, served_view(served, "third"));
	tree_change_clear(&change);
	assert_int_equal(served_read(served, cuda, 0, 100, &reply), 0);
	assert_memory_equal(reply.bytes, "first", 5);
	assert_true(served_node(served, "lib", "libcuda.so.1.1") > cuda);
	resume_loaded_clear(&loaded);
}

/* Killed between the switch and the telling: the successor knows all that is to be told. */
static void test_untold(void **state)
{
	struct served *served = *state;
	struct tree_change change = publish_kept(served, served_view(served, "first"));
	struct resume resume = resume_of(served);
	struct resume_loaded loaded;
	uint64_t lib = served_node(served, "lib", NULL);

	tree_change_clear(&change);
	resume_told(&resume);
	assert_true(state_is_told(served->wire.state));
	change = publish_kept(served, served_view(served, "second"));
	tree_change_clear(&change);
	assert_false(state_is_told(served->wire.state));
	die(served);
	resurrect(served, &loaded);
	assert_int_equal(loaded.snapshot.change.n_names, 1);
	assert_string_equal(loaded.snapshot.change.names[0].name, "libcuda.so.1.1");
	assert_int_equal(loaded.snapshot.change.names[0].parent, lib);
	assert_int_equal(loaded.snapshot.change.n_directories, 1);
	assert_int_equal(loaded.snapshot.change.directories[0], lib);
	resume_loaded_clear(&loaded);
}

/* Killed before the switch: the old view, whatever was written for the new one. */
static void test_not_committed(void **state)
{
	struct served *served = *state;
	struct tree_change change = publish_kept(served, served_view(served, "first"));
	struct generation *generation = world_generation(served_view(served, "second"));
	struct resume resume = resume_of(served);
	struct resume_loaded loaded;
	static struct wire_reply reply;

	tree_change_clear(&change);
	assert_int_equal(tree_prepare(served->tree, generation, &change), 0);
	assert_int_equal(resume_save(&resume, &change), 0);
	tree_abandon(served->tree);
	tree_change_clear(&change);
	generation_unref(generation);
	die(served);
	resurrect(served, &loaded);
	assert_int_equal(
		served_read(served, served_node(served, "lib", "libcuda.so.1.1"), 0, 100, &reply),
		0);
	assert_memory_equal(reply.bytes, "first", 5);
	resume_loaded_clear(&loaded);
}

/* Puts a request into a slot as a process does that is killed before it answers. */
static void leave_request(struct served *served, unsigned slot, uint32_t opcode, const void *body,
	size_t size, unsigned crashes)
{
	struct fuse_in_header header = {
		.len = (uint32_t)(sizeof(header) + size),
		.opcode = opcode,
		.unique = 77,
		.nodeid = FUSE_ROOT_ID,
	};
	struct state_slot *place = &served->wire.state->memory->slots[slot];

	memcpy(place->request.bytes, &header, sizeof(header));
	memcpy(place->request.bytes + sizeof(header), body, size);
	atomic_store(&place->crashes, crashes);
}

/* A worker empties its slot after the reply. */
static void wait_for_empty(const struct state_slot *slot)
{
	const time_t end = time(NULL) + 10;

	while ((atomic_load(&slot->request.length) || atomic_load(&slot->crashes)) &&
		time(NULL) < end)
		sched_yield();
	assert_int_equal(atomic_load(&slot->request.length), 0);
	assert_int_equal(atomic_load(&slot->crashes), 0);
}

static void test_replay(void **state)
{
	static const struct {
		unsigned slot;
		uint32_t opcode;
		unsigned crashes;
		int error; /* 1: no answer */
	} cases[] = {
		{ 0, FUSE_LOOKUP, 0, 0 },
		{ 1, FUSE_LOOKUP, STATE_POISON - 1, 0 },
		{ 15, FUSE_LOOKUP, 0, 0 },
		{ 2, FUSE_LOOKUP, STATE_POISON, -EIO },
		{ 0, FUSE_FORGET, STATE_POISON, 1 },
		{ 0, FUSE_FORGET, 0, 1 },
	};
	struct served *served = *state;
	struct tree_change change = publish_kept(served, served_view(served, "first"));
	static struct wire_reply reply;

	tree_change_clear(&change);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct fuse_forget_in forget = { .nlookup = 1 };
		bool looks = cases[i].opcode == FUSE_LOOKUP;
		struct resume_loaded loaded;

		die(served);
		leave_request(served, cases[i].slot, cases[i].opcode,
			looks ? (const void *)"lib" : &forget, looks ? 4 : sizeof(forget),
			cases[i].crashes);
		resurrect(served, &loaded);
		if (cases[i].error != 1) {
			wire_receive(&served->wire, &reply);
			assert_int_equal(reply.header.unique, 77);
			assert_int_equal(reply.header.error, cases[i].error);
		}
		/* All goes on as usual. */
		assert_int_equal(
			wire_ask(&served->wire, FUSE_STATFS, 1, NULL, 0, NULL, 0, &reply), 0);
		assert_true(served_node(served, "lib", NULL) > 0);
		wait_for_empty(&served->wire.state->memory->slots[cases[i].slot]);
		resume_loaded_clear(&loaded);
	}
}

/* Numbers are never given twice, also where what they were given for was never published. */
static void test_counter(void **state)
{
	struct served *served = *state;
	struct tree_change change = publish_kept(served, served_view(served, "first"));
	uint64_t highest = 0;

	tree_change_clear(&change);
	for (unsigned i = 0; i < 20; i++) {
		char tag[16];
		struct resume_loaded loaded;
		uint64_t node;

		snprintf(tag, sizeof(tag), "file%u", i);
		die(served);
		resurrect(served, &loaded);
		change = publish_kept(served, served_view(served, tag));
		tree_change_clear(&change);
		node = served_node(served, "lib", "libcuda.so.1.1");
		assert_true(node > highest);
		highest = node;
		resume_loaded_clear(&loaded);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_same_numbers_and_bytes, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_untold, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_not_committed, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_replay, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_counter, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
