/* SPDX-License-Identifier: MIT */
/* slowfs MOUNTPOINT DIRECTORY [SOURCE]: a FUSE server of DIRECTORY's files (no directories in it)
 * that the kernel asks for everything each time. While DIRECTORY/.hold exists it takes requests and
 * answers none; stopped (SIGSTOP) it takes none. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define NAMES_MAX 256

static int device, directory;
/* Node number = index + 2. */
static char *names[NAMES_MAX];
static size_t n_names;

static void reply(uint64_t unique, int error, const void *body, size_t size)
{
	struct fuse_out_header header = {
		.len = (uint32_t)(sizeof(header) + size),
		.error = error,
		.unique = unique,
	};
	struct iovec parts[] = { { &header, sizeof(header) }, { (void *)body, size } };

	while (faccessat(directory, ".hold", F_OK, 0) == 0)
		usleep(10 * 1000);
	if (writev(device, parts, 2) < 0 && errno != ENOENT)
		exit(1);
}

static const char *path_of(uint64_t node)
{
	return node == 1 ? "." : names[node - 2];
}

static uint64_t node_of(const char *name)
{
	size_t i = 0;

	while (i < n_names && strcmp(names[i], name) != 0)
		i++;
	if (i == NAMES_MAX)
		exit(1);
	if (i == n_names)
		names[n_names++] = strdup(name);
	return i + 2;
}

static int fill(uint64_t node, struct fuse_attr *attr)
{
	struct stat st;

	if (fstatat(directory, path_of(node), &st, 0) < 0)
		return -errno;
	*attr = (struct fuse_attr){
		.ino = node,
		.size = (uint64_t)st.st_size,
		.mtime = (uint64_t)st.st_mtime,
		.ctime = (uint64_t)st.st_ctime,
		.mode = st.st_mode,
		.nlink = 1,
		.blksize = 4096,
	};
	return 0;
}

static void do_lookup(const struct fuse_in_header *in, const char *name)
{
	struct fuse_entry_out out = { .nodeid = node_of(name) };
	int error = fill(out.nodeid, &out.attr);

	reply(in->unique, error, &out, error ? 0 : sizeof(out));
}

static void do_getattr(const struct fuse_in_header *in)
{
	struct fuse_attr_out out = { 0 };
	int error = fill(in->nodeid, &out.attr);

	reply(in->unique, error, &out, error ? 0 : sizeof(out));
}

static void do_read(const struct fuse_in_header *in, const struct fuse_read_in *asked)
{
	static char bytes[256 * 1024];
	size_t size = asked->size < sizeof(bytes) ? asked->size : sizeof(bytes);
	int fd = openat(directory, path_of(in->nodeid), O_RDONLY);
	ssize_t got = pread(fd, bytes, size, (off_t)asked->offset);

	close(fd);
	reply(in->unique, got < 0 ? -EIO : 0, bytes, got < 0 ? 0 : (size_t)got);
}

static void do_readdir(const struct fuse_in_header *in, const struct fuse_read_in *asked)
{
	static char bytes[64 * 1024];
	DIR *stream = fdopendir(openat(directory, ".", O_RDONLY | O_DIRECTORY));
	struct dirent *entry;
	size_t used = 0, number = 0;

	while (stream && (entry = readdir(stream))) {
		struct fuse_dirent *out = (struct fuse_dirent *)(bytes + used);
		size_t length = strlen(entry->d_name);

		if (entry->d_name[0] == '.' || ++number <= asked->offset)
			continue;
		if (used + FUSE_DIRENT_ALIGN(FUSE_NAME_OFFSET + length) > asked->size)
			break;
		*out = (struct fuse_dirent){
			.ino = node_of(entry->d_name),
			.off = number,
			.namelen = (uint32_t)length,
			.type = entry->d_type,
		};
		memcpy(out->name, entry->d_name, length);
		used += FUSE_DIRENT_SIZE(out);
	}
	if (stream)
		closedir(stream);
	reply(in->unique, 0, bytes, used);
}

static void answer(const struct fuse_in_header *in, const void *body)
{
	const struct fuse_init_in *asked = body;
	struct fuse_init_out init = { .major = FUSE_KERNEL_VERSION, .minor = 31 };
	struct fuse_open_out opened = { .open_flags = FOPEN_DIRECT_IO };
	struct fuse_statfs_out fs = { .st = { .bsize = 4096, .namelen = 255 } };

	switch (in->opcode) {
	case FUSE_INIT:
		init.max_readahead = asked->max_readahead;
		init.max_write = 4096;
		reply(in->unique, 0, &init, sizeof(init));
		break;
	case FUSE_LOOKUP:
		do_lookup(in, body);
		break;
	case FUSE_GETATTR:
		do_getattr(in);
		break;
	case FUSE_OPEN:
	case FUSE_OPENDIR:
		reply(in->unique, 0, &opened, sizeof(opened));
		break;
	case FUSE_READ:
		do_read(in, body);
		break;
	case FUSE_READDIR:
		do_readdir(in, body);
		break;
	case FUSE_STATFS:
		reply(in->unique, 0, &fs, sizeof(fs));
		break;
	case FUSE_FLUSH:
	case FUSE_RELEASE:
	case FUSE_RELEASEDIR:
		reply(in->unique, 0, NULL, 0);
		break;
	case FUSE_FORGET:
	case FUSE_BATCH_FORGET:
	case FUSE_INTERRUPT:
		break;
	default:
		reply(in->unique, -ENOSYS, NULL, 0);
	}
}

int main(int argc, char **argv)
{
	static _Alignas(8) char request[256 * 1024];
	char options[128];
	const char *source = argc > 3 ? argv[3] : "slowfs";
	ssize_t got;

	if (argc < 3)
		return 2;
	device = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	directory = open(argv[2], O_PATH | O_DIRECTORY | O_CLOEXEC);
	snprintf(options, sizeof(options), "fd=%d,rootmode=40755,user_id=%u,group_id=0,allow_other",
		device, geteuid());
	if (device < 0 || directory < 0 || mount(source, argv[1], "fuse.slowfs", 0, options) < 0) {
		perror(argv[1]);
		return 1;
	}
	while ((got = read(device, request, sizeof(request))) > 0 || errno == EINTR ||
		errno == ENOENT)
		if (got > 0)
			answer((struct fuse_in_header *)request,
				request + sizeof(struct fuse_in_header));
	return 0;
}
