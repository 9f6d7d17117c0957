/* SPDX-License-Identifier: MIT */
#include "ctl_client.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define DEFAULT_TIMEOUT_MS  5000
#define DEFAULT_MAX_CLIENTS 64
/* A user who may not change anything cannot keep root out by idle connections. */
#define MAX_CLIENTS_OF_USER 8
/* How long no new client is taken after descriptors ran out. */
#define ACCEPT_PAUSE_MS 200
#define LISTENER        0

void ctl_listen(struct ctl *ctl, bool listening)
{
	struct epoll_event event = { .events = listening ? EPOLLIN : 0, .data.u64 = LISTENER };

	ctl->resume_at = CTL_NEVER;
	if (ctl->listening != listening &&
		epoll_ctl(ctl->epoll, EPOLL_CTL_MOD, ctl->listener, &event) == 0)
		ctl->listening = listening;
}

static bool has_too_many(struct ctl *ctl, uid_t uid)
{
	struct ctl_client *client;
	unsigned count = 0;

	if (uid == 0 || uid == ctl->options.owner)
		return false;
	LIST_FOREACH (client, &ctl->clients, link)
		count += client->uid == uid;
	return count >= MAX_CLIENTS_OF_USER;
}

/* Takes fd. */
static void add_client(struct ctl *ctl, int fd)
{
	static const char busy[] =
		"{\"error\":\"too many connections of this user\",\"code\":\"busy\"}\n";
	struct ctl_client *client = NULL;
	struct epoll_event event = { .events = EPOLLIN };
	uid_t uid;

	if (ctlsocket_peer(fd, &uid) < 0)
		goto refused;
	if (has_too_many(ctl, uid)) {
		send(fd, busy, sizeof(busy) - 1, MSG_NOSIGNAL | MSG_DONTWAIT);
		goto refused;
	}
	client = calloc(1, sizeof(*client));
	if (!client)
		goto refused;
	client->id = event.data.u64 = ++ctl->last_id;
	client->fd = fd;
	client->uid = uid;
	client->deadline = ctl_now_ms() + ctl->options.timeout_ms;
	if (epoll_ctl(ctl->epoll, EPOLL_CTL_ADD, fd, &event) < 0)
		goto refused;
	LIST_INSERT_HEAD(&ctl->clients, client, link);
	ctl->n_clients++;
	return;
refused:
	free(client);
	close(fd);
}

static void accept_clients(struct ctl *ctl)
{
	while (ctl->n_clients < ctl->options.max_clients) {
		/* cppcheck-suppress nullPointer */
		int fd = accept4(ctl->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

		if (fd >= 0) {
			add_client(ctl, fd);
			continue;
		}
		if (errno == EINTR || errno == ECONNABORTED)
			continue;
		if (errno != EAGAIN) {
			ctl_listen(ctl, false);
			ctl->resume_at = ctl_now_ms() + ACCEPT_PAUSE_MS;
		}
		return;
	}
	ctl_listen(ctl, false);
}

static void expire(struct ctl *ctl)
{
	int64_t now = ctl_now_ms();
	struct ctl_client *client = LIST_FIRST(&ctl->clients);

	while (client) {
		struct ctl_client *next = LIST_NEXT(client, link);

		if (client->deadline <= now) {
			if (client->state == CLIENT_READS_REQUEST)
				ctl_client_refuse(
					ctl, client, "the request was not complete in time");
			else
				ctl_client_free(ctl, client);
		}
		client = next;
	}
	if (ctl->resume_at <= now)
		ctl_listen(ctl, true);
}

void ctl_dispatch(struct ctl *ctl)
{
	struct epoll_event events[32];
	int count;

	if (!ctl)
		return;
	count = epoll_wait(ctl->epoll, events, ARRAY_SIZE(events), 0);
	for (int i = 0; i < count; i++) {
		struct ctl_client *client = ctl_client_find(ctl, events[i].data.u64);

		if (events[i].data.u64 == LISTENER)
			accept_clients(ctl);
		else if (client)
			ctl_client_handle(ctl, client, events[i].events);
	}
	expire(ctl);
}

int ctl_listener(const struct ctl *ctl, struct ctlsocket_identity *ret_identity)
{
	*ret_identity = ctl->identity;
	return ctl->listener;
}

int ctl_fd(const struct ctl *ctl)
{
	return ctl ? ctl->epoll : -1;
}

int ctl_timeout(const struct ctl *ctl)
{
	int64_t deadline = ctl ? ctl->resume_at : CTL_NEVER, left;
	const struct ctl_client *client;

	if (!ctl)
		return -1;
	LIST_FOREACH (client, &ctl->clients, link)
		if (client->deadline < deadline)
			deadline = client->deadline;
	if (deadline == CTL_NEVER)
		return -1;
	left = deadline - ctl_now_ms();
	if (left < 0)
		return 0;
	return left > INT_MAX ? INT_MAX : (int)left;
}

static int start(struct ctl *ctl)
{
	struct epoll_event event = { .events = EPOLLIN, .data.u64 = LISTENER };

	ctl->path = strdup(ctl->options.path);
	if (!ctl->path)
		return -ENOMEM;
	ctl->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (ctl->epoll < 0)
		return -errno;
	if (ctl->options.listener > 0 && ctlsocket_is(ctl->path, &ctl->options.identity)) {
		ctl->listener = ctl->options.listener;
		ctl->identity = ctl->options.identity;
	} else {
		if (ctl->options.listener > 0)
			close(ctl->options.listener);
		ctl->listener = ctlsocket_listen(ctl->path, &ctl->identity);
	}
	if (ctl->listener < 0)
		return ctl->listener;
	if (epoll_ctl(ctl->epoll, EPOLL_CTL_ADD, ctl->listener, &event) < 0)
		return -errno;
	ctl->listening = true;
	return 0;
}

int ctl_new(const struct ctl_options *options, struct ctl **ret_ctl)
{
	struct ctl *ctl = calloc(1, sizeof(*ctl));
	int r;

	if (!ctl)
		return -ENOMEM;
	ctl->options = *options;
	if (!ctl->options.timeout_ms)
		ctl->options.timeout_ms = DEFAULT_TIMEOUT_MS;
	if (!ctl->options.max_clients)
		ctl->options.max_clients = DEFAULT_MAX_CLIENTS;
	ctl->listener = ctl->epoll = -1;
	ctl->resume_at = CTL_NEVER;
	ctl->last_id = LISTENER;
	LIST_INIT(&ctl->clients);
	r = start(ctl);
	if (r < 0) {
		ctl_free(ctl);
		return r;
	}
	*ret_ctl = ctl;
	return 0;
}

struct ctl *ctl_free(struct ctl *ctl)
{
	if (!ctl)
		return NULL;
	while (!LIST_EMPTY(&ctl->clients))
		ctl_client_free(ctl, LIST_FIRST(&ctl->clients));
	if (ctl->listener >= 0) {
		ctlsocket_remove(ctl->path, &ctl->identity);
		close(ctl->listener);
	}
	if (ctl->epoll >= 0)
		close(ctl->epoll);
	free(ctl->path);
	free(ctl);
	return NULL;
}
