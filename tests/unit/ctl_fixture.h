/* SPDX-License-Identifier: MIT */
/* ctl_fixture: a control socket with one generation behind it, and clients. */
#pragma once

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

#define TEST(function) cmocka_unit_test_setup_teardown(function, make_fixture, free_fixture)
