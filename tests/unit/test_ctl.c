/* SPDX-License-Identifier: MIT */
#include "../compat/cmocka.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ctl.h"
#include "ctlsocket.h"
#include "generation_builder.h"

#define TIMEOUT_MS 300

/* A daemon: one generation, changes that are answered when the test says so. */
struct fixture {
	char directory[64];
	char *path;
	struct ctl *ctl;
	struct generation *generation;
	uint64_t waiting; /* the client of a change */
	char mode[16];
};

static struct generation *on_current(void *context)
{
	struct fixture *fixture = context;

	return generation_ref(fixture->generation);
}

static int on_runtime(void *context, struct status_runtime *ret_runtime)
{
	(void)context;
	ret_runtime->pid = 42;
	return 0;
}

static int on_reload(void *context, uint64_t client)
{
	struct fixture *fixture = context;

	fixture->waiting = client;
	return 0;
}

static int on_compat(void *context, const char *mode, uint64_t client)
{
	struct fixture *fixture = context;

	strcpy(fixture->mode, mode ? mode : "reset");
	fixture->waiting = client;
	return 0;
}

static const struct ctl_options defaults = {
	.timeout_ms = TIMEOUT_MS,
	.callbacks = { on_current, on_runtime, on_reload, on_compat },
};

static int make_fixture(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));
	struct ctl_options options = defaults;

	strcpy(fixture->directory, "/tmp/test_ctl.XXXXXX");
	if (!mkdtemp(fixture->directory))
		return -1;
	chmod(fixture->directory, 0755);
	fixture->path = string_format("%s/sub/x.sock", fixture->directory);
	fixture->generation = builder_generation();
	options.path = fixture->path;
	options.context = fixture;
	options.owner = getuid();
	*state = fixture;
	return ctl_new(&options, &fixture->ctl);
}

static int free_fixture(void **state)
{
	struct fixture *fixture = *state;
	_cleanup_(freep) char *sub = string_format("%s/sub", fixture->directory);
	int left;

	ctl_free(fixture->ctl);
	generation_unref(fixture->generation);
	left = rmdir(sub) < 0 || rmdir(fixture->directory) < 0;
	free(fixture->path);
	free(fixture);
	return left;
}

/* The main loop until nothing is ready; with `wait`, until no client waits for anything any more.
 */
static void turn(struct fixture *fixture, bool wait)
{
	struct pollfd poll_fd = { .fd = ctl_fd(fixture->ctl), .events = POLLIN };
	int timeout = 0;

	do {
		int ready = poll(&poll_fd, 1, timeout);

		ctl_dispatch(fixture->ctl);
		if (!wait && ready == 0)
			return;
		timeout = wait ? ctl_timeout(fixture->ctl) : 0;
	} while (timeout >= 0);
}

static int connect_to(struct fixture *fixture)
{
	int fd = ctlsocket_connect(fixture->path);

	assert_true(fd >= 0);
	assert_int_equal(fcntl(fd, F_SETFL, O_NONBLOCK), 0);
	return fd;
}

/* What has arrived, up to the end of the stream; "" for nothing. */
static char *receive(int fd)
{
	static char text[65536];
	size_t size = 0;
	ssize_t got;

	while ((got = recv(fd, text + size, sizeof(text) - 1 - size, 0)) > 0)
		size += (size_t)got;
	text[size] = '\0';
	return text;
}

static char *ask(struct fixture *fixture, const char *request, size_t size)
{
	int fd = connect_to(fixture);
	char *reply;

	assert_int_equal(send(fd, request, size, MSG_NOSIGNAL), size);
	turn(fixture, false);
	reply = receive(fd);
	close(fd);
	return reply;
}

#define REQUEST(text) text, sizeof(text) - 1

static const struct {
	const char *request;
	size_t size;
	const char *reply; /* a part of it */
} requests[] = {
	{ REQUEST("{\"v\":1,\"verb\":\"status\"}\n"), "\"pid\":42" },
	{ REQUEST("{\"v\":1,\"verb\":\"list\",\"path\":\"lib\"}\n"), "lib/libcuda.so.1.1" },
	{ REQUEST("{\"v\":1,\"verb\":\"facts\"}\n"),
		"\"name\":\"host-cuda\",\"value\":\"11.4\",\"source\":\"table\"" },
	{ REQUEST("{\"v\":1,\"verb\":\"list\",\"path\":\"nope\"}\n"), "\"code\":\"missing\"" },
	{ REQUEST("{\"v\":1,\"verb\":\"explain\",\"name\":\"libcuda.so.1\"}\n"), "\"found\":true" },
	{ REQUEST("{\"v\":1,\"verb\":\"explain\"}\n"), "\"code\":\"request\"" },
	{ REQUEST("{\"v\":1,\"verb\":\"compat\"}\n"), "\"code\":\"request\"" },
	{ REQUEST("{\"v\":1,\"verb\":\"compat\",\"mode\":\"maybe\"}\n"), "\"code\":\"request\"" },
	{ REQUEST("{\"v\":1,\"verb\":\"stop\"}\n"), "unknown verb" },
	{ REQUEST("{\"v\":1,\"verb\":7}\n"), "unknown verb" },
	{ REQUEST("{\"v\":2,\"verb\":\"status\"}\n"), "version 1" },
	{ REQUEST("{\"verb\":\"status\"}\n"), "version 1" },
	{ REQUEST("[]\n"), "not a JSON object" },
	{ REQUEST("\n"), "not a JSON object" },
	{ REQUEST("{\"v\":1,\n"), "not a JSON object" },
	{ REQUEST("{\"v\":1,\"verb\":\"sta\xff\xfetus\"}\n"), "not a JSON object" },
	{ REQUEST("{\"v\":1,\"verb\":\"status\"}\0\n"), "NUL byte" },
	{ REQUEST("{\"v\":1,\"verb\":\"sta\\u0000tus\"}\n"), "not a JSON object" },
	{ REQUEST("{\"v\":1,\"verb\":\"status\"}\n{\"v\":1}\n"), "more than one line" },
	{ REQUEST("{\"v\":1,\"v\":1,\"verb\":\"status\"}\n"), "not a JSON object" },
};

static void test_requests(void **state)
{
	struct fixture *fixture = *state;

	for (size_t i = 0; i < ARRAY_SIZE(requests); i++) {
		const char *reply = ask(fixture, requests[i].request, requests[i].size);

		if (!strstr(reply, requests[i].reply) || !string_has_suffix(reply, "}\n"))
			fail_msg("%s: got %s", requests[i].request, reply);
		assert_int_equal(ctl_timeout(fixture->ctl), -1);
	}
}

static void test_size_limit(void **state)
{
	struct fixture *fixture = *state;
	static char request[CTL_REQUEST_MAX + 2];
	static const char head[] = "{\"v\":1,\"verb\":\"status\"}";

	memset(request, ' ', sizeof(request));
	memcpy(request, head, sizeof(head) - 1);
	request[CTL_REQUEST_MAX] = '\n';
	assert_non_null(strstr(ask(fixture, request, CTL_REQUEST_MAX + 1), "\"pid\":42"));
	request[CTL_REQUEST_MAX] = ' ';
	request[CTL_REQUEST_MAX + 1] = '\n';
	assert_non_null(strstr(ask(fixture, request, sizeof(request)), "over 64 KiB"));
}

static void test_bytes_one_by_one(void **state)
{
	struct fixture *fixture = *state;
	static const char request[] = "{\"v\":1,\"verb\":\"status\"}\n";
	int fd = connect_to(fixture);

	for (size_t i = 0; i < sizeof(request) - 1; i++) {
		assert_int_equal(send(fd, request + i, 1, 0), 1);
		turn(fixture, false);
	}
	assert_non_null(strstr(receive(fd), "\"pid\":42"));
	close(fd);
}

static void test_half_request(void **state)
{
	struct fixture *fixture = *state;
	int slow = connect_to(fixture), gone = connect_to(fixture), silent = connect_to(fixture);

	assert_int_equal(send(slow, "{\"v\":1", 6, 0), 6);
	assert_int_equal(send(gone, "{\"v\":1", 6, 0), 6);
	close(gone);
	turn(fixture, false);
	assert_in_range(ctl_timeout(fixture->ctl), 1, TIMEOUT_MS);
	assert_string_equal(receive(slow), "");
	turn(fixture, true);
	assert_non_null(strstr(receive(slow), "not complete in time"));
	assert_non_null(strstr(receive(silent), "not complete in time"));
	close(slow);
	close(silent);
	turn(fixture, false);
	assert_int_equal(ctl_timeout(fixture->ctl), -1);
}

static void test_client_that_does_not_read(void **state)
{
	struct fixture *fixture = *state;
	static const char request[] = "{\"v\":1,\"verb\":\"list\",\"recursive\":true}\n";
	int fd = connect_to(fixture);

	for (int i = 0; i < 4000; i++)
		layer_add_rejection(fixture->generation->layers[0], "/c/long/path/of/a/library.so",
			"%0200d", i);
	assert_int_equal(send(fd, "{\"v\":1,\"verb\":\"status\"}\n", 24, 0), 24);
	turn(fixture, false);
	assert_in_range(ctl_timeout(fixture->ctl), 1, TIMEOUT_MS);
	assert_non_null(strstr(ask(fixture, request, sizeof(request) - 1), "lib/libcuda.so.1"));
	turn(fixture, true);
	assert_int_equal(ctl_timeout(fixture->ctl), -1);
	close(fd);
}

static void test_too_large_reply(void **state)
{
	struct fixture *fixture = *state;
	_cleanup_(freep) char *text = malloc(CTL_REPLY_MAX + 1);
	int fd = connect_to(fixture);

	memset(text, 'x', CTL_REPLY_MAX);
	text[CTL_REPLY_MAX] = '\0';
	assert_int_equal(send(fd, "{\"v\":1,\"verb\":\"reload\"}\n", 24, 0), 24);
	turn(fixture, false);
	ctl_reply(fixture->ctl, fixture->waiting, json_string(text));
	turn(fixture, false);
	assert_non_null(strstr(receive(fd), "out of memory"));
	close(fd);
	fd = connect_to(fixture);
	assert_int_equal(send(fd, "{\"v\":1,\"verb\":\"reload\"}\n", 24, 0), 24);
	turn(fixture, false);
	ctl_reply(fixture->ctl, fixture->waiting, json_pack("{s:s}", "a", text));
	turn(fixture, false);
	assert_non_null(strstr(receive(fd), "too-large"));
	close(fd);
}

static void test_change_is_answered_later(void **state)
{
	struct fixture *fixture = *state;
	static const char request[] = "{\"v\":1,\"verb\":\"compat\",\"mode\":\"on\"}\n";
	int fd = connect_to(fixture);

	assert_int_equal(send(fd, request, sizeof(request) - 1, 0), sizeof(request) - 1);
	turn(fixture, false);
	assert_string_equal(fixture->mode, "on");
	assert_int_equal(ctl_timeout(fixture->ctl), -1);
	assert_string_equal(receive(fd), "");
	ctl_reply(fixture->ctl, fixture->waiting + 100, json_object());
	ctl_reply(fixture->ctl, fixture->waiting, status_change_json(fixture->generation, true));
	ctl_reply(fixture->ctl, fixture->waiting, json_object());
	turn(fixture, false);
	assert_non_null(strstr(receive(fd), "\"changed\":true"));
	close(fd);
}

static void test_client_gone_before_the_answer(void **state)
{
	struct fixture *fixture = *state;
	static const char request[] = "{\"v\":1,\"verb\":\"compat\",\"mode\":\"reset\"}\n";
	int fd = connect_to(fixture);

	assert_int_equal(send(fd, request, sizeof(request) - 1, 0), sizeof(request) - 1);
	turn(fixture, false);
	assert_string_equal(fixture->mode, "reset");
	close(fd);
	turn(fixture, false);
	ctl_reply(fixture->ctl, fixture->waiting, json_object());
	turn(fixture, false);
	assert_int_equal(ctl_timeout(fixture->ctl), -1);
}

static int connect_raw(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	strcpy(address.sun_path, path);
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0)
		return fd;
	close(fd);
	return -1;
}

static void test_many_connections(void **state)
{
	struct fixture *fixture = *state;
	static int fds[1000];
	size_t refused = 0;

	for (size_t i = 0; i < ARRAY_SIZE(fds); i++) {
		fds[i] = connect_raw(fixture->path);
		refused += fds[i] < 0;
		if (i % 10 == 0)
			turn(fixture, false);
	}
	/* 64 are served, the backlog holds some, the rest was refused by the kernel. */
	assert_in_range(refused, 700, 900);
	turn(fixture, false);
	for (size_t i = 0; i < ARRAY_SIZE(fds); i++)
		if (fds[i] >= 0)
			close(fds[i]);
	turn(fixture, false);
	assert_int_equal(ctl_timeout(fixture->ctl), -1);
	assert_non_null(
		strstr(ask(fixture, REQUEST("{\"v\":1,\"verb\":\"status\"}\n")), "\"pid\":42"));
}

static void test_no_descriptors_left(void **state)
{
	struct fixture *fixture = *state;
	struct rlimit before, low;
	int fd = connect_to(fixture);
	int lowest = dup(fd);

	close(lowest);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	low = before;
	low.rlim_cur = (rlim_t)lowest;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &low), 0);
	turn(fixture, false);
	assert_in_range(ctl_timeout(fixture->ctl), 0, 200);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	assert_int_equal(send(fd, "{\"v\":1,\"verb\":\"status\"}\n", 24, 0), 24);
	turn(fixture, true); /* until it listens again */
	turn(fixture, false);
	assert_non_null(strstr(receive(fd), "\"pid\":42"));
	close(fd);
}

/* Sends the request as another user, who holds `held` idle connections. Returns 0 where the reply
 * has the part. */
static int as_other(struct fixture *fixture, int held, const char *request, const char *part)
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		char reply[65536];
		size_t size = 0;
		ssize_t got;
		int fd;

		alarm(10);
		if (setgid(65534) < 0 || setuid(65534) < 0)
			_exit(2);
		while (held-- > 0)
			if (ctlsocket_connect(fixture->path) < 0)
				_exit(5);
		fd = ctlsocket_connect(fixture->path);
		if (fd < 0 || send(fd, request, strlen(request), 0) < 0)
			_exit(3);
		while ((got = recv(fd, reply + size, sizeof(reply) - 1 - size, 0)) > 0)
			size += (size_t)got;
		reply[size] = '\0';
		_exit(strstr(reply, part) ? 0 : 4);
	}
	while (waitpid(pid, &status, WNOHANG) == 0)
		turn(fixture, false);
	return WEXITSTATUS(status);
}

static void test_only_root_and_owner_change(void **state)
{
	struct fixture *fixture = *state;

	if (getuid() != 0)
		skip();
	assert_int_equal(as_other(fixture, 0, "{\"v\":1,\"verb\":\"status\"}\n", "\"pid\":42"), 0);
	assert_int_equal(as_other(fixture, 0, "{\"v\":1,\"verb\":\"reload\"}\n", "\"denied\""), 0);
	assert_int_equal(as_other(fixture, 0, "{\"v\":1,\"verb\":\"compat\",\"mode\":\"on\"}\n",
				 "\"code\":\"denied\""),
		0);
	assert_int_equal(fixture->waiting, 0);
}

static void test_one_user_cannot_fill_it(void **state)
{
	static const char request[] = "{\"v\":1,\"verb\":\"status\"}\n";
	struct fixture *fixture = *state;

	if (getuid() != 0)
		skip();
	assert_int_equal(as_other(fixture, 7, request, "\"pid\":42"), 0);
	assert_int_equal(as_other(fixture, 8, request, "\"code\":\"busy\""), 0);
	turn(fixture, false);
	assert_int_equal(ctl_timeout(fixture->ctl), -1);
}

static void test_sockets(void **state)
{
	struct fixture *fixture = *state;
	struct ctl_options options = defaults;
	_cleanup_(freep) char *file = string_format("%s/sub/file", fixture->directory);
	_cleanup_(freep) char *renamed = string_format("%s/sub/old", fixture->directory);
	struct ctl *second = NULL;
	struct stat status;
	int fd;

	assert_int_equal(stat(fixture->path, &status), 0);
	assert_int_equal(status.st_mode & 0777, 0666);
	options.path = fixture->path;
	assert_int_equal(ctl_new(&options, &second), -EADDRINUSE);
	turn(fixture, false);

	fd = open(file, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	close(fd);
	options.path = file;
	assert_int_equal(ctl_new(&options, &second), -ENOTSOCK);
	unlink(file);

	/* A dead daemon's socket is replaced, and is left alone by the one that lost it. */
	assert_int_equal(rename(fixture->path, renamed), 0);
	ctl_free(fixture->ctl);
	assert_int_equal(rename(renamed, fixture->path), 0);
	assert_int_equal(ctlsocket_connect(fixture->path), -ECONNREFUSED);
	options.path = fixture->path;
	options.context = fixture;
	assert_int_equal(ctl_new(&options, &fixture->ctl), 0);
	assert_non_null(
		strstr(ask(fixture, REQUEST("{\"v\":1,\"verb\":\"status\"}\n")), "\"pid\":42"));
}

static void test_long_path(void **state)
{
	struct fixture *fixture = *state;
	struct ctl_options options = defaults;
	struct ctl *second = NULL;
	char name[201];
	_cleanup_(freep) char *path = NULL;
	int fd;

	memset(name, 'n', 200);
	name[200] = '\0';
	path = string_format("%s/sub/%s.sock", fixture->directory, name);
	options.path = path;
	assert_int_equal(ctl_new(&options, &second), 0);
	fd = ctlsocket_connect(path);
	assert_true(fd >= 0);
	close(fd);
	ctl_free(second);
	assert_int_equal(ctlsocket_connect(path), -ENOENT);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, make_fixture, free_fixture)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_requests),
		TEST(test_size_limit),
		TEST(test_bytes_one_by_one),
		TEST(test_half_request),
		TEST(test_client_that_does_not_read),
		TEST(test_too_large_reply),
		TEST(test_change_is_answered_later),
		TEST(test_client_gone_before_the_answer),
		TEST(test_many_connections),
		TEST(test_no_descriptors_left),
		TEST(test_only_root_and_owner_change),
		TEST(test_one_user_cannot_fill_it),
		TEST(test_sockets),
		TEST(test_long_path),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
