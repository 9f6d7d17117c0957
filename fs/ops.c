/* SPDX-License-Identifier: MIT */
#include "ops.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

/* The longest that the kernel takes without overflow on 32-bit jiffies: about three years. */
#define LONG_TIMEOUT 1e8

/* One READ: the kernel asks for 128 KiB at most unless a program reads with O_DIRECT. */
#define READ_BUFFER (128 * 1024)

static const struct {
	const char *name;
	enum tree_xattr which;
} xattrs[] = {
	{ "gldriverfs.layer", TREE_XATTR_LAYER },
	{ "gldriverfs.source", TREE_XATTR_SOURCE },
	{ "gldriverfs.generation", TREE_XATTR_GENERATION },
};

const char *ops_request_name(enum ops_request request)
{
	static const char *const names[OPS_COUNT] = {
		[OPS_LOOKUP] = "lookup",
		[OPS_FORGET] = "forget",
		[OPS_GETATTR] = "getattr",
		[OPS_READLINK] = "readlink",
		[OPS_OPEN] = "open",
		[OPS_READ] = "read",
		[OPS_OPENDIR] = "opendir",
		[OPS_READDIR] = "readdir",
		[OPS_STATFS] = "statfs",
		[OPS_GETXATTR] = "getxattr",
		[OPS_LISTXATTR] = "listxattr",
	};

	return names[request];
}

/* The handler's context; the request is counted. */
static struct ops *ops_of(fuse_req_t req, enum ops_request request)
{
	struct ops *ops = fuse_req_userdata(req);

	atomic_fetch_add_explicit(&ops->counts[request], 1, memory_order_relaxed);
	return ops;
}

static double timeout_of(const struct ops *ops)
{
	return ops->no_cache ? 0 : LONG_TIMEOUT;
}

static void op_init(void *userdata, struct fuse_conn_info *conn)
{
	struct ops *ops = userdata;

	/* Small requests gain nothing from splice; a listing always has attributes (FUSE.md 1). */
	conn->want &=
		~(unsigned)(FUSE_CAP_SPLICE_READ | FUSE_CAP_SPLICE_WRITE | FUSE_CAP_SPLICE_MOVE |
			    FUSE_CAP_READDIRPLUS_AUTO | FUSE_CAP_AUTO_INVAL_DATA);
	conn->want |= conn->capable & (FUSE_CAP_READDIRPLUS | FUSE_CAP_PARALLEL_DIROPS);
#ifdef FUSE_CAP_CACHE_SYMLINKS
	if (!ops->no_cache)
		conn->want |= conn->capable & FUSE_CAP_CACHE_SYMLINKS;
#endif
#ifdef FUSE_CAP_NO_OPENDIR_SUPPORT
	conn->want |= conn->capable & FUSE_CAP_NO_OPENDIR_SUPPORT;
#endif
	conn->want |= conn->capable & FUSE_CAP_NO_OPEN_SUPPORT;
	/* libfuse derives the pages of one READ from this too. */
	conn->max_write = READ_BUFFER;
}

static struct fuse_entry_param entry_param(const struct ops *ops, const struct stat *st)
{
	return (struct fuse_entry_param){
		.ino = st->st_ino,
		.attr = *st,
		.attr_timeout = timeout_of(ops),
		.entry_timeout = timeout_of(ops),
	};
}

static void op_lookup(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	struct ops *ops = ops_of(req, OPS_LOOKUP);
	struct fuse_entry_param entry;
	struct stat st = { 0 };
	bool keep;
	/* The kernel passes up to 1024 bytes; statfs says NAME_MAX. */
	int error = strlen(name) > NAME_MAX ? -ENAMETOOLONG
					    : tree_lookup(ops->tree, parent, name,
						      fuse_req_ctx(req)->pid, &st, &keep);

	if (error < 0 && error != -ENOENT) {
		fuse_reply_err(req, -error);
		return;
	}
	/* Inode number 0 makes an absent name one that the kernel remembers. */
	entry = entry_param(ops, &st);
	if (!keep)
		entry.entry_timeout = 0;
	if (fuse_reply_entry(req, &entry) < 0 && st.st_ino != 0)
		tree_forget(ops->tree, st.st_ino, 1);
}

static void op_forget(fuse_req_t req, fuse_ino_t ino, uint64_t count)
{
	struct ops *ops = ops_of(req, OPS_FORGET);

	tree_forget(ops->tree, ino, count);
	fuse_reply_none(req);
}

static void op_forget_multi(fuse_req_t req, size_t count, struct fuse_forget_data *forgets)
{
	struct ops *ops = ops_of(req, OPS_FORGET);

	for (size_t i = 0; i < count; i++)
		tree_forget(ops->tree, forgets[i].ino, forgets[i].nlookup);
	fuse_reply_none(req);
}

static void op_getattr(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct ops *ops = ops_of(req, OPS_GETATTR);
	struct stat st;
	int error = tree_getattr(ops->tree, ino, &st);

	(void)fi;
	if (error < 0)
		fuse_reply_err(req, -error);
	else
		fuse_reply_attr(req, &st, timeout_of(ops));
}

static void op_readlink(fuse_req_t req, fuse_ino_t ino)
{
	struct ops *ops = ops_of(req, OPS_READLINK);
	char target[PATH_MAX];
	int error = tree_readlink(ops->tree, ino, target, sizeof(target));

	if (error < 0)
		fuse_reply_err(req, -error);
	else
		fuse_reply_readlink(req, target);
}

static void op_open(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct ops *ops = ops_of(req, OPS_OPEN);

	(void)ino;
	if (!ops->no_cache)
		fuse_reply_err(req, ENOSYS);
	else
		fuse_reply_open(req, fi);
}

static void op_opendir(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct ops *ops = ops_of(req, OPS_OPENDIR);

	(void)ino;
	if (!ops->no_cache)
		fuse_reply_err(req, ENOSYS);
	else
		fuse_reply_open(req, fi);
}

/* Reads the host file's bytes; never bytes of a content that is not the source's. Returns the
 * number of bytes, or -errno. */
static ssize_t read_source(
	struct ops *ops, struct source *source, char *buffer, size_t size, off_t offset)
{
	int fd = fdpool_acquire(ops->pool, source);
	struct stat st;
	ssize_t got = 0;

	if (fd >= 0) {
		while ((size_t)got < size) {
			ssize_t n = pread(fd, buffer + got, size - (size_t)got, offset + got);

			if (n < 0 && errno == EINTR)
				continue;
			if (n < 0)
				got = -errno;
			if (n <= 0)
				break;
			got += n;
		}
		if (got >= 0 && (fstat(fd, &st) < 0 || !source_matches(source, &st)))
			got = -ESTALE;
		fdpool_release(ops->pool, source, fd);
	} else {
		got = fd;
	}
	if (got == -ESTALE) {
		if (ops->changed)
			ops->changed(ops->context);
		return -EIO;
	}
	return got;
}

/* The same with the changes put over it. What lies behind the host's bytes is not asked of it. */
static ssize_t read_patched(struct ops *ops, struct source *source, const struct overlay *overlay,
	char *buffer, size_t size, off_t offset)
{
	uint64_t start = (uint64_t)offset, of_host = 0;
	ssize_t got;

	if (start < overlay->base)
		of_host = overlay->base - start;
	got = read_source(ops, source, buffer, size < of_host ? size : (size_t)of_host, offset);
	if (got < 0)
		return got;
	return (ssize_t)overlay_apply(overlay, buffer, size, (size_t)got, start);
}

/* Of an open descriptor or of one that is opened again: both may wait for the device. */
static ssize_t read_waiting(struct ops *ops, struct source *source, const struct overlay *overlay,
	char *buffer, size_t size, off_t offset)
{
	int error = ops->waits ? ops->waits((dev_t)source->identity.dev) : 0;
	ssize_t got;

	if (error < 0)
		return error;
	got = overlay ? read_patched(ops, source, overlay, buffer, size, offset)
		      : read_source(ops, source, buffer, size, offset);
	if (ops->waited)
		ops->waited();
	return got;
}

static void op_read(
	fuse_req_t req, fuse_ino_t ino, size_t size, off_t offset, struct fuse_file_info *fi)
{
	static _Thread_local char thread_buffer[READ_BUFFER];
	struct ops *ops = ops_of(req, OPS_READ);
	_cleanup_(source_unrefp) struct source *source = NULL;
	_cleanup_(overlay_unrefp) struct overlay *overlay = NULL;
	_cleanup_(freep) char *large = NULL;
	char *buffer = thread_buffer;
	ssize_t got;

	(void)fi;
	if (size > sizeof(thread_buffer)) {
		large = malloc(size);
		if (large)
			buffer = large;
		else
			size = sizeof(thread_buffer);
	}
	got = tree_read(ops->tree, ino, buffer, size, offset, &source, &overlay);
	if (got >= 0 && source)
		got = read_waiting(ops, source, overlay, buffer, size, offset);
	if (got < 0)
		fuse_reply_err(req, (int)-got);
	else
		fuse_reply_buf(req, buffer, (size_t)got);
}

/* A reply to READDIR(PLUS) while it is filled. */
struct listing {
	fuse_req_t req;
	const struct ops *ops;
	bool plus;
	char *buffer;
	size_t size;
	size_t used;
};

static bool listing_fill(void *context, const char *name, const struct stat *st, off_t next)
{
	struct listing *listing = context;
	char *place = listing->buffer + listing->used;
	size_t room = listing->size - listing->used;
	size_t needed;

	if (listing->plus) {
		struct fuse_entry_param entry = entry_param(listing->ops, st);

		if (next <= 2)
			entry.ino = 0; /* "." and "..": no reference is taken */
		needed = fuse_add_direntry_plus(listing->req, place, room, name, &entry, next);
	} else {
		needed = fuse_add_direntry(listing->req, place, room, name, st, next);
	}
	if (needed > room)
		return false;
	listing->used += needed;
	return true;
}

static void list(fuse_req_t req, fuse_ino_t ino, size_t size, off_t offset, bool plus)
{
	struct ops *ops = ops_of(req, OPS_READDIR);
	char buffer[16384];
	struct listing listing = {
		.req = req,
		.ops = ops,
		.plus = plus,
		.buffer = buffer,
		.size = size < sizeof(buffer) ? size : sizeof(buffer),
	};
	int error = tree_list(ops->tree, ino, offset, plus, listing_fill, &listing);

	if (error < 0)
		fuse_reply_err(req, -error);
	else
		fuse_reply_buf(req, buffer, listing.used);
}

static void op_readdir(
	fuse_req_t req, fuse_ino_t ino, size_t size, off_t offset, struct fuse_file_info *fi)
{
	(void)fi;
	list(req, ino, size, offset, false);
}

static void op_readdirplus(
	fuse_req_t req, fuse_ino_t ino, size_t size, off_t offset, struct fuse_file_info *fi)
{
	(void)fi;
	list(req, ino, size, offset, true);
}

static void op_statfs(fuse_req_t req, fuse_ino_t ino)
{
	struct ops *ops = ops_of(req, OPS_STATFS);
	struct tree_counts counts;
	struct statvfs st = { .f_bsize = 4096, .f_frsize = 4096, .f_namemax = NAME_MAX };

	(void)ino;
	tree_count(ops->tree, &counts);
	st.f_files = counts.entries;
	fuse_reply_statfs(req, &st);
}

static void op_getxattr(fuse_req_t req, fuse_ino_t ino, const char *name, size_t size)
{
	struct ops *ops = ops_of(req, OPS_GETXATTR);
	char value[PATH_MAX];
	ssize_t length = -ENODATA;

	for (size_t i = 0; i < ARRAY_SIZE(xattrs); i++)
		if (strcmp(name, xattrs[i].name) == 0)
			length = tree_getxattr(ops->tree, ino, xattrs[i].which, value,
				size < sizeof(value) ? size : sizeof(value));
	if (length < 0)
		fuse_reply_err(req, (int)-length);
	else if (size == 0)
		fuse_reply_xattr(req, (size_t)length);
	else
		fuse_reply_buf(req, value, (size_t)length);
}

static void op_listxattr(fuse_req_t req, fuse_ino_t ino, size_t size)
{
	struct ops *ops = ops_of(req, OPS_LISTXATTR);
	char names[128];
	size_t used = 0;

	for (size_t i = 0; i < ARRAY_SIZE(xattrs); i++) {
		if (tree_getxattr(ops->tree, ino, xattrs[i].which, NULL, 0) < 0)
			continue;
		memcpy(names + used, xattrs[i].name, strlen(xattrs[i].name) + 1);
		used += strlen(xattrs[i].name) + 1;
	}
	if (size == 0)
		fuse_reply_xattr(req, used);
	else if (used > size)
		fuse_reply_err(req, ERANGE);
	else
		fuse_reply_buf(req, names, used);
}

const struct fuse_lowlevel_ops ops_table = {
	.init = op_init,
	.lookup = op_lookup,
	.forget = op_forget,
	.forget_multi = op_forget_multi,
	.getattr = op_getattr,
	.readlink = op_readlink,
	.open = op_open,
	.read = op_read,
	.opendir = op_opendir,
	.readdir = op_readdir,
	.readdirplus = op_readdirplus,
	.statfs = op_statfs,
	.getxattr = op_getxattr,
	.listxattr = op_listxattr,
};
