/* SPDX-License-Identifier: MIT */
/* pinned RUNS TOGGLES EVERY COMMAND...: runs COMMAND with "on" and "off" in turn. Before every
 * EVERYth toggle one more program begins, RUNS in all: it loads libcuda.so.1, sees TOGGLES toggles,
 * and then has libcuda load its siblings. Exit 0 if in each run all came from the set of its
 * libcuda.
 *
 * A libcuda with sibling() loads them from inside. The real one does so only where a GPU is: for it
 * they are loaded from where the loader says that a dlopen in libcuda looks. */
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#define MAX_RUNS 100

static const char *const siblings[] = {
	"libnvidia-ptxjitcompiler.so.1",
	"libnvidia-nvvm.so.4",
};

struct program {
	pid_t pid;
	int go;       /* a byte lets it go on */
	int begun_at; /* toggles before it */
};

/* The library's who(), else the layer that the mount has it from. Returns whether there is one. */
static bool tag_of(void *library, char *tag, size_t size)
{
	const char *(*who)(void) = NULL;
	struct link_map *map;
	ssize_t length;

	*(void **)&who = dlsym(library, "who");
	if (who) {
		snprintf(tag, size, "%s", who());
		return true;
	}
	if (dlinfo(library, RTLD_DI_LINKMAP, &map) != 0)
		return false;
	length = getxattr(map->l_name, "gldriverfs.layer", tag, size - 1);
	tag[length > 0 ? length : 0] = '\0';
	return length > 0;
}

/* Loads a library as a dlopen in libcuda would: the loader tells where that looks. */
static void *load_as_libcuda(void *cuda, const char *name)
{
	Dl_serinfo size, *places;
	void *library = NULL;

	if (dlinfo(cuda, RTLD_DI_SERINFOSIZE, &size) != 0)
		return NULL;
	places = malloc(size.dls_size);
	if (!places || dlinfo(cuda, RTLD_DI_SERINFOSIZE, places) != 0 ||
		dlinfo(cuda, RTLD_DI_SERINFO, places) != 0)
		return NULL;
	for (unsigned i = 0; !library && i < places->dls_cnt; i++) {
		char path[4096];

		snprintf(path, sizeof(path), "%s/%s", places->dls_serpath[i].dls_name, name);
		if (access(path, F_OK) == 0)
			library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	}
	free(places);
	return library;
}

/* Returns whether a sibling is of the set that `want` is the tag of. */
static bool sibling_fits(void *cuda, const char *name, const char *want)
{
	void *(*sibling)(const char *name) = NULL;
	char tag[256];
	void *library;

	*(void **)&sibling = dlsym(cuda, "sibling");
	library = sibling ? sibling(name) : load_as_libcuda(cuda, name);
	if (!library) {
		fprintf(stderr, "%s for libcuda of %s: %s\n", name, want, dlerror());
		return false;
	}
	if (tag_of(library, tag, sizeof(tag)) && strcmp(tag, want) == 0)
		return true;
	fprintf(stderr, "%s of %s for libcuda of %s\n", name, tag, want);
	return false;
}

/* The program: writes a byte when libcuda is loaded, reads one, loads the rest. */
static int run(int ready, int go)
{
	void *cuda = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
	bool good = true;
	char want[256], byte = 0;

	if (!cuda || !tag_of(cuda, want, sizeof(want))) {
		fprintf(stderr, "libcuda: %s\n", cuda ? "no tag" : dlerror());
		return 1;
	}
	if (write(ready, &byte, 1) != 1 || read(go, &byte, 1) != 1)
		return 1;
	for (size_t i = 0; i < sizeof(siblings) / sizeof(siblings[0]); i++)
		good &= sibling_fits(cuda, siblings[i], want);
	return good ? 0 : 1;
}

/* Returns when it has loaded libcuda, or not. */
static bool begin(struct program *program, int toggles)
{
	int ready[2], go[2];
	bool begun;
	char byte;

	if (pipe2(ready, O_CLOEXEC) != 0 || pipe2(go, O_CLOEXEC) != 0)
		return false;
	program->pid = fork();
	if (program->pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(ready[0]);
		close(go[1]);
		_exit(run(ready[1], go[0]));
	}
	close(ready[1]);
	close(go[0]);
	program->go = go[1];
	program->begun_at = toggles;
	begun = program->pid > 0 && read(ready[0], &byte, 1) == 1;
	close(ready[0]);
	return begun;
}

/* Lets it load the rest. Returns whether all was of one set. */
static bool end(const struct program *program)
{
	char byte = 0;
	int status = -1;

	if (write(program->go, &byte, 1) != 1)
		return false;
	close(program->go);
	return waitpid(program->pid, &status, 0) == program->pid && status == 0;
}

static bool toggle(char **command, const char *mode)
{
	posix_spawn_file_actions_t actions;
	char *arguments[32];
	int count = 0, status = -1;
	pid_t pid;

	while (count < 30 && command[count]) {
		arguments[count] = command[count];
		count++;
	}
	arguments[count++] = (char *)mode;
	arguments[count] = NULL;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
	if (posix_spawn(&pid, arguments[0], &actions, NULL, arguments, environ) != 0)
		return false;
	posix_spawn_file_actions_destroy(&actions);
	return waitpid(pid, &status, 0) == pid && status == 0;
}

int main(int argc, char **argv)
{
	static struct program programs[MAX_RUNS];
	int runs = argc > 4 ? atoi(argv[1]) : 0, toggles = argc > 4 ? atoi(argv[2]) : 0;
	int every = argc > 4 ? atoi(argv[3]) : 0, begun = 0, ended = 0, good = 0, done = 0;

	if (runs < 1 || runs > MAX_RUNS || toggles < 1 || every < 1)
		return 2;
	while (ended < runs) {
		if (ended < begun && programs[ended].begun_at + toggles == done) {
			good += end(&programs[ended++]);
			continue;
		}
		if (begun < runs && done == begun * every && !begin(&programs[begun++], done))
			return 1;
		if (!toggle(argv + 4, done % 2 ? "off" : "on")) {
			fprintf(stderr, "toggle %d failed\n", done);
			return 1;
		}
		done++;
	}
	printf("%d of %d runs of one set, each over %d toggles of %d\n", good, runs, toggles, done);
	return good == runs ? 0 : 1;
}
