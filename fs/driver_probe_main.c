/* SPDX-License-Identifier: MIT */
/* gldriverfs-probe PARENT ANSWER_FD LIBRARY_FD...: loads the libraries, the last of which is a
 * libcuda, and writes to ANSWER_FD "v" and what its cuDriverGetVersion says, or "e" and why there
 * is no version. The only place where vendor code runs: without privileges, with limits, and with a
 * list of the system calls that loading a library takes. Started by driver_probe.c. */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "driver_sandbox.h"

#define NOBODY 65534 /* the kernel's overflow uid; user and group */

static int answer_fd;

/* Tells the parent and ends. */
#define ANSWER(...) _exit(dprintf(answer_fd, __VA_ARGS__) > 0 ? 0 : 1)

/* A descriptor's number, or -1. */
static int parse_number(const char *text)
{
	char *end;
	long value = strtol(text, &end, 10);

	return *text && !*end && value > 0 && value < 1 << 30 ? (int)value : -1;
}

static bool is_given(int fd, const int *fds, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (fds[i] == fd)
			return true;
	return fd <= STDERR_FILENO || fd == answer_fd;
}

static int close_others(const int *fds, size_t count)
{
	DIR *directory = opendir("/proc/self/fd");
	struct dirent *entry;

	if (!directory)
		return -errno;
	while ((entry = readdir(directory))) {
		int fd = parse_number(entry->d_name);

		if (fd > 0 && fd != dirfd(directory) && !is_given(fd, fds, count))
			close(fd);
	}
	closedir(directory);
	return 0;
}

static int set_limits(void)
{
	static const struct {
		int resource;
		struct rlimit limit;
	} limits[] = {
		/* SIGXCPU at the first tells what it was; SIGKILL at the second ends it all the
		   same. */
		{ RLIMIT_CPU, { 2, 3 } },
		{ RLIMIT_AS, { (rlim_t)1 << 30, (rlim_t)1 << 30 } },
		{ RLIMIT_CORE, { 0, 0 } },
		{ RLIMIT_FSIZE, { 0, 0 } },
		{ RLIMIT_NOFILE, { 64, 64 } },
		{ RLIMIT_NPROC, { 0, 0 } },
		{ RLIMIT_MEMLOCK, { 0, 0 } },
	};

	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++)
		if (setrlimit(limits[i].resource, &limits[i].limit) < 0)
			return -errno;
	return 0;
}

static int drop_privileges(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	const struct __user_cap_data_struct none[2] = { 0 };

	if (geteuid() == 0 && (setgroups(0, NULL) < 0 || setresgid(NOBODY, NOBODY, NOBODY) < 0 ||
				      setresuid(NOBODY, NOBODY, NOBODY) < 0))
		return -errno;
	/* kernels before 4.3 have no ambient set */
	(void)prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	return syscall(SYS_capset, &header, none) < 0 ? -errno : 0;
}

/* Everything that makes this process harmless; the parent's death ends it. */
static void enter_sandbox(pid_t parent, const int *fds, size_t count)
{
	sigset_t none;
	int result;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	result = close_others(fds, count);
	if (result == 0)
		result = set_limits();
	if (result < 0)
		ANSWER("ethe child's limits could not be set: %s", strerror(-result));
	result = drop_privileges();
	if (result < 0)
		ANSWER("ethe child could not become nobody: %s", strerror(-result));
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0 ||
		prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0 || getppid() != parent)
		_exit(1);
	result = driver_sandbox_enter();
	if (result < 0)
		ANSWER("ethe child's system calls could not be limited: %s", strerror(-result));
}

static void *load(const int *fds, size_t count)
{
	void *library = NULL;

	for (size_t i = 0; i < count; i++) {
		char path[32];

		snprintf(path, sizeof(path), "/proc/self/fd/%d", fds[i]);
		/* By their SONAMEs those before are what the later ones NEED. */
		library = dlopen(path, RTLD_LAZY | RTLD_GLOBAL);
	}
	return library;
}

int main(int argc, char **argv)
{
	int (*get_version)(int *) = NULL;
	size_t count = argc > 3 ? (size_t)argc - 3 : 0;
	int *fds = calloc(count + 1, sizeof(*fds));
	int version = 0, error;
	void *cuda;

	if (!fds || count == 0)
		return 2;
	for (size_t i = 0; i < count; i++) {
		fds[i] = parse_number(argv[i + 3]);
		if (fds[i] < 0)
			return 2;
	}
	answer_fd = parse_number(argv[2]);
	if (answer_fd < 0)
		return 2;
	enter_sandbox(parse_number(argv[1]), fds, count);
	cuda = load(fds, count);
	if (!cuda)
		ANSWER("eit cannot be loaded: %s", dlerror());
	*(void **)&get_version = dlsym(cuda, "cuDriverGetVersion");
	if (!get_version)
		ANSWER("eit has no cuDriverGetVersion");
	error = get_version(&version);
	if (error != 0)
		ANSWER("ecuDriverGetVersion failed with error %d", error);
	ANSWER("v%d", version);
}
