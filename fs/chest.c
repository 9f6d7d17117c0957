/* SPDX-License-Identifier: MIT */
#include "chest.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "util.h"

#define BATCH 253
struct message {
	uint64_t ids[BATCH];
	int fds[BATCH];
	size_t count;
};

int chest_new(struct chest *ret_chest)
{
	int pair[2], room = 64 * 1024 * 1024, less = 8 * 1024 * 1024;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) < 0)
		return -errno;
	if (setsockopt(pair[0], SOL_SOCKET, SO_SNDBUFFORCE, &room, sizeof(room)) < 0)
		(void)setsockopt(pair[0], SOL_SOCKET, SO_SNDBUF, &less, sizeof(less));
	*ret_chest = (struct chest){ .in = pair[0], .out = pair[1] };
	return 0;
}

void chest_clear(struct chest *chest)
{
	closep(&chest->in);
	closep(&chest->out);
	*chest = (struct chest){ .in = -1, .out = -1 };
}

static int send_message(struct chest *chest, const struct message *m)
{
	char control[CMSG_SPACE(sizeof(int) * BATCH)] __attribute__((aligned(8)));
	struct iovec iov = { (void *)(uintptr_t)m->ids, m->count * sizeof(uint64_t) };
	struct msghdr msg = { .msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = CMSG_SPACE(sizeof(int) * m->count) };
	struct cmsghdr *c = CMSG_FIRSTHDR(&msg);
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int) * m->count);
	memcpy(CMSG_DATA(c), m->fds, sizeof(int) * m->count);
	return sendmsg(chest->in, &msg, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 ? -errno : 0;
}

static int receive(struct chest *chest, struct message *m, int flags)
{
	char control[CMSG_SPACE(sizeof(int) * BATCH)] __attribute__((aligned(8)));
	struct iovec iov = { m->ids, sizeof(m->ids) };
	struct msghdr msg = { .msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = sizeof(control) };
	ssize_t n = recvmsg(chest->out, &msg, flags | MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	m->count = 0;
	if (n < 0)
		return errno == EAGAIN ? 0 : -errno;
	for (struct cmsghdr *c = CMSG_FIRSTHDR(&msg); c; c = CMSG_NXTHDR(&msg, c))
		if (c->cmsg_type == SCM_RIGHTS) {
			m->count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
			memcpy(m->fds, CMSG_DATA(c), m->count * sizeof(int));
		}
	if (m->count < (size_t)n / sizeof(uint64_t))
		return -EMFILE;
	return 1;
}

int chest_put(struct chest *chest, const struct chest_item *items, size_t count, size_t *ret_put)
{
	size_t done = 0;
	*ret_put = 0;
	while (done < count) {
		struct message m = { 0 };
		int error;
		while (m.count < BATCH && done + m.count < count) {
			m.ids[m.count] = items[done + m.count].id;
			m.fds[m.count] = items[done + m.count].fd;
			m.count++;
		}
		error = send_message(chest, &m);
		if (error < 0)
			return error;
		done += m.count;
		*ret_put = done;
	}
	return 0;
}

static void set_offset(struct chest *chest, int offset)
{
	(void)setsockopt(chest->out, SOL_SOCKET, SO_PEEK_OFF, &offset, sizeof(offset));
}

int chest_look(struct chest *chest, void (*take)(void *context, uint64_t id, int fd), void *context)
{
	struct message m;
	int r;
	set_offset(chest, 0);
	while ((r = receive(chest, &m, MSG_PEEK)) > 0)
		for (size_t i = 0; i < m.count; i++)
			take(context, m.ids[i], m.fds[i]);
	set_offset(chest, -1);
	return r;
}

int chest_compact(struct chest *chest, bool (*keep)(void *context, uint64_t id), void *context)
{
	struct message m, out = { 0 };
	size_t total = 0;
	int r;
	set_offset(chest, 0);
	while ((r = receive(chest, &m, MSG_PEEK)) > 0) {
		total++;
		for (size_t i = 0; i < m.count; i++)
			closep(&m.fds[i]);
	}
	set_offset(chest, -1);
	while (total-- > 0 && r >= 0) {
		r = receive(chest, &m, MSG_PEEK);
		if (r <= 0)
			break;
		out.count = 0;
		for (size_t i = 0; i < m.count; i++)
			if (keep(context, m.ids[i])) {
				out.ids[out.count] = m.ids[i];
				out.fds[out.count++] = m.fds[i];
			}
		if (out.count)
			r = send_message(chest, &out);
		for (size_t i = 0; i < m.count; i++)
			closep(&m.fds[i]);
		if (r < 0)
			break;
		r = receive(chest, &m, 0);
		for (size_t i = 0; i < m.count; i++)
			closep(&m.fds[i]);
	}
	return r < 0 ? r : 0;
}
