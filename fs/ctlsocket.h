/* SPDX-License-Identifier: MIT */
/* ctlsocket: listening on and connecting to a control socket by a path of any length. Edge. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

struct ctlsocket_identity {
	dev_t device;
	ino_t inode;
};

/* Makes the directory (0755) when missing and listens at path (mode 0666), non-blocking. The socket
 * appears whole under its name; a dead one is replaced. Returns the descriptor, -EADDRINUSE: a live
 * one is there, or -errno. */
int ctlsocket_listen(const char *path, struct ctlsocket_identity *ret_identity);
/* Whether path is still that socket. */
bool ctlsocket_is(const char *path, const struct ctlsocket_identity *identity);
/* Removes path if it is still that socket. */
void ctlsocket_remove(const char *path, const struct ctlsocket_identity *identity);
/* Connects (blocking, sends within 5 s). Returns the descriptor, -ENOENT, -EAGAIN: too busy,
 * -ECONNREFUSED: nobody listens, -ENOTSOCK, or -errno. */
int ctlsocket_connect(const char *path);
/* The uid at the other end, as it was when that end connected or listened. Returns 0 or -errno. */
int ctlsocket_peer(int fd, uid_t *ret_uid);
