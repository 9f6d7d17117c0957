/* SPDX-License-Identifier: MIT */
#include "chest.h"

#include <errno.h>
#include <linux/sockios.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "util.h"

enum {
	MESSAGE_MAX = 253, /* SCM_MAX_FD (linux/include/net/scm.h) */
	/* A message takes a power of 2 of the room, less some 400 bytes of the kernel's own: with
	 * 208 numbers it is 2 KiB, with 209 it may be 4. So these cost the least per descriptor,
	 * and packing into them never needs more room than it frees, but for a message or two. */
	BATCH_MAX = 208,
	PARTIAL_MAX = 512, /* for 20,000 descriptors 10 ms, to look as to compact */
	/* Left free by chest_put for chest_compact. */
	RESERVE = 32 * 1024,
	ROOM_FORCED = 64 * 1024 * 1024,
	ROOM_ASKED = 8 * 1024 * 1024,
};

struct message {
	size_t count; /* of ids */
	size_t n_fds; /* fewer where descriptors ran out */
	uint64_t ids[MESSAGE_MAX];
	int fds[MESSAGE_MAX];
};

union control {
	struct cmsghdr header;
	char bytes[CMSG_SPACE(sizeof(int) * MESSAGE_MAX)];
};

int chest_new(struct chest *ret_chest)
{
	const int forced = ROOM_FORCED, asked = ROOM_ASKED;
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) < 0)
		return -errno;
	if (setsockopt(pair[0], SOL_SOCKET, SO_SNDBUFFORCE, &forced, sizeof(forced)) < 0)
		(void)setsockopt(pair[0], SOL_SOCKET, SO_SNDBUF, &asked, sizeof(asked));
	*ret_chest = (struct chest){ .in = pair[0], .out = pair[1] };
	return 0;
}

void chest_clear(struct chest *chest)
{
	closep(&chest->in);
	closep(&chest->out);
	*chest = (struct chest){ .in = -1, .out = -1 };
}

/* How many go into one message. A user who may have few under way makes smaller ones, so that
 * chest_compact, which has two of them twice for a moment, stays possible. */
static size_t batch_size(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur / 8 >= BATCH_MAX)
		return BATCH_MAX;
	return limit.rlim_cur < 8 ? 1 : limit.rlim_cur / 8;
}

static int send_message(int socket, const struct message *message)
{
	size_t size = sizeof(int) * message->count;
	union control control = { 0 };
	struct iovec part = {
		.iov_base = (void *)(uintptr_t)message->ids,
		.iov_len = message->count * sizeof(uint64_t),
	};
	struct msghdr packet = {
		.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = CMSG_SPACE(size),
	};

	control.header.cmsg_level = SOL_SOCKET;
	control.header.cmsg_type = SCM_RIGHTS;
	control.header.cmsg_len = CMSG_LEN(size);
	memcpy(CMSG_DATA(&control.header), message->fds, size);
	return sendmsg(socket, &packet, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 ? -errno : 0;
}

enum receive {
	RECEIVE_LOOK = 1, /* else it is taken off */
	RECEIVE_FDS = 2,  /* else only its numbers: the kernel opens nothing */
};

/* Returns 1, 0: there is no more, or -errno. */
static int receive(const struct chest *chest, int flags, struct message *ret_message)
{
	union control control;
	struct iovec part = {
		.iov_base = ret_message->ids,
		.iov_len = sizeof(ret_message->ids),
	};
	struct msghdr packet = { .msg_iov = &part, .msg_iovlen = 1 };
	struct cmsghdr *header;
	ssize_t size;

	if (flags & RECEIVE_FDS) {
		packet.msg_control = &control;
		packet.msg_controllen = sizeof(control);
	}
	size = recvmsg(chest->out, &packet,
		(flags & RECEIVE_LOOK ? MSG_PEEK : 0) | MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	if (size <= 0)
		return size == 0 || errno == EAGAIN ? 0 : -errno;
	ret_message->count = (size_t)size / sizeof(uint64_t);
	ret_message->n_fds = 0;
	header = CMSG_FIRSTHDR(&packet);
	if (header && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS) {
		ret_message->n_fds = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		memcpy(ret_message->fds, CMSG_DATA(header), ret_message->n_fds * sizeof(int));
	}
	return 1;
}

/* Where looking goes on, in bytes; each look moves it by one message. -1: always at the head. It
 * belongs to the socket: a process that died while it looked has left it anywhere. */
static int set_offset(const struct chest *chest, int offset)
{
	int result = setsockopt(chest->out, SOL_SOCKET, SO_PEEK_OFF, &offset, sizeof(offset));

	return result < 0 ? -errno : 0;
}

struct pair {
	int ends[2];
};

static void pair_close(struct pair *pair)
{
	closep(&pair->ends[0]);
	closep(&pair->ends[1]);
}

/* Sends two messages' descriptors to a socket of their own: as long as they lie there, the kernel
 * lets the user have that many fewer under way. Where there is none (-EMFILE) nothing is held back.
 * Returns 0 or -errno. */
static int hold_back(struct pair *pair, int fd, size_t batch)
{
	struct message message = { .count = batch };
	int error;

	for (size_t i = 0; i < batch; i++)
		message.fds[i] = fd;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair->ends) < 0)
		return 0;
	error = send_message(pair->ends[0], &message);
	return error < 0 ? error : send_message(pair->ends[0], &message);
}

static bool has_room(const struct chest *chest)
{
	int room, used;
	socklen_t size = sizeof(room);

	return getsockopt(chest->in, SOL_SOCKET, SO_SNDBUF, &room, &size) == 0 &&
	       ioctl(chest->in, SIOCOUTQ, &used) == 0 && used < room - RESERVE;
}

static bool keep_all(void *context, uint64_t id)
{
	(void)context;
	(void)id;
	return true;
}

int chest_put(struct chest *chest, const struct chest_item *items, size_t count, size_t *ret_put)
{
	_cleanup_(pair_close) struct pair held = { { -1, -1 } };
	size_t batch = batch_size();
	int error;

	*ret_put = 0;
	if (count == 0)
		return 0;
	error = hold_back(&held, items[0].fd, batch);
	for (size_t done = 0; error == 0 && done < count; *ret_put = done) {
		struct message message = { 0 };

		for (; message.count < batch && done + message.count < count; message.count++) {
			message.ids[message.count] = items[done + message.count].id;
			message.fds[message.count] = items[done + message.count].fd;
		}
		error = has_room(chest) ? send_message(chest->in, &message) : -EAGAIN;
		if (error < 0)
			break;
		done += message.count;
		chest->partial += message.count < batch;
	}
	pair_close(&held);
	held = (struct pair){ { -1, -1 } };
	if (chest->partial >= PARTIAL_MAX)
		(void)chest_compact(chest, keep_all, NULL);
	return error;
}

int chest_look(struct chest *chest, void (*take)(void *context, uint64_t id, int fd), void *context)
{
	struct message message;
	size_t batch = batch_size();
	bool whole = true;
	int result = set_offset(chest, 0);

	if (result < 0)
		return result;
	chest->partial = 0;
	while ((result = receive(chest, RECEIVE_LOOK | RECEIVE_FDS, &message)) > 0) {
		chest->partial += message.count < batch;
		whole = whole && message.n_fds >= message.count;
		for (size_t i = 0; i < message.n_fds; i++)
			take(context, message.ids[i], message.fds[i]);
	}
	(void)set_offset(chest, -1);
	return result < 0 || whole ? result : -EMFILE;
}

/* One descriptor in the chest. */
struct entry {
	uint64_t id;
	size_t message;
	bool wanted;
};

struct content {
	struct entry *entries; /* in the order of the messages */
	size_t count;
	size_t capacity;
	size_t n_messages;
};

static int content_read(struct content *content, const struct chest *chest)
{
	struct message message;
	int result = set_offset(chest, 0);

	if (result < 0)
		return result;
	while ((result = receive(chest, RECEIVE_LOOK, &message)) > 0) {
		for (size_t i = 0; i < message.count; i++) {
			if (array_grow(&content->entries, &content->capacity, content->count,
				    sizeof(*content->entries)) < 0)
				return -ENOMEM;
			content->entries[content->count++] = (struct entry){
				.id = message.ids[i],
				.message = content->n_messages,
			};
		}
		content->n_messages++;
	}
	return result;
}

static int compare_entries(const void *a, const void *b)
{
	const struct entry *left = *(struct entry *const *)a, *right = *(struct entry *const *)b;

	if (left->id != right->id)
		return left->id < right->id ? -1 : 1;
	return left < right ? -1 : left > right;
}

/* Of those under one number the last is wanted: what a process that died on the way had packed
 * already is taken off without being sent again. */
static int content_mark(
	struct content *content, bool (*keep)(void *context, uint64_t id), void *context)
{
	_cleanup_(freep) struct entry **sorted = calloc(content->count + 1, sizeof(*sorted));

	if (!sorted)
		return -ENOMEM;
	for (size_t i = 0; i < content->count; i++)
		sorted[i] = &content->entries[i];
	qsort(sorted, content->count, sizeof(*sorted), compare_entries);
	for (size_t i = 0; i < content->count; i++)
		sorted[i]->wanted =
			(i + 1 == content->count || sorted[i + 1]->id != sorted[i]->id) &&
			keep(context, sorted[i]->id);
	return 0;
}

/* How many messages from the head on must be gone through: those behind are full. */
static size_t content_messages(const struct content *content, size_t batch)
{
	size_t last = 0, partial = 0;
	bool all = true;

	for (size_t i = 0, end; i < content->count; i = end) {
		size_t wanted = 0;

		for (end = i; end < content->count &&
			      content->entries[end].message == content->entries[i].message;
			end++)
			wanted += content->entries[end].wanted;
		all = all && wanted == end - i;
		if (wanted == end - i && wanted >= batch)
			continue;
		partial++;
		last = content->entries[i].message + 1;
	}
	return all && partial <= 1 ? 0 : last;
}

/* What is moved from the head to the tail. */
struct move {
	struct chest *chest;
	size_t batch;
	size_t dropped; /* messages taken off */
	struct message out;
};

static void move_clear(struct move *move)
{
	for (size_t i = 0; i < move->out.count; i++)
		closep(&move->out.fds[i]);
	move->out.count = 0;
}

/* Sends what was gathered, then takes off the first `messages`, all of whose wanted ones are at the
 * tail now. */
static int move_on(struct move *move, size_t messages)
{
	struct message gone;
	int result = move->out.count > 0 ? send_message(move->chest->in, &move->out) : 0;

	if (result < 0)
		return result;
	move_clear(move);
	for (; move->dropped < messages; move->dropped++) {
		result = receive(move->chest, 0, &gone);
		if (result <= 0)
			return result;
	}
	return 0;
}

/* Gathers the wanted of the message that is looked at next. */
static int move_message(
	struct move *move, const struct entry *entries, size_t count, size_t message)
{
	struct message head = { 0 };
	size_t wanted = 0;
	int result;

	for (size_t i = 0; i < count; i++)
		wanted += entries[i].wanted;
	result = receive(move->chest, RECEIVE_LOOK | (wanted > 0 ? RECEIVE_FDS : 0), &head);
	if (result > 0)
		result = wanted == 0 || head.n_fds == count ? 0 : -EMFILE;
	else if (result == 0)
		result = -EBUSY; /* somebody else took it */
	for (size_t i = 0; result == 0 && wanted > 0 && i < count; i++) {
		if (!entries[i].wanted)
			continue;
		move->out.ids[move->out.count] = entries[i].id;
		move->out.fds[move->out.count++] = steal_fd(&head.fds[i]);
		if (move->out.count == move->batch)
			result = move_on(move, message);
	}
	for (size_t i = 0; i < head.n_fds; i++)
		closep(&head.fds[i]);
	if (result == 0 && move->out.count == 0)
		result = move_on(move, message + 1);
	return result;
}

static int content_move(const struct content *content, struct chest *chest, size_t batch)
{
	_cleanup_(move_clear) struct move move = { .chest = chest, .batch = batch };
	size_t messages = content_messages(content, batch);
	int result = set_offset(chest, 0);

	for (size_t i = 0, end; result == 0 && i < content->count; i = end) {
		size_t message = content->entries[i].message;

		if (message >= messages)
			break;
		for (end = i; end < content->count && content->entries[end].message == message;)
			end++;
		result = move_message(&move, content->entries + i, end - i, message);
	}
	return result == 0 ? move_on(&move, messages) : result;
}

int chest_compact(struct chest *chest, bool (*keep)(void *context, uint64_t id), void *context)
{
	struct content content = { 0 };
	int result = content_read(&content, chest);

	if (result == 0)
		result = content_mark(&content, keep, context);
	if (result == 0)
		result = content_move(&content, chest, batch_size());
	(void)set_offset(chest, -1);
	chest->partial = 0; /* also where it failed: not at once again */
	free(content.entries);
	return result;
}
