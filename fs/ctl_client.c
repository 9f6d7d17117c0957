/* SPDX-License-Identifier: MIT */
#include "ctl_client.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "verbs.h"

int64_t ctl_now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void watch(struct ctl *ctl, struct ctl_client *client, uint32_t events)
{
	struct epoll_event event = { .events = events, .data.u64 = client->id };

	epoll_ctl(ctl->epoll, EPOLL_CTL_MOD, client->fd, &event);
}

void ctl_client_free(struct ctl *ctl, struct ctl_client *client)
{
	LIST_REMOVE(client, link);
	ctl->n_clients--;
	close(client->fd);
	free(client->request);
	free(client->reply);
	free(client);
	ctl_listen(ctl, true);
}

struct ctl_client *ctl_client_find(const struct ctl *ctl, uint64_t id)
{
	struct ctl_client *client;

	LIST_FOREACH (client, &ctl->clients, link)
		if (client->id == id)
			return client;
	return NULL;
}

/* Gives the client its reply, which is written when the socket takes it. */
static void set_reply(struct ctl *ctl, struct ctl_client *client, json_t *reply)
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
		ctl_client_free(ctl, client);
		return;
	}
	client->reply_size = strlen(client->reply);
	client->state = CLIENT_WRITES_REPLY;
	client->deadline = ctl_now_ms() + ctl->options.timeout_ms;
	watch(ctl, client, EPOLLOUT);
}

void ctl_reply(struct ctl *ctl, uint64_t id, json_t *reply)
{
	struct ctl_client *client = ctl_client_find(ctl, id);

	if (client && client->state == CLIENT_WAITS)
		set_reply(ctl, client, reply);
	else
		json_decref(reply);
}

void ctl_client_refuse(struct ctl *ctl, struct ctl_client *client, const char *text)
{
	set_reply(ctl, client, status_error_json("request", text, NULL));
}

static void run_request(struct ctl *ctl, struct ctl_client *client, size_t size)
{
	struct verbs_call call = { .callbacks = &ctl->options.callbacks,
		.context = ctl->options.context,
		.client = client->id,
		.may_change = client->uid == 0 || client->uid == ctl->options.owner };
	uint64_t id = client->id;
	bool pending = false;
	json_t *reply;

	client->state = CLIENT_WAITS;
	client->deadline = CTL_NEVER;
	watch(ctl, client, 0);
	reply = verbs_run(&call, client->request, size, &pending);
	if (!pending)
		ctl_reply(ctl, id, reply);
}

/* Room for more of the request: at most CTL_REQUEST_MAX and the line break. */
static bool grow_request(struct ctl_client *client)
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

static void take_bytes(struct ctl *ctl, struct ctl_client *client, size_t size)
{
	char *fresh = client->request + client->request_size;
	char *end = memchr(fresh, '\n', size);

	client->request_size += size;
	if (memchr(fresh, '\0', size))
		ctl_client_refuse(ctl, client, "the request has a NUL byte");
	else if (!end && client->request_size > CTL_REQUEST_MAX)
		ctl_client_refuse(ctl, client, "the request is over 64 KiB");
	else if (end && end + 1 != client->request + client->request_size)
		ctl_client_refuse(ctl, client, "the request is more than one line");
	else if (end)
		run_request(ctl, client, (size_t)(end - client->request));
}

static void read_request(struct ctl *ctl, struct ctl_client *client)
{
	uint64_t id = client->id;

	while (client && client->state == CLIENT_READS_REQUEST) {
		ssize_t size;

		if (!grow_request(client)) {
			ctl_client_free(ctl, client);
			return;
		}
		size = recv(client->fd, client->request + client->request_size,
			client->request_capacity - client->request_size, 0);
		if (size < 0 && errno == EINTR)
			continue;
		if (size < 0 && errno == EAGAIN)
			return;
		if (size <= 0) {
			ctl_client_free(ctl, client);
			return;
		}
		take_bytes(ctl, client, (size_t)size);
		client = ctl_client_find(ctl, id);
	}
}

static void write_reply(struct ctl *ctl, struct ctl_client *client)
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
		client->deadline = ctl_now_ms() + ctl->options.timeout_ms;
	}
	ctl_client_free(ctl, client);
}

void ctl_client_handle(struct ctl *ctl, struct ctl_client *client, uint32_t events)
{
	if (client->state == CLIENT_READS_REQUEST)
		read_request(ctl, client);
	else if (client->state == CLIENT_WRITES_REPLY)
		write_reply(ctl, client);
	else if (events & (EPOLLHUP | EPOLLERR))
		ctl_client_free(ctl, client);
}
