/* SPDX-License-Identifier: MIT */
#include "ctl_fixture.h"

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_requests),
		TEST(test_bytes_one_by_one),
		TEST(test_too_large_reply),
		TEST(test_change_is_answered_later),
		TEST(test_client_gone_before_the_answer),
		TEST(test_sockets),
		TEST(test_long_path),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
