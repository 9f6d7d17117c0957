/* SPDX-License-Identifier: MIT */
/* ctl_client: one connection of the control socket, from its request's first byte to its reply's
 * last one. Private to ctl. */
#pragma once

#include <sys/queue.h>

#include "ctl.h"
#include "ctlsocket.h"

#define CTL_NEVER INT64_MAX

enum ctl_client_state { CLIENT_READS_REQUEST, CLIENT_WAITS, CLIENT_WRITES_REPLY };

struct ctl_client {
	LIST_ENTRY(ctl_client) link;
	uint64_t id;
	int fd;
	uid_t uid;
	enum ctl_client_state state;
	int64_t deadline; /* CTL_NEVER while it waits for a change */
	char *request;
	size_t request_size;
	size_t request_capacity;
	char *reply; /* with its line break */
	size_t reply_size;
	size_t sent;
};

struct ctl {
	struct ctl_options options;
	char *path;
	struct ctlsocket_identity identity;
	int listener;
	int epoll;
	bool listening;    /* the epoll watches the listener */
	int64_t resume_at; /* CTL_NEVER: listening, or when a client goes */
	uint64_t last_id;
	unsigned n_clients;
	LIST_HEAD(ctl_clients, ctl_client) clients;
};

int64_t ctl_now_ms(void);
/* The client of that id, or NULL: it is gone. */
struct ctl_client *ctl_client_find(const struct ctl *ctl, uint64_t id);
/* Closes the connection; ctl may listen again. */
void ctl_client_free(struct ctl *ctl, struct ctl_client *client);
/* Answers a request that is none. */
void ctl_client_refuse(struct ctl *ctl, struct ctl_client *client, const char *text);
/* Reads or writes what the descriptor is ready for (epoll's events). May free the client. */
void ctl_client_handle(struct ctl *ctl, struct ctl_client *client, uint32_t events);
/* Watches the listener, or not. */
void ctl_listen(struct ctl *ctl, bool listening);
