/* SPDX-License-Identifier: MIT */
/* wire: a kernel for tests: FUSE requests as bytes over a socketpair to a real session. */
#pragma once

#include <linux/fuse.h>
#include <stddef.h>
#include <stdint.h>

#include "session.h"

struct wire {
	int fd; /* the kernel's end */
	uint64_t unique;
	uint32_t thread; /* who asks */
	struct session *session;
	struct state *state;
};

struct wire_reply {
	struct fuse_out_header header;
	union {
		char bytes[160 * 1024];
		struct fuse_init_out init;
		struct fuse_entry_out entry;
		struct fuse_attr_out attr;
		struct fuse_getxattr_out xattr;
		struct fuse_statfs_out statfs;
	};
	size_t size; /* of the body */
};

/* Starts a session with these ops on one end and does INIT from the other. */
void wire_start(struct wire *wire, struct ops *ops);
/* A session on the other end, with the wire's state. */
void wire_attach(struct wire *wire, int fd, struct ops *ops);
void wire_stop(struct wire *wire);
/* Sends a request: the opcode's struct, then `tail` bytes. */
void wire_send(struct wire *wire, uint32_t opcode, uint64_t nodeid, const void *body,
	size_t body_size, const void *tail, size_t tail_size);
/* Receives the next message. */
void wire_receive(struct wire *wire, struct wire_reply *ret_reply);
/* Both; returns the reply's error (0 or -errno). */
int wire_ask(struct wire *wire, uint32_t opcode, uint64_t nodeid, const void *body,
	size_t body_size, const void *tail, size_t tail_size, struct wire_reply *ret_reply);
int wire_lookup(struct wire *wire, uint64_t parent, const char *name, struct wire_reply *ret_reply);
