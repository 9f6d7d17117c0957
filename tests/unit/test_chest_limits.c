/* SPDX-License-Identifier: MIT */
#include "chest_fixture.h"

#include <signal.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <time.h>

#include "in_child.h"

static void limit_open(rlim_t limit)
{
	struct rlimit both = { limit, limit };

	CHECK(setrlimit(RLIMIT_NOFILE, &both) == 0);
}

/* A user may have only so many under way, and compaction needs some of them. */
static void few_under_way(const void *context)
{
	static struct seen seen;
	unsigned drop = 0;
	size_t total = 0, done, limit = 256;
	struct chest chest;

	(void)context;
	if (geteuid() == 0)
		CHECK(setresuid(54321, 54321, 54321) == 0); /* nobody else is that one */
	limit_open(limit);
	CHECK(chest_new(&chest) == 0);
	for (int error = 0; error == 0; total += done) {
		error = put(&chest, total + 1, 3, &done);
		CHECK(error == 0 || error == -ETOOMANYREFS);
		CHECK(total < 2 * limit);
	}
	CHECK(total > limit / 2);
	CHECK(chest_compact(&chest, keep, &drop) == 0);
	CHECK(chest_look(&chest, take, &seen) == 0 && seen.wrong == 0 && seen.count == total);
	CHECK(put(&chest, total + 1, 3, &done) == -ETOOMANYREFS && done == 0);
	drop = 2;
	CHECK(chest_compact(&chest, keep, &drop) == 0);
	CHECK(put(&chest, total + 1, total / 3, &done) == 0 && done == total / 3);
}

static void test_user(void **state)
{
	(void)state;
	in_child(few_under_way, NULL);
}

/* A process that can open but few: what does not fit stays in the chest. */
static void few_open(const void *context)
{
	static struct seen seen;
	unsigned drop = 2, all = 1;
	int fds[64];
	size_t done;
	struct chest chest;

	(void)context;
	CHECK(chest_new(&chest) == 0);
	CHECK(put(&chest, 1, 400, &done) == 0);
	limit_open(64);
	for (size_t i = 0; i < 64; i++)
		fds[i] = dup(0);
	for (size_t i = 0; i < 64; i++)
		if (fds[i] >= 0 && fds[i] % 4 == 0)
			close(fds[i]);
	CHECK(chest_compact(&chest, keep, &drop) == -EMFILE);
	/* take() gives each back. */
	CHECK(chest_look(&chest, take, &seen) == -EMFILE && seen.wrong == 0 && seen.count >= 8);
	CHECK(chest_look(&chest, take, &seen) == -EMFILE && seen.times[1] == 2);
	for (size_t i = 0; i < 64; i++)
		CHECK(fds[i] < 0 || (fcntl(fds[i], F_GETFD) < 0) == (fds[i] % 4 == 0));
	/* To remove needs none. */
	CHECK(chest_compact(&chest, keep, &all) == 0);
	memset(&seen, 0, sizeof(seen));
	CHECK(chest_look(&chest, take, &seen) == 0 && seen.count == 0);
}

static void test_few_open(void **state)
{
	(void)state;
	in_child(few_open, NULL);
}

enum { WANTED = 500, PASSING = 300 };

static bool keep_wanted(void *context, uint64_t id)
{
	(void)context;
	return id <= WANTED;
}

/* Puts in and compacts until it is killed. */
static _Noreturn void churn(struct chest *chest, int ready)
{
	size_t done;

	for (;;) {
		CHECK(put(chest, WANTED + 1, PASSING, &done) == 0);
		CHECK(chest_compact(chest, keep_wanted, NULL) == 0);
		CHECK(ready < 0 || write(ready, "", 1) == 1);
		closep(&ready);
		ready = -1;
	}
}

static void kill_one(struct chest *chest, unsigned nanoseconds)
{
	const struct timespec delay = { .tv_nsec = nanoseconds };
	int ready[2], status;
	char byte;
	pid_t pid;

	assert_return_code(pipe2(ready, O_CLOEXEC), errno);
	pid = fork();
	assert_return_code(pid, errno);
	if (pid == 0)
		churn(chest, ready[1]);
	close(ready[1]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	nanosleep(&delay, NULL);
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
}

/* Killed at any time: everything wanted is in the chest, and the next one cleans up. */
static void test_killed(void **state)
{
	size_t before = count_open(), doubled = 0;
	const struct seen *seen;
	struct chest chest;

	(void)state;
	assert_int_equal(chest_new(&chest), 0);
	put_all(&chest, 1, WANTED);
	for (unsigned i = 0; i < 200; i++) {
		kill_one(&chest, i * 10007 % 2000 * 1000);
		seen = look(&chest);
		for (size_t id = 1; id <= WANTED; id++)
			assert_true(seen->times[id] >= 1);
		doubled += seen->times[1] > 1 || seen->times[WANTED / 2] > 1 ||
			   seen->times[WANTED] > 1;
		assert_true(seen->count <= 2 * (WANTED + PASSING));
	}
	assert_true(doubled > 0); /* some died in the middle */
	assert_int_equal(chest_compact(&chest, keep_wanted, NULL), 0);
	assert_int_equal(look(&chest)->count, WANTED);
	assert_int_equal(count_messages(&chest), (WANTED + MESSAGE - 1) / MESSAGE);
	chest_clear(&chest);
	assert_int_equal(count_open(), before);
}

enum { FEW = 40 };

static bool keep_few(void *context, uint64_t id)
{
	(void)context;
	return id <= FEW;
}

/* With messages of 16. */
static _Noreturn void compact_once(struct chest *chest)
{
	limit_open(128);
	CHECK(ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0 && raise(SIGSTOP) == 0);
	CHECK(chest_compact(chest, keep_few, NULL) == 0);
	_exit(0);
}

/* Kills a child that compacts when it enters or leaves its nth system call. Returns whether it came
 * so far. */
static bool kill_at(struct chest *chest, size_t n)
{
	pid_t pid = fork();
	int status;

	assert_return_code(pid, errno);
	if (pid == 0)
		compact_once(chest);
	for (size_t i = 0;; i++) {
		assert_int_equal(waitpid(pid, &status, 0), pid);
		if (WIFEXITED(status)) {
			assert_int_equal(WEXITSTATUS(status), 0);
			return false;
		}
		if (i == n)
			break;
		assert_return_code(ptrace(PTRACE_SYSCALL, pid, NULL, NULL), errno);
	}
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return true;
}

/* Killed at each step of a compaction. */
static void test_killed_everywhere(void **state)
{
	static const size_t slices[] = { 1, 7, 16 };
	const struct seen *seen;
	struct chest chest;

	(void)state;
	for (size_t row = 0; row < ARRAY_SIZE(slices); row++) {
		bool killed = true;
		size_t n;

		for (n = 0; killed; n++) {
			assert_int_equal(chest_new(&chest), 0);
			for (size_t id = 1; id <= FEW + 14; id += slices[row])
				put_all(&chest, id, slices[row]);
			put_all(&chest, 1, 1); /* as one that died before left it */
			killed = kill_at(&chest, n);
			seen = look(&chest);
			for (size_t id = 1; id <= FEW; id++)
				assert_true(seen->times[id] >= 1);
			assert_int_equal(chest_compact(&chest, keep_few, NULL), 0);
			assert_int_equal(look(&chest)->count, FEW);
			chest_clear(&chest);
		}
		assert_true(n > FEW);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_user),
		cmocka_unit_test(test_few_open),
		cmocka_unit_test(test_killed),
		cmocka_unit_test(test_killed_everywhere),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
