/* SPDX-License-Identifier: MIT */
/* ctl: clients that want too much, too slowly, or what is not theirs. */
#include "ctl_fixture.h"

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_size_limit),
		TEST(test_half_request),
		TEST(test_client_that_does_not_read),
		TEST(test_many_connections),
		TEST(test_no_descriptors_left),
		TEST(test_only_root_and_owner_change),
		TEST(test_one_user_cannot_fill_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
