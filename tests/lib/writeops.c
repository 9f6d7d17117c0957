/* SPDX-License-Identifier: MIT */
/* writeops strict|any OUTSIDE PATH...: tries every way to change each entry of a mount (file,
 * directory or link), and to bring OUTSIDE, a file of another file system, into it. strict: each
 * must fail with the error of a read-only file system or of a missing right; any: each must fail.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/xattr.h>
#include <unistd.h>

static bool strict;
static int failures;
static const char *path;
static const struct timespec times[2] = { { 1, 0 }, { 1, 0 } };

/* `also`: an error that this call may have as well; 0. */
static void refuse_or(int also, const char *what, long result)
{
	int error = errno;

	if (result < 0 &&
		(!strict || error == EROFS || error == EPERM || error == EACCES || error == also))
		return;
	printf("%s: %s: %s\n", path, what, result >= 0 ? "success" : strerror(error));
	failures++;
}

static void refuse(const char *what, long result)
{
	refuse_or(0, what, result);
}

static long rename2(const char *from, const char *to, unsigned flags)
{
	return syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, flags);
}

/* Of any type: names and attributes. */
static void try_entry(const char *outside, const char *before)
{
	char fresh[4200];

	snprintf(fresh, sizeof(fresh), "%s.fresh", path);
	refuse("unlink", unlink(path));
	refuse_or(ENOTDIR, "rmdir", rmdir(path));
	refuse("rename away", rename2(path, fresh, 0));
	refuse("rename noreplace", rename2(path, fresh, RENAME_NOREPLACE));
	refuse("rename whiteout", rename2(path, fresh, RENAME_WHITEOUT));
	refuse("rename onto another", rename2(path, before, 0));
	refuse("exchange", rename2(path, before, RENAME_EXCHANGE));
	refuse_or(EXDEV, "rename to outside", rename2(path, "/tmp/writeops.fresh", 0));
	refuse_or(EXDEV, "rename from outside", rename2(outside, path, 0));
	refuse_or(EXDEV, "link from outside", link(outside, fresh));
	refuse("link", linkat(AT_FDCWD, path, AT_FDCWD, fresh, 0));
	refuse("lchown", lchown(path, 1, 1));
	refuse("utimensat", utimensat(AT_FDCWD, path, times, AT_SYMLINK_NOFOLLOW));
	refuse("lsetxattr", lsetxattr(path, "user.x", "1", 1, 0));
	refuse("lsetxattr ours", lsetxattr(path, "gldriverfs.layer", "1", 1, 0));
	refuse("lsetxattr trusted", lsetxattr(path, "trusted.x", "1", 1, 0));
	refuse("lsetxattr capability", lsetxattr(path, "security.capability", "", 0, 0));
	refuse("lremovexattr", lremovexattr(path, "gldriverfs.layer"));
}

/* Of what a link may lead to as well. */
static void try_attributes(void)
{
	int fd = open(path, O_PATH | O_CLOEXEC);
	char through[64];

	snprintf(through, sizeof(through), "/proc/self/fd/%d", fd);
	refuse("chmod", chmod(path, 0777));
	refuse("chmod through a descriptor", chmod(through, 0777));
	refuse("chown", chown(path, 1, 1));
	refuse("chown through a descriptor", fchownat(fd, "", 1, 1, AT_EMPTY_PATH));
	refuse("utimensat followed", utimensat(AT_FDCWD, through, times, 0));
	refuse("setxattr", setxattr(path, "user.x", "1", 1, 0));
	close(fd);
}

static void try_descriptor(int fd)
{
	int flags = FS_APPEND_FL;
	struct fsxattr extended = { .fsx_xflags = FS_XFLAG_APPEND };

	refuse("fchmod", fchmod(fd, 0777));
	refuse("fchown", fchown(fd, 1, 1));
	refuse("futimens", futimens(fd, times));
	refuse("fsetxattr", fsetxattr(fd, "user.x", "1", 1, 0));
	refuse("fremovexattr", fremovexattr(fd, "gldriverfs.layer"));
	refuse_or(ENOTTY, "FS_IOC_SETFLAGS", ioctl(fd, FS_IOC_SETFLAGS, &flags));
	refuse_or(ENOTTY, "FS_IOC_FSSETXATTR", ioctl(fd, FS_IOC_FSSETXATTR, &extended));
}

static void try_file(void)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	char through[64];

	snprintf(through, sizeof(through), "/proc/self/fd/%d", fd);
	refuse("open O_WRONLY", open(path, O_WRONLY));
	refuse("open O_RDWR", open(path, O_RDWR));
	refuse("open O_APPEND", open(path, O_WRONLY | O_APPEND));
	refuse("open O_TRUNC", open(path, O_RDWR | O_TRUNC));
	refuse("open O_RDONLY and O_TRUNC", open(path, O_RDONLY | O_TRUNC));
	refuse("open O_CREAT of what is there", open(path, O_RDWR | O_CREAT, 0644));
	refuse("open through a descriptor", open(through, O_RDWR));
	refuse("truncate", truncate(path, 0));
	refuse("truncate through a descriptor", truncate(through, 0));
	if (fd < 0) {
		refuse("open O_RDONLY", -1);
		return;
	}
	try_descriptor(fd);
	refuse_or(EBADF, "write", write(fd, "x", 1));
	refuse_or(EINVAL, "ftruncate", ftruncate(fd, 0));
	refuse_or(EBADF, "fallocate", fallocate(fd, 0, 0, 1 << 20));
	refuse_or(EBADF, "punch a hole",
		fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 4096));
	refuse_or(EBADF, "copy_file_range", copy_file_range(fd, NULL, fd, NULL, 1, 0));
	refuse("mmap shared and writable",
		mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) == MAP_FAILED ? -1 : 0);
	close(fd);
}

static void try_directory(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int unix_socket = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	char fresh[4200];

	snprintf(fresh, sizeof(fresh), "%s/fresh", path);
	refuse("open O_CREAT", open(fresh, O_CREAT | O_WRONLY, 0644));
	refuse("open O_CREAT and O_EXCL", open(fresh, O_CREAT | O_EXCL | O_RDWR, 0644));
	refuse_or(EOPNOTSUPP, "open O_TMPFILE", open(path, O_TMPFILE | O_RDWR, 0644));
	refuse("mkdir", mkdir(fresh, 0755));
	refuse("mknod FIFO", mknod(fresh, S_IFIFO | 0644, 0));
	refuse("mknod file", mknod(fresh, S_IFREG | 0644, 0));
	refuse("mknod device", mknod(fresh, S_IFCHR | 0666, 0x103));
	refuse("symlink", symlink("x", fresh));
	snprintf(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d/fresh", fd);
	refuse("bind", bind(unix_socket, (struct sockaddr *)&address, sizeof(address)));
	close(unix_socket);
	if (fd >= 0) {
		try_descriptor(fd);
		close(fd);
	}
	if (geteuid() != 0) {
		refuse("remount", mount(NULL, path, NULL, MS_REMOUNT | MS_BIND, NULL));
		refuse("cover", mount("tmpfs", path, "tmpfs", 0, NULL));
		refuse_or(EINVAL, "unmount", umount2(path, MNT_DETACH));
	}
}

/* Whether following the entry leads to its own file system. */
static bool stays_inside(const struct stat *entry)
{
	struct stat st;

	return stat(path, &st) == 0 && st.st_dev == entry->st_dev;
}

/* The mount's root is a name of another file system. */
static bool is_root(const struct stat *entry)
{
	char parent[4200];
	struct stat st;

	snprintf(parent, sizeof(parent), "%s/..", path);
	return S_ISDIR(entry->st_mode) && stat(parent, &st) == 0 && st.st_dev != entry->st_dev;
}

int main(int argc, char **argv)
{
	const char *before = NULL;
	struct stat st;

	if (argc < 4)
		return 2;
	strict = strcmp(argv[1], "strict") == 0;
	for (int i = 3; i < argc; i++) {
		path = argv[i];
		if (lstat(path, &st) < 0) {
			perror(path);
			return 2;
		}
		if (!is_root(&st)) {
			try_entry(argv[2], before ? before : argv[argc - 1]);
			before = path;
		}
		if (S_ISREG(st.st_mode))
			try_file();
		if (S_ISDIR(st.st_mode))
			try_directory();
		if (stays_inside(&st))
			try_attributes();
	}
	return failures ? 1 : 0;
}
