/* SPDX-License-Identifier: MIT */
#include "../compat/cmocka.h"
#include "wire.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

static void on_ended(void *context)
{
	(void)context;
}

void wire_attach(struct wire *wire, int fd, struct ops *ops)
{
	const struct session_options options = {
		.fd = fd,
		.ops = ops,
		.state = wire->state,
		.ended = on_ended,
	};

	assert_int_equal(session_new(&options, &wire->session), 0);
}

void wire_start(struct wire *wire, struct ops *ops)
{
	struct fuse_init_in init = {
		.major = FUSE_KERNEL_VERSION,
		.minor = 31,
		.max_readahead = 131072,
		.flags = FUSE_ASYNC_READ | FUSE_DO_READDIRPLUS | FUSE_READDIRPLUS_AUTO |
			 FUSE_PARALLEL_DIROPS | FUSE_NO_OPEN_SUPPORT | FUSE_CACHE_SYMLINKS |
			 FUSE_NO_OPENDIR_SUPPORT | FUSE_MAX_PAGES,
	};
	struct wire_reply reply;
	int sockets[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets), 0);
	*wire = (struct wire){ .fd = sockets[0] };
	assert_int_equal(state_new("test", "/mnt", &wire->state), 0);
	wire_attach(wire, sockets[1], ops);
	assert_int_equal(session_start(wire->session), 0);
	assert_int_equal(wire_ask(wire, FUSE_INIT, 0, &init, sizeof(init), NULL, 0, &reply), 0);
	assert_true(!(reply.init.flags & FUSE_CACHE_SYMLINKS) == ops->no_cache);
	assert_true(reply.init.flags & FUSE_DO_READDIRPLUS);
	assert_false(reply.init.flags & FUSE_READDIRPLUS_AUTO);
	/* 128 KiB in one READ. */
	assert_true(!(reply.init.flags & FUSE_MAX_PAGES) || reply.init.max_pages >= 32);
}

void wire_stop(struct wire *wire)
{
	assert_true(session_stop(wire->session));
	wire->session = session_free(wire->session);
	wire->state = state_free(wire->state);
	close(wire->fd);
}

void wire_send(struct wire *wire, uint32_t opcode, uint64_t nodeid, const void *body,
	size_t body_size, const void *tail, size_t tail_size)
{
	struct fuse_in_header header = {
		.len = (uint32_t)(sizeof(header) + body_size + tail_size),
		.opcode = opcode,
		.unique = ++wire->unique,
		.nodeid = nodeid,
		.pid = wire->thread,
	};
	struct iovec parts[] = {
		{ &header, sizeof(header) },
		{ (void *)(uintptr_t)body, body_size },
		{ (void *)(uintptr_t)tail, tail_size },
	};

	assert_int_equal(writev(wire->fd, parts, 3), header.len);
}

void wire_receive(struct wire *wire, struct wire_reply *ret_reply)
{
	struct pollfd wait = { .fd = wire->fd, .events = POLLIN };
	struct iovec parts[] = {
		{ &ret_reply->header, sizeof(ret_reply->header) },
		{ ret_reply->bytes, sizeof(ret_reply->bytes) },
	};
	ssize_t got;

	assert_int_equal(poll(&wait, 1, 10000), 1);
	got = readv(wire->fd, parts, 2);
	assert_true(got >= (ssize_t)sizeof(ret_reply->header));
	assert_int_equal(got, ret_reply->header.len);
	ret_reply->size = (size_t)got - sizeof(ret_reply->header);
}

int wire_ask(struct wire *wire, uint32_t opcode, uint64_t nodeid, const void *body,
	size_t body_size, const void *tail, size_t tail_size, struct wire_reply *ret_reply)
{
	wire_send(wire, opcode, nodeid, body, body_size, tail, tail_size);
	wire_receive(wire, ret_reply);
	assert_int_equal(ret_reply->header.unique, wire->unique);
	return ret_reply->header.error;
}

int wire_lookup(struct wire *wire, uint64_t parent, const char *name, struct wire_reply *ret_reply)
{
	return wire_ask(wire, FUSE_LOOKUP, parent, name, strlen(name) + 1, NULL, 0, ret_reply);
}
