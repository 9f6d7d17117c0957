/* SPDX-License-Identifier: MIT */
/* writeops DIRECTORY FILE LINK: tries every way to change something in the mount, by full paths;
 * each must end with EROFS. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

static int failures;

static void expect_erofs(const char *what, long result)
{
	if (result >= 0 || errno != EROFS) {
		printf("%s: %s instead of EROFS\n", what,
			result >= 0 ? "success" : strerror(errno));
		failures++;
	}
}

int main(int argc, char **argv)
{
	char fresh[4096];
	const char *file;
	const struct timespec times[2] = { { 1, 0 }, { 1, 0 } };

	if (argc != 4)
		return 2;
	file = argv[2];
	snprintf(fresh, sizeof(fresh), "%s/fresh", argv[1]);
	expect_erofs("open O_WRONLY", open(file, O_WRONLY));
	expect_erofs("open O_RDWR", open(file, O_RDWR));
	expect_erofs("open O_TRUNC", open(file, O_RDWR | O_TRUNC));
	expect_erofs("open O_CREAT", open(fresh, O_CREAT | O_WRONLY, 0644));
	expect_erofs("open O_TMPFILE", open(argv[1], O_TMPFILE | O_RDWR, 0644));
	expect_erofs("mkdir", mkdir(fresh, 0755));
	expect_erofs("mknod", mknod(fresh, S_IFIFO | 0644, 0));
	expect_erofs("symlink", symlink("x", fresh));
	expect_erofs("link", link(file, fresh));
	expect_erofs("rename", rename(file, fresh));
	expect_erofs("unlink file", unlink(file));
	expect_erofs("unlink link", unlink(argv[3]));
	expect_erofs("rmdir", rmdir(argv[1]));
	expect_erofs("chmod", chmod(file, 0777));
	expect_erofs("chown", chown(file, 1, 1));
	expect_erofs("lchown", lchown(argv[3], 1, 1));
	expect_erofs("truncate", truncate(file, 0));
	expect_erofs("utimensat", utimensat(AT_FDCWD, file, times, 0));
	expect_erofs("setxattr", setxattr(file, "user.x", "1", 1, 0));
	expect_erofs("setxattr ours", setxattr(file, "gldriverfs.layer", "1", 1, 0));
	expect_erofs("removexattr", removexattr(file, "gldriverfs.layer"));
	return failures ? 1 : 0;
}
