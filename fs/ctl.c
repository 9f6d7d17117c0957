/* SPDX-License-Identifier: MIT */
#include "ctl.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "ctlsocket.h"
#include "verbs.h"

#define DEFAULT_TIMEOUT_MS  5000
#define DEFAULT_MAX_CLIENTS 64
/* A user who may not change anything cannot keep root out by idle connections. */
#define MAX_CLIENTS_OF_USER 8
/* How long no new client is taken after descriptors ran out. */
#define ACCEPT_PAUSE_MS 200
#define LISTENER        0
#define NEVER           INT64_MAX

enum client_state { CLIENT_READS_REQUEST, CLIENT_WAITS, CLIENT_WRITES_REPLY };

struct client {
	LIST_ENTRY(client) link;
	uint64_t id;
	int fd;
	uid_t uid;
	enum client_state state;
	int64_t deadline; /* NEVER while it waits for a change */
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
	int64_t resume_at; /* NEVER: listening, or when a client goes */
	uint64_t last_id;
	unsigned n_clients;
	LIST_HEAD(, client) clients;
};

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void watch(struct ctl *ctl, struct client *client, uint32_t events)
{
	struct epoll_event event = { .events = events, .data.u64 = client->id };

	epoll_ctl(ctl->epoll, EPOLL_CTL_MOD, client->fd, &event);
}

static void listen_again(struct ctl *ctl, bool listening)
{
	struct epoll_event event = { .events = listening ? EPOLLIN : 0, .data.u64 = LISTENER };

	ctl->resume_at = NEVER;
	if (ctl->listening != listening &&
		epoll_ctl(ctl->epoll, EPOLL_CTL_MOD, ctl->listener, &event) == 0)
		ctl->listening = listening;
}

static void client_free(struct ctl *ctl, struct client *client)
{
	LIST_REMOVE(client, link);
	ctl->n_clients--;
	close(client->fd);
	free(client->request);
	free(client->reply);
	free(client);
	listen_again(ctl, true);
}

static struct client *find_client(struct ctl *ctl, uint64_t id)
{
	struct client *client;

	LIST_FOREACH (client, &ctl->clients, link)
		if (client->id == id)
			return client;
	return NULL;
}

/* Gives the client its reply, which is written when the socket takes it. */
static void set_reply(struct ctl *ctl, struct client *client, json_t *reply)
{
	static const char no_memory[] = "{\"error\":\"out of memory\",\"code\":\"failed\"}";
	static const char too_large[] =
		"{\"error\":\"the answer is over 16 MiB\",\"code\":\"too-large\"}";
	_cleanup_(freep) char *text = reply ? json_dumps(reply, JSON_COMPACT) : NULL;
	const char *line = text ? text : no_memory;

	json_decref(reply);
	if (strlen(line) + 1 > CTL_REPLY_MAX)
		line = too_large;
	free(client->request);
	client->request = NULL;
	client->reply = string_format("%s\n", line);
	if (!client->reply) {
		client_free(ctl, client);
		return;
	}
	client->reply_size = strlen(client->reply);
	client->state = CLIENT_WRITES_REPLY;
	client->deadline = now_ms() + ctl->options.timeout_ms;
	watch(ctl, client, EPOLLOUT);
}

void ctl_reply(struct ctl *ctl, uint64_t id, json_t *reply)
{
	struct client *client = find_client(ctl, id);

	if (client && client->state == CLIENT_WAITS)
		set_reply(ctl, client, reply);
	else
		json_decref(reply);
}

static void refuse(struct ctl *ctl, struct client *client, const char *text)
{
	set_reply(ctl, client, status_error_json("request", text, NULL));
}

static void run_request(struct ctl *ctl, struct client *client, size_t size)
{
	struct verbs_call call = { .callbacks = &ctl->options.callbacks,
		.context = ctl->options.context,
		.client = client->id,
		.may_change = client->uid == 0 || client->uid == ctl->options.owner };
	uint64_t id = client->id;
	bool pending = false;
	json_t *reply;

	client->state = CLIENT_WAITS;
	client->deadline = NEVER;
	watch(ctl, client, 0);
	reply = verbs_run(&call, client->request, size, &pending);
	if (!pending)
		ctl_reply(ctl, id, reply);
}

/* Room for more of the request: at most CTL_REQUEST_MAX and the line break. */
static bool grow_request(struct client *client)
{
	size_t wanted = client->request_capacity ? client->request_capacity * 2 : 512;
	char *grown;

	if (client->request_size < client->request_capacity)
		return true;
	if (wanted > CTL_REQUEST_MAX + 1)
		wanted = CTL_REQUEST_MAX + 1;
	grown = realloc(client->request, wanted);
	if (!grown)
		return false;
	client->request = grown;
	client->request_capacity = wanted;
	return true;
}

static void take_bytes(struct ctl *ctl, struct client *client, size_t size)
{
	char *fresh = client->request + client->request_size;
	char *end = memchr(fresh, '\n', size);

	client->request_size += size;
	if (memchr(fresh, '\0', size))
		refuse(ctl, client, "the request has a NUL byte");
	else if (!end && client->request_size > CTL_REQUEST_MAX)
		refuse(ctl, client, "the request is over 64 KiB");
	else if (end && end + 1 != client->request + client->request_size)
		refuse(ctl, client, "the request is more than one line");
	else if (end)
		run_request(ctl, client, (size_t)(end - client->request));
}

static void read_request(struct ctl *ctl, struct client *client)
{
	uint64_t id = client->id;

	while (client && client->state == CLIENT_READS_REQUEST) {
		ssize_t size;

		if (!grow_request(client)) {
			client_free(ctl, client);
			return;
		}
		size = recv(client->fd, client->request + client->request_size,
			client->request_capacity - client->request_size, 0);
		if (size < 0 && errno == EINTR)
			continue;
		if (size < 0 && errno == EAGAIN)
			return;
		if (size <= 0) {
			client_free(ctl, client);
			return;
		}
		take_bytes(ctl, client, (size_t)size);
		client = find_client(ctl, id);
	}
}

static void write_reply(struct ctl *ctl, struct client *client)
{
	while (client->sent < client->reply_size) {
		ssize_t size = send(client->fd, client->reply + client->sent,
			client->reply_size - client->sent, MSG_NOSIGNAL);

		if (size < 0 && errno == EINTR)
			continue;
		if (size < 0 && errno == EAGAIN)
			return;
		if (size < 0)
			break;
		client->sent += (size_t)size;
		client->deadline = now_ms() + ctl->options.timeout_ms;
	}
	client_free(ctl, client);
}

static void handle_client(struct ctl *ctl, struct client *client, uint32_t events)
{
	if (client->state == CLIENT_READS_REQUEST)
		read_request(ctl, client);
	else if (client->state == CLIENT_WRITES_REPLY)
		write_reply(ctl, client);
	else if (events & (EPOLLHUP | EPOLLERR))
		client_free(ctl, client);
}

static bool has_too_many(struct ctl *ctl, uid_t uid)
{
	struct client *client;
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
	struct client *client = NULL;
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
	client->deadline = now_ms() + ctl->options.timeout_ms;
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
		int fd = accept4(ctl->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

		if (fd >= 0) {
			add_client(ctl, fd);
			continue;
		}
		if (errno == EINTR || errno == ECONNABORTED)
			continue;
		if (errno != EAGAIN) {
			listen_again(ctl, false);
			ctl->resume_at = now_ms() + ACCEPT_PAUSE_MS;
		}
		return;
	}
	listen_again(ctl, false);
}

static void expire(struct ctl *ctl)
{
	int64_t now = now_ms();
	struct client *client = LIST_FIRST(&ctl->clients);

	while (client) {
		struct client *next = LIST_NEXT(client, link);

		if (client->deadline <= now) {
			if (client->state == CLIENT_READS_REQUEST)
				refuse(ctl, client, "the request was not complete in time");
			else
				client_free(ctl, client);
		}
		client = next;
	}
	if (ctl->resume_at <= now)
		listen_again(ctl, true);
}

void ctl_dispatch(struct ctl *ctl)
{
	struct epoll_event events[32];
	int count = epoll_wait(ctl->epoll, events, ARRAY_SIZE(events), 0);

	for (int i = 0; i < count; i++) {
		struct client *client = find_client(ctl, events[i].data.u64);

		if (events[i].data.u64 == LISTENER)
			accept_clients(ctl);
		else if (client)
			handle_client(ctl, client, events[i].events);
	}
	expire(ctl);
}

int ctl_fd(const struct ctl *ctl)
{
	return ctl->epoll;
}

int ctl_timeout(const struct ctl *ctl)
{
	int64_t deadline = ctl->resume_at, left;
	const struct client *client;

	LIST_FOREACH (client, &ctl->clients, link)
		if (client->deadline < deadline)
			deadline = client->deadline;
	if (deadline == NEVER)
		return -1;
	left = deadline - now_ms();
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
	ctl->listener = ctlsocket_listen(ctl->path, &ctl->identity);
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
	ctl->resume_at = NEVER;
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
		client_free(ctl, LIST_FIRST(&ctl->clients));
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
