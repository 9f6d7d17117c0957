/* SPDX-License-Identifier: MIT */
/* Libraries that answer, lie, crash, hang or attack, in the real child: as root and as a user. */
#include "../compat/cmocka.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "driver_child.h"
#include "util.h"

#define A_USER 12345

/* For libraries that hang: more than one that answers takes, and all of it is waited out. */
#define HANGS_MS 300

static char directory[64]; /* world-readable; all libraries and a copy of the child are there */
static char helper[128];

#define VERSION(body) "int cuDriverGetVersion(int *v) {" body "}\n"
#define START(body)   "__attribute__((constructor)) static void start(void) {" body "}\n"
#define HANGS         "did not answer within 0.3 s"
#define LOOP          "for (;;) __asm__ volatile(\"\");"
#define TWELVE_TWO    VERSION("*v = 12020; return 0;")
/* A constructor that attacks; the version tells 12.2 only if every attempt has failed. */
#define ATTACK(attempts)                                                                           \
	"static int won;" START(attempts) VERSION("if (won) return won; *v = 12020; return 0;")

static const struct {
	const char *name;
	const char *code; /* C, compiled with a few includes in front */
	const char *cuda; /* "": why must hold the next */
	const char *why;
} libraries[] = {
	{ "answers", TWELVE_TWO, "12.2", "" },
	{ "eleven-eight", VERSION("*v = 11080; return 0;"), "11.8", "" },
	{ "prints", START("puts(\"hello\"); fflush(stdout);") TWELVE_TWO, "12.2", "" },
	{ "no-symbol", "int x;", "", "it has no cuDriverGetVersion" },
	{ "fails", VERSION("return 3;"), "", "cuDriverGetVersion failed with error 3" },
	{ "zero", VERSION("*v = 0; return 0;"), "", "nonsense (v0)" },
	{ "negative", VERSION("*v = -12020; return 0;"), "", "nonsense" },
	{ "odd", VERSION("*v = 12021; return 0;"), "", "nonsense" },
	{ "huge", VERSION("*v = 2147483640; return 0;"), "", "nonsense" },
	{ "crashes", VERSION("*(volatile int *)8 = 1; return 0;"), "", "signal 11" },
	{ "crashes-early", START("*(volatile int *)8 = 1;") TWELVE_TWO, "", "signal 11" },
	{ "aborts", START("abort();") TWELVE_TWO, "", "signal 6" },
	{ "exits", START("exit(0);") TWELVE_TWO, "", "told nothing" },
	{ "exits-with-3", START("_exit(3);") TWELVE_TWO, "", "status 3" },
	{ "loops", VERSION(LOOP "return 0;"), "", HANGS },
	{ "sleeps", START("for (;;) pause(), usleep(100000);") TWELVE_TWO, "", HANGS },
	{ "answers-then-hangs",
		START("for (int i = 3; i < 64; i++) write(i, \"v13000\", 6); for (;;) "
		      "usleep(1000);") TWELVE_TWO,
		"", HANGS },
	{ "floods",
		START("for (int i = 3; i < 64; i++) for (int k = 0; k < 999; k++) write(i, "
		      "\"vvvvvvvvvv\", 10);") TWELVE_TWO,
		"", "nonsense" },
	{ "control-characters",
		START("for (int i = 3; i < 64; i++) write(i, \"e\\033[2J\\n\", 6); _exit(0);")
			TWELVE_TWO,
		"", "?[2J?" },
	{ "eats-memory",
		VERSION("for (;;) { char *p = malloc(1 << 20); if (!p) return 2; *p = 1; }"), "",
		"error 2" },
	{ "forks-and-hangs", START("int p = fork(); if (p >= 0) for (;;) usleep(1000);") TWELVE_TWO,
		"12.2", "" },
	{ "threads",
		ATTACK("pthread_t t; if (pthread_create(&t, 0, (void *(*)(void *))puts, \"\") == "
		       "0) won = 1;"),
		"12.2", "" },
	{ "executes",
		ATTACK("char *a[] = {\"/bin/true\", 0}; execve(a[0], a, a + 1);"
		       "if (system(\"true\") == 0) won = 1;"),
		"12.2", "" },
	{ "writes-files",
		ATTACK("char p[99]; snprintf(p, 99, \"/tmp/gldriverfs-attack-%d\", getpid());"
		       "if (open(p, O_RDWR | O_CREAT, 0666) >= 0) won = 1;"
		       "if (mkdir(p, 0777) == 0) won = 2; if (symlink(\"/\", p) == 0) won = 3;"
		       "if (open(\"/dev/null\", O_WRONLY) >= 0) won = 4;"
		       "if (open(\"/tmp\", O_TMPFILE | O_RDWR, 0600) >= 0) won = 5;"
		       "if (syscall(SYS_memfd_create, \"m\", 0) >= 0) won = 6;"),
		"12.2", "" },
	{ "uses-the-network",
		ATTACK("for (int f = 1; f < 40; f++) for (int t = 1; t < 6; t++)"
		       "if (socket(f, t, 0) >= 0) won = f;"),
		"12.2", "" },
	{ "signals",
		ATTACK("if (kill(getppid(), SIGKILL) == 0 || "
		       "kill(0, SIGKILL) == 0) won = 1;"
		       "if (ptrace(PTRACE_ATTACH, getppid(), 0, 0) == 0) won = 2;"
		       "prctl(PR_SET_PDEATHSIG, 0); setsid();"),
		"12.2", "" },
	{ "raises-limits",
		ATTACK("struct rlimit l = { 1000, 1000 }; if (setrlimit(RLIMIT_NOFILE, &l) == 0) "
		       "won = 1; if (prlimit(getppid(), RLIMIT_CPU, &l, 0) == 0) won = 2;"
		       "if (setuid(0) == 0) won = 3;"),
		"12.2", "" },
	{ "finds-descriptors",
		ATTACK("int n = 0; for (int i = 0; i < 4096; i++) if (fcntl(i, F_GETFD) >= 0) n++;"
		       "if (n != 5) won = n;" /* 0, 1, 2, the answer, the library */
		       "extern char **environ; if (environ && *environ) won = 99;"
		       "if (getuid() == 0 || getgid() == 0) won = 98;"),
		"12.2", "" },
};

static void path_of(const char *name, char path[PATH_MAX])
{
	snprintf(path, PATH_MAX, "%s/%s.so", directory, name);
}

static void compile(const char *name, const char *code)
{
	static const char *const headers[] = { "errno", "fcntl", "pthread", "signal", "stdio",
		"stdlib", "string", "sys/prctl", "sys/ptrace", "sys/resource", "sys/socket",
		"sys/stat", "sys/syscall", "unistd" };
	char command[3 * PATH_MAX], path[PATH_MAX], source[PATH_MAX];
	FILE *file;

	path_of(name, path);
	snprintf(source, sizeof(source), "%s/%s.c", directory, name);
	file = fopen(source, "w");
	assert_non_null(file);
	fputs("#define _GNU_SOURCE\n", file);
	for (size_t i = 0; i < ARRAY_SIZE(headers); i++)
		fprintf(file, "#include <%s.h>\n", headers[i]);
	fputs(code, file);
	assert_int_equal(fclose(file), 0);
	snprintf(command, sizeof(command), "cc -w -shared -fPIC -o %s %s", path, source);
	assert_int_equal(system(command), 0);
}

static int open_library(const char *name)
{
	char path[PATH_MAX];
	int fd;

	path_of(name, path);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	return fd;
}

static void ask(
	const char *const *names, size_t count, unsigned time_ms, struct driver_answer *ret_answer)
{
	int fds[4];

	assert_true(count <= ARRAY_SIZE(fds));
	for (size_t i = 0; i < count; i++)
		fds[i] = open_library(names[i]);
	driver_child_ask(helper, fds, count, time_ms, ret_answer);
	for (size_t i = 0; i < count; i++)
		close(fds[i]);
}

/* Asks all; prints what is wrong. Returns how many are. */
static int ask_all(void)
{
	int leaked = open("/dev/null", O_RDONLY); /* not to be inherited */
	int wrong = 0;

	for (size_t i = 0; i < ARRAY_SIZE(libraries); i++) {
		struct driver_answer answer;
		struct timespec begin, end;
		double took;

		clock_gettime(CLOCK_MONOTONIC, &begin);
		ask(&libraries[i].name, 1,
			strcmp(libraries[i].why, HANGS) == 0 ? HANGS_MS : DRIVER_TIME_MS, &answer);
		clock_gettime(CLOCK_MONOTONIC, &end);
		took = (double)(end.tv_sec - begin.tv_sec) +
		       (double)(end.tv_nsec - begin.tv_nsec) / 1e9;
		if (strcmp(answer.cuda, libraries[i].cuda) == 0 &&
			strstr(answer.why, libraries[i].why) && took < 10)
			continue;
		fprintf(stderr, "%s: cuda '%s' why '%s' after %.1f s\n", libraries[i].name,
			answer.cuda, answer.why, took);
		wrong++;
	}
	close(leaked);
	return wrong;
}

static void test_libraries(void **state)
{
	(void)state;
	assert_int_equal(ask_all(), 0);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
}

static void test_libraries_as_user(void **state)
{
	int status;
	pid_t child;

	(void)state;
	if (geteuid() != 0)
		skip();
	child = fork();
	if (child == 0) {
		if (setgroups(0, NULL) < 0 || setresgid(A_USER, A_USER, A_USER) < 0 ||
			setresuid(A_USER, A_USER, A_USER) < 0)
			_exit(100);
		_exit(ask_all());
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

/* What it needs comes by descriptor; without it the loader's words are told. */
static void test_closure(void **state)
{
	static const char *const both[] = { "needed", "needs" };
	char command[3 * PATH_MAX];
	struct driver_answer answer;

	(void)state;
	compile("needed", "int twelve(void) { return 12060; }");
	compile("needs", "int twelve(void); int cuDriverGetVersion(int *v) { *v = twelve(); "
			 "return 0; }");
	snprintf(command, sizeof(command),
		"cd %s && cc -w -shared -fPIC -Wl,-soname,libneeded.so.1 -o needed.so needed.c && "
		"cc -w -shared -fPIC -o needs.so needs.c ./needed.so",
		directory);
	assert_int_equal(system(command), 0);
	ask(both, 2, DRIVER_TIME_MS, &answer);
	assert_string_equal(answer.why, "");
	assert_string_equal(answer.cuda, "12.6");
	ask(both + 1, 1, DRIVER_TIME_MS, &answer);
	assert_string_equal(answer.cuda, "");
	assert_non_null(strstr(answer.why, "libneeded.so.1: cannot open shared object file"));
}

/* A path that only root can walk. */
static void test_root_only_directory(void **state)
{
	struct driver_answer answer;
	int fd;

	(void)state;
	if (geteuid() != 0)
		skip();
	fd = open_library("answers");
	assert_int_equal(chmod(directory, 0700), 0);
	driver_child_ask(helper, &fd, 1, DRIVER_TIME_MS, &answer);
	assert_int_equal(chmod(directory, 0755), 0);
	close(fd);
	assert_string_equal(answer.why, "");
	assert_string_equal(answer.cuda, "12.2");
}

static void test_no_helper(void **state)
{
	struct driver_answer answer;
	int fd = open_library("answers");

	(void)state;
	driver_child_ask("/nonexistent/gldriverfs-probe", &fd, 1, DRIVER_TIME_MS, &answer);
	close(fd);
	assert_string_equal(answer.cuda, "");
	assert_non_null(strstr(answer.why, "could not be run: No such file"));
}

/* In the daemon's own time. */
static void test_blocked_signals(void **state)
{
	static const char *const names[] = { "loops" };
	struct driver_answer answer;
	sigset_t all, before;

	(void)state;
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &before);
	ask(names, 1, DRIVER_TIME_MS, &answer);
	sigprocmask(SIG_SETMASK, &before, NULL);
	assert_non_null(strstr(answer.why, "did not answer within 2 s"));
}

static int set_up(void **state)
{
	char self[PATH_MAX], command[3 * PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);

	(void)state;
	strcpy(directory, "/tmp/gldriverfs-child-XXXXXX");
	if (length < 0 || !mkdtemp(directory) || chmod(directory, 0755) < 0)
		return -1;
	self[length] = '\0';
	*strrchr(self, '/') = '\0';
	snprintf(helper, sizeof(helper), "%s/gldriverfs-probe", directory);
	/* As a user the build's own directory may be out of reach. */
	snprintf(command, sizeof(command), "cp %s/../../gldriverfs-probe %s", self, helper);
	if (system(command) != 0)
		return -1;
	for (size_t i = 0; i < ARRAY_SIZE(libraries); i++)
		compile(libraries[i].name, libraries[i].code);
	return 0;
}

static int tear_down(void **state)
{
	char command[PATH_MAX];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", directory);
	return system(command);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_libraries),
		cmocka_unit_test(test_libraries_as_user),
		cmocka_unit_test(test_closure),
		cmocka_unit_test(test_root_only_directory),
		cmocka_unit_test(test_no_helper),
		cmocka_unit_test(test_blocked_signals),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
