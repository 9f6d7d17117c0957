/* SPDX-License-Identifier: MIT */
/* storm WORKERS SECONDS LINK OFF-TARGET ON-TARGET LIMIT-MS COMMAND...: runs COMMAND with "on" and
 * "off" in turn every 20 ms while WORKERS processes load libcuda.so.1 and
 * libnvidia-ptxjitcompiler.so.1 in a loop and compare their tags. A mixed pair is explained only if
 * a toggle was under way or came between its two opens; where libcuda itself loads the other one
 * (its sibling() does), none is. After each toggle LINK must lead to its target; the median time to
 * that is held against the limit. */
#include <dlfcn.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define WORKERS     8
#define MAX_TOGGLES 10000

struct shared {
	atomic_bool stop;
	atomic_ulong toggles; /* odd while one is under way */
	atomic_ulong loads, failed, mixed, unexplained;
	atomic_ulong inside_loads, inside_mixed;
	atomic_ulong inside_crossed; /* of one set although a toggle fell between the opens */
};

static double now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static const char *tag_of(void *library)
{
	const char *(*who)(void) = NULL;

	if (library)
		*(void **)&who = dlsym(library, "who");
	return who ? who() : NULL;
}

static void *load(const char *name)
{
	void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);

	if (!library)
		fprintf(stderr, "load failed: %s\n", dlerror());
	return library;
}

struct pair {
	void *cuda, *jit;
	unsigned long before, after; /* toggles at its two opens */
};

static void *ask_sibling(void *cuda, const char *name)
{
	void *(*sibling)(const char *name) = NULL;
	void *library;

	if (cuda)
		*(void **)&sibling = dlsym(cuda, "sibling");
	library = sibling ? sibling(name) : NULL;
	if (!library)
		fprintf(stderr, "libcuda's load failed: %s\n", sibling ? dlerror() : "no libcuda");
	return library;
}

static void pair_open(struct shared *shared, struct pair *pair, bool inside)
{
	pair->before = atomic_load(&shared->toggles);
	pair->cuda = load("libcuda.so.1");
	pair->jit = inside ? ask_sibling(pair->cuda, "libnvidia-ptxjitcompiler.so.1")
			   : load("libnvidia-ptxjitcompiler.so.1");
	pair->after = atomic_load(&shared->toggles);
}

static void pair_close(struct pair *pair)
{
	if (pair->cuda)
		dlclose(pair->cuda);
	if (pair->jit)
		dlclose(pair->jit);
}

static void pair_count(struct shared *shared, const struct pair *pair, bool inside)
{
	const char *a = tag_of(pair->cuda), *b = tag_of(pair->jit);

	atomic_fetch_add(inside ? &shared->inside_loads : &shared->loads, 1);
	if (!a || !b) {
		atomic_fetch_add(&shared->failed, 1);
	} else if (strcmp(a, b) != 0) {
		atomic_fetch_add(inside ? &shared->inside_mixed : &shared->mixed, 1);
		if (!inside && pair->before == pair->after && pair->before % 2 == 0)
			atomic_fetch_add(&shared->unexplained, 1);
	} else if (inside && pair->before != pair->after) {
		atomic_fetch_add(&shared->inside_crossed, 1);
	}
}

static int work(struct shared *shared)
{
	while (!atomic_load(&shared->stop)) {
		for (int inside = 0; inside < 2; inside++) {
			struct pair pair;

			pair_open(shared, &pair, inside);
			pair_count(shared, &pair, inside);
			pair_close(&pair);
		}
	}
	return 0;
}

static bool leads_to(const char *link, const char *want)
{
	char target[4096] = "";

	return readlink(link, target, sizeof(target) - 1) > 0 && strcmp(target, want) == 0;
}

/* Returns the command's status; *ret_ms is when the link was first seen to lead to its new target,
 * from before the command's start. */
static int toggle(
	char **command, const char *mode, const char *link, const char *want, double *ret_ms)
{
	const struct timespec rest = { .tv_nsec = 100000 };
	const double start = now_ms();
	posix_spawn_file_actions_t actions;
	char *arguments[32];
	size_t count = 0;
	pid_t pid;
	int status;

	while (count < 30 && command[count]) {
		arguments[count] = command[count];
		count++;
	}
	arguments[count++] = (char *)mode;
	arguments[count] = NULL;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
	if (posix_spawn(&pid, arguments[0], &actions, NULL, arguments, environ) != 0)
		return -1;
	posix_spawn_file_actions_destroy(&actions);
	while (!leads_to(link, want) && now_ms() - start < 5000)
		nanosleep(&rest, NULL);
	*ret_ms = now_ms() - start;
	return waitpid(pid, &status, 0) == pid ? status : -1;
}

static int compare(const void *a, const void *b)
{
	double difference = *(const double *)a - *(const double *)b;

	return difference < 0 ? -1 : difference > 0;
}

/* Returns how many toggles were done, or -1 after one that failed. */
static int toggle_for(struct shared *shared, double seconds, char **argv, double *times)
{
	double end = now_ms() + seconds * 1e3;
	int count = 0;

	while (now_ms() < end && count < MAX_TOGGLES) {
		const char *want = argv[count % 2 ? 4 : 5];
		const double start = now_ms();
		struct timespec rest = { .tv_nsec = 20000000 };
		int status;

		atomic_fetch_add(&shared->toggles, 1);
		status = toggle(argv + 7, count % 2 ? "off" : "on", argv[3], want, &times[count]);
		atomic_fetch_add(&shared->toggles, 1);
		if (status != 0 || !leads_to(argv[3], want)) {
			fprintf(stderr, "toggle %d: status %x, or %s leads not to %s\n", count,
				(unsigned)status, argv[3], want);
			return -1;
		}
		count++;
		if (now_ms() - start < 20)
			rest.tv_nsec -= (long)((now_ms() - start) * 1e6);
		else
			rest.tv_nsec = 0;
		nanosleep(&rest, NULL);
	}
	return count;
}

int main(int argc, char **argv)
{
	static double times[MAX_TOGGLES];
	struct shared *shared = mmap(
		NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int crashed = 0, count, workers;
	bool good;

	if (argc < 8 || shared == MAP_FAILED)
		return 2;
	workers = atoi(argv[1]);
	setvbuf(stdout, NULL, _IOLBF, 0);
	for (int i = 0; i < workers; i++)
		if (fork() == 0)
			_exit(work(shared));
	count = toggle_for(shared, atof(argv[2]), argv, times);
	atomic_store(&shared->stop, true);
	for (int i = 0; i < workers; i++) {
		int status;

		if (wait(&status) < 0 || status != 0)
			crashed++;
	}
	if (count <= 0)
		return 1;
	qsort(times, (size_t)count, sizeof(times[0]), compare);
	printf("%d toggles, command to new target visible: median %.1f ms, highest %.1f ms\n",
		count, times[count / 2], times[count - 1]);
	printf("%lu pairs loaded: %lu failed, %d crashed, %lu mixed (a toggle fell between the "
	       "two opens), %lu mixed without one\n",
		shared->loads, shared->failed, crashed, shared->mixed - shared->unexplained,
		shared->unexplained);
	printf("%lu pairs loaded by libcuda itself, %lu of them over a toggle: %lu mixed\n",
		shared->inside_loads, shared->inside_crossed, shared->inside_mixed);
	good = shared->failed == 0 && crashed == 0 && shared->unexplained == 0 &&
	       shared->inside_mixed == 0 && (workers == 0 || shared->loads > 100);
	if (times[count / 2] > atof(argv[6])) {
		printf("the median is over %s ms\n", argv[6]);
		good = false;
	}
	return good ? 0 : 1;
}
