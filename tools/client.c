/* SPDX-License-Identifier: MIT */
#include "client.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "ctl.h"
#include "ctlsocket.h"
#include "report.h"

#define READ_TIMEOUT_S 30

static int connect_to(const struct find_target *target, int *ret_fd)
{
	_cleanup_(closep) int fd = ctlsocket_connect(target->socket);
	uid_t peer;

	if (fd < 0)
		return tool_fail(TOOL_NO_DAEMON, "no daemon answers at %s: %s", target->socket,
			strerror(-fd));
	if (ctlsocket_peer(fd, &peer) < 0)
		return tool_fail(TOOL_FAILED, "cannot tell who listens at %s", target->socket);
	if (peer != 0 && peer != getuid() && !(getuid() == 0 && peer == target->owner))
		return tool_fail(TOOL_FAILED, "%s belongs to uid %u, which is not to be trusted",
			target->socket, peer);
	*ret_fd = steal_fd(&fd);
	return TOOL_DONE;
}

static void send_all(int fd, const char *text, size_t size)
{
	while (size > 0) {
		ssize_t sent = send(fd, text, size, MSG_NOSIGNAL);

		if (sent < 0 && errno == EINTR)
			continue;
		/* A daemon that refuses the connection has closed it: its reply says why. */
		if (sent < 0)
			return;
		text += sent;
		size -= (size_t)sent;
	}
}

/* Reads up to the line break. Returns 0, -EPROTO: no whole line or too long, or -errno. */
static int receive_line(int fd, char **ret_line, size_t *ret_size)
{
	_cleanup_(freep) char *line = NULL;
	size_t size = 0, capacity = 0;

	for (;;) {
		ssize_t got;

		if (size == capacity) {
			char *grown;

			if (capacity >= CTL_REPLY_MAX)
				return -EPROTO;
			capacity = capacity ? capacity * 2 : 16 * 1024;
			grown = realloc(line, capacity);
			if (!grown)
				return -ENOMEM;
			line = grown;
		}
		got = recv(fd, line + size, capacity - size, 0);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return errno == EAGAIN ? -ETIMEDOUT : -errno;
		if (got == 0)
			return -EPROTO;
		size += (size_t)got;
		if (line[size - 1] == '\n')
			break;
	}
	*ret_size = size - 1;
	*ret_line = steal_pointer(line);
	return 0;
}

int client_request(
	const struct find_target *target, json_t *request, bool change, json_t **ret_reply)
{
	_cleanup_(jsonhelp_decrefp) json_t *taken = request;
	_cleanup_(closep) int fd = -1;
	_cleanup_(freep) char *text = NULL;
	_cleanup_(freep) char *line = NULL;
	_cleanup_(freep) char *reply = NULL;
	const struct timeval patience = { .tv_sec = change ? 0 : READ_TIMEOUT_S };
	json_t *object;
	size_t size = 0;
	int r;

	if (!taken || json_object_set_new(taken, "v", json_integer(1)) < 0 ||
		!(text = json_dumps(taken, JSON_COMPACT)) || !(line = string_format("%s\n", text)))
		return tool_fail(TOOL_FAILED, "out of memory");
	r = connect_to(target, &fd);
	if (r != TOOL_DONE)
		return r;
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	send_all(fd, line, strlen(line));
	r = receive_line(fd, &reply, &size);
	if (r < 0)
		return tool_fail(TOOL_FAILED, "the daemon gave no answer: %s", strerror(-r));
	object = json_loadb(reply, size, 0, NULL);
	if (!json_is_object(object)) {
		json_decref(object);
		return tool_fail(TOOL_FAILED, "the daemon's answer is not JSON");
	}
	*ret_reply = object;
	return TOOL_DONE;
}

bool client_is_error(const struct tool *tool, const json_t *reply, int *ret_code)
{
	const char *error = jsonhelp_string(reply, "error");
	const char *code = jsonhelp_string(reply, "code");

	if (!error)
		return false;
	*ret_code = code && strcmp(code, "missing") == 0 ? TOOL_NO : TOOL_FAILED;
	if (tool->json) {
		tool_print_json(reply, *ret_code);
	} else {
		/* The first of the problems is not said twice. */
		if (report_exit(&(struct tool){ 0 }, json_object_get(reply, "problems")) == TOOL_NO)
			error = "refused, all stays as it was:";
		tool_fail(*ret_code, "%s", error);
		report_problems_to(stderr, false, json_object_get(reply, "problems"));
	}
	return true;
}

int client_ask(const struct tool *tool, json_t *request, bool change, json_t **ret_reply)
{
	struct find_target target = { 0 };
	json_t *reply = NULL;
	int code = find_daemon(tool, &target);

	if (code != TOOL_DONE) {
		json_decref(request);
		return code;
	}
	code = client_request(&target, request, change, &reply);
	find_target_clear(&target);
	if (code != TOOL_DONE)
		return code;
	if (client_is_error(tool, reply, &code)) {
		json_decref(reply);
		return code;
	}
	*ret_reply = reply;
	return TOOL_DONE;
}
