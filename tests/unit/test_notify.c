/* SPDX-License-Identifier: MIT */
#include "../compat/cmocka.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "in_child.h"
#include "notify.h"
#include "util.h"

static const char *const variables[] = {
	"NOTIFY_SOCKET",
	"WATCHDOG_USEC",
	"WATCHDOG_PID",
	"FDSTORE",
	"LISTEN_PID",
	"LISTEN_FDS",
	"LISTEN_FDNAMES",
};

/* "me" stands for this process' number. */
static void set(const char *name, const char *value)
{
	char pid[16];

	snprintf(pid, sizeof(pid), "%d", (int)getpid());
	if (value)
		setenv(name, strcmp(value, "me") == 0 ? pid : value, 1);
	else
		unsetenv(name);
}

struct environment {
	const char *values[4]; /* of the first variables */
	bool listens;
	bool has_store;
	unsigned watchdog_ms;
};

static void check_environment(const void *context)
{
	const struct environment *row = context;

	for (size_t i = 0; i < ARRAY_SIZE(variables); i++)
		set(variables[i], i < 4 ? row->values[i] : NULL);
	notify_open();
	notify_open();
	for (size_t i = 0; i < ARRAY_SIZE(variables); i++)
		CHECK(!getenv(variables[i]));
	CHECK(notify_listens() == row->listens);
	CHECK(notify_has_store() == row->has_store);
	CHECK(notify_watchdog_ms() == row->watchdog_ms);
	notify_leave();
	for (size_t i = 0; i < 3; i++)
		CHECK(!getenv(variables[i]) == !row->values[i]);
	CHECK(!row->listens || strcmp(getenv("NOTIFY_SOCKET"), row->values[0]) == 0);
}

static void test_environment(void **state)
{
	static const struct environment rows[] = {
		{ { NULL }, false, false, 0 },
		{ { "/run/x" }, true, false, 0 },
		{ { "@x", "20000000", "me", "16" }, true, true, 10000 },
		{ { "@x", "20000000" }, true, false, 10000 },
		{ { "@x", "20000000", "1", "0" }, true, false, 0 },
		{ { "@x", "0", "me", "word" }, true, false, 0 },
		{ { "@x", "18446744073709551615", "me" }, true, false, 0 },
		{ { NULL, "3000", "me", "16" }, false, false, 1 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		in_child(check_environment, &rows[i]);
}

struct passed {
	const char *pid;
	const char *count;
	const char *names; /* of the files 3 … 6, which are there */
	const char *taken; /* in order: which file each of "a", "a", "b" gives; '-': none */
	const char *left;  /* those of 3 … 6 that are open after notify_close_rest */
};

static char take_digit(const char *name)
{
	int fd = notify_take(name);
	char digit = '-';

	if (fd < 0)
		return digit;
	CHECK(fcntl(fd, F_GETFD) == FD_CLOEXEC);
	CHECK(pread(fd, &digit, 1, 0) == 1);
	return digit;
}

static void check_passed(const void *context)
{
	const struct passed *row = context;
	char taken[4] = { 0 }, left[5] = { 0 };
	size_t n = 0;

	for (int fd = 3; fd < 40; fd++)
		close(fd);
	for (int fd = 3; fd <= 6; fd++) {
		char digit = (char)('0' + fd);

		CHECK(memfd_create("passed", 0) == fd);
		CHECK(pwrite(fd, &digit, 1, 0) == 1);
	}
	set("LISTEN_PID", row->pid);
	set("LISTEN_FDS", row->count);
	set("LISTEN_FDNAMES", row->names);
	notify_open();
	taken[0] = take_digit("a");
	taken[1] = take_digit("a");
	taken[2] = take_digit("b");
	CHECK(strcmp(taken, row->taken) == 0);
	notify_close_rest();
	for (int fd = 3; fd <= 6; fd++)
		if (fcntl(fd, F_GETFD) >= 0)
			left[n++] = (char)('0' + fd);
	CHECK(strcmp(left, row->left) == 0);
	CHECK(notify_take("a") == -1);
	for (size_t i = 0; i < ARRAY_SIZE(variables); i++)
		CHECK(!getenv(variables[i]));
}

static void test_passed(void **state)
{
	static const struct passed rows[] = {
		{ NULL, NULL, NULL, "---", "3456" },
		{ "me", "4", "a:b:a:c", "354", "345" },
		{ "me", "3", "b:a:c", "4-3", "346" },
		{ "me", "2", "a", "3--", "356" },
		{ "me", "2", NULL, "---", "56" },
		{ "me", "9", "x:a:y:b:a", "4-6", "46" },
		{ "me", "0", "a:b", "---", "3456" },
		{ "me", "-1", "a:b", "---", "3456" },
		{ "me", "99999999999", "a:b", "---", "3456" },
		{ "1", "4", "a:b:a:c", "---", "3456" },
		{ NULL, "4", "a:b:a:c", "---", "3456" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		in_child(check_passed, &rows[i]);
}

/* A service manager's socket. */
struct manager {
	char directory[32];
	char address[64];
	int fd;
};

static void manager_start(struct manager *manager, bool abstract)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	size_t size;

	*manager = (struct manager){ .directory = "/tmp/notify.XXXXXX" };
	assert_non_null(mkdtemp(manager->directory));
	snprintf(manager->address, sizeof(manager->address), "%s%s/s", abstract ? "@" : "",
		manager->directory);
	size = strlen(manager->address);
	memcpy(address.sun_path, manager->address, size);
	if (abstract)
		address.sun_path[0] = '\0';
	manager->fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	assert_return_code(bind(manager->fd, (struct sockaddr *)&address,
				   (socklen_t)(offsetof(struct sockaddr_un, sun_path) + size)),
		errno);
}

static void manager_stop(struct manager *manager)
{
	close(manager->fd);
	if (manager->address[0] == '/')
		unlink(manager->address);
	assert_return_code(rmdir(manager->directory), errno);
}

/* Expects a datagram, and with it the file that says `content`, or none. */
static void manager_expect(const struct manager *manager, const char *text, const char *content)
{
	char data[256] = { 0 }, found[16] = { 0 };
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int) * 4)];
	} control;
	struct iovec part = { data, sizeof(data) - 1 };
	struct msghdr message = {
		.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control),
	};
	const struct cmsghdr *header;

	assert_return_code(recvmsg(manager->fd, &message, 0), errno);
	assert_string_equal(data, text);
	header = CMSG_FIRSTHDR(&message);
	assert_int_equal(header != NULL, content != NULL);
	if (header) {
		int fd;

		assert_int_equal(header->cmsg_len, CMSG_LEN(sizeof(int)));
		memcpy(&fd, CMSG_DATA(header), sizeof(int));
		assert_true(pread(fd, found, sizeof(found) - 1, 0) > 0);
		assert_string_equal(found, content);
		close(fd);
	}
}

static void talk(const void *context)
{
	int fd = memfd_create("kept", MFD_CLOEXEC);

	set("NOTIFY_SOCKET", context);
	CHECK(pwrite(fd, "content", 7, 0) == 7);
	CHECK(notify_send("not yet open") == 0);
	notify_open();
	CHECK(notify_send("READY=1\nSTATUS=fine") == 0);
	CHECK(notify_store("gl-state", fd) == 0);
	CHECK(notify_unstore("gl-state") == 0);
	/* Nothing but the standard ones and the file is open. */
	CHECK(dup(fd) == fd + 1);
}

static void test_talk(void **state)
{
	(void)state;
	for (int abstract = 0; abstract < 2; abstract++) {
		struct manager manager;

		manager_start(&manager, abstract);
		in_child(talk, manager.address);
		manager_expect(&manager, "READY=1\nSTATUS=fine", NULL);
		manager_expect(&manager, "FDSTORE=1\nFDNAME=gl-state", "content");
		manager_expect(&manager, "FDSTOREREMOVE=1\nFDNAME=gl-state", NULL);
		assert_int_equal(recv(manager.fd, (char[1]){ 0 }, 1, 0), -1);
		manager_stop(&manager);
	}
}

struct failure {
	const char *address;
	int error;
};

static void fail_to_send(const void *context)
{
	const struct failure *row = context;

	set("NOTIFY_SOCKET", row->address);
	notify_open();
	CHECK(notify_send("READY=1") == row->error);
	CHECK(notify_store("name", 0) == row->error);
	CHECK(notify_unstore("name") == row->error);
}

static void test_failures(void **state)
{
	static char longest[200];
	static const struct failure rows[] = {
		{ NULL, 0 },
		{ "", -EINVAL },
		{ "relative", -EINVAL },
		{ "vsock:2:1", -EINVAL },
		{ longest, -EINVAL },
		{ "/nonexistent/socket", -ENOENT },
		{ "@nobody listens here", -ECONNREFUSED },
	};

	(void)state;
	memset(longest, 'x', sizeof(longest) - 1);
	longest[0] = '/';
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		in_child(fail_to_send, &rows[i]);
}

/* A manager that is stuck: the first that finds no room waits, but not for ever. */
static void fill(const void *context)
{
	int error = 0;

	set("NOTIFY_SOCKET", context);
	notify_open();
	alarm(60);
	for (int i = 0; i < 10000 && error == 0; i++)
		error = notify_send("WATCHDOG=1");
	CHECK(error == -EAGAIN);
}

static void test_stuck(void **state)
{
	struct manager manager;

	(void)state;
	manager_start(&manager, false);
	in_child(fill, manager.address);
	manager_stop(&manager);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_environment),
		cmocka_unit_test(test_passed),
		cmocka_unit_test(test_talk),
		cmocka_unit_test(test_failures),
		cmocka_unit_test(test_stuck),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
