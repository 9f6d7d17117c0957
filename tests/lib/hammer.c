/* SPDX-License-Identifier: MIT */
/* hammer MNT SECONDS [THREADS]: readers that never stop: each opens, reads, maps, lists, reads
 * links, asks for absent names below MNT/lib, and compares with what was there at first, or with a
 * second tree of expected contents. Prints ops, failed, hung and the longest one; exit 1 where
 * something failed or hung.
 *
 * A file's content is right when it is one of those that were seen under its name in the learning
 * phase, which takes every directory that is given behind `--or` too (the other side of a toggle).
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { NAMES_MAX = 4096, VERSIONS_MAX = 8, THREADS_MAX = 64, HUNG_MS = 10000 };

struct name {
	char name[256];
	bool is_link;
	uint64_t contents[VERSIONS_MAX]; /* hashes of bytes or of the link's text */
	unsigned n_contents;
};

struct reader {
	pthread_t thread;
	atomic_llong since; /* ms; 0: between two operations */
	const char *_Atomic operation;
	char path[4096];
	bool told;
};

static struct name names[NAMES_MAX];
static unsigned n_names;
static struct reader readers[THREADS_MAX];
static char directory[3000];
static atomic_bool stop;
static atomic_ullong operations, failures;
static atomic_llong longest;
static bool may_be_absent; /* a toggle adds and removes names */

/* $HAMMER_SKIP: a part of the names that are left alone. */
static bool is_skipped(const char *name)
{
	static const char *part;

	if (!part)
		part = getenv("HAMMER_SKIP") ? getenv("HAMMER_SKIP") : "";
	return name[0] == '.' || (*part && strstr(name, part));
}

static long long now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000LL + now.tv_nsec / 1000000;
}

static uint64_t hash(const void *data, size_t size)
{
	const unsigned char *bytes = data;
	uint64_t h = 0xcbf29ce484222325;

	for (size_t i = 0; i < size; i++)
		h = (h ^ bytes[i]) * 0x100000001b3;
	return h;
}

static void failed(const char *what, const char *path, const char *why)
{
	if (atomic_fetch_add(&failures, 1) < 20)
		fprintf(stderr, "hammer: %s %s: %s\n", what, path, why);
}

static void begin(struct reader *reader, const char *operation)
{
	reader->operation = operation;
	atomic_store(&reader->since, now_ms());
}

static void end(struct reader *reader)
{
	long long took = now_ms() - atomic_exchange(&reader->since, 0), before = longest;

	while (took > before && !atomic_compare_exchange_weak(&longest, &before, took))
		;
	atomic_fetch_add(&operations, 1);
}

static bool is_known(const struct name *name, uint64_t content)
{
	for (unsigned i = 0; i < name->n_contents; i++)
		if (name->contents[i] == content)
			return true;
	return false;
}

/* The bytes of a file, through read or through a mapping. */
static int content_of(const char *path, bool maps, uint64_t *ret_content)
{
	static __thread unsigned char buffer[1 << 20];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	ssize_t got = 0;
	size_t size = 0;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) < 0)
		got = -1;
	if (maps && got == 0 && st.st_size > 0) {
		void *bytes = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);

		got = bytes == MAP_FAILED ? -1 : 0;
		if (got == 0) {
			*ret_content = hash(bytes, (size_t)st.st_size);
			munmap(bytes, (size_t)st.st_size);
		}
	} else if (got == 0) {
		while (size < sizeof(buffer) &&
			(got = pread(fd, buffer + size, sizeof(buffer) - size, (off_t)size)) > 0)
			size += (size_t)got;
		*ret_content = hash(buffer, size);
	}
	if (got < 0)
		got = -errno;
	close(fd);
	return (int)got;
}

static void check_name(struct reader *reader, const struct name *name, unsigned round)
{
	uint64_t content = 0;
	char target[4096];
	int r;

	snprintf(reader->path, sizeof(reader->path), "%s/%s", directory, name->name);
	if (name->is_link) {
		begin(reader, "readlink");
		r = (int)readlink(reader->path, target, sizeof(target));
		if (r < 0)
			r = -errno;
		else
			content = hash(target, (size_t)r);
	} else {
		begin(reader, round % 2 ? "map" : "read");
		r = content_of(reader->path, round % 2, &content);
	}
	end(reader);
	if (r < 0 && !(may_be_absent && r == -ENOENT))
		failed(reader->operation, reader->path, strerror(-r));
	else if (r >= 0 && !is_known(name, content))
		failed(reader->operation, reader->path, "other content");
}

static void check_absent(struct reader *reader, unsigned round)
{
	struct stat st;
	int r;

	snprintf(reader->path, sizeof(reader->path), "%s/absent-%u", directory, round % 97);
	begin(reader, "absent");
	r = stat(reader->path, &st);
	end(reader);
	if (r == 0 || errno != ENOENT)
		failed("absent", reader->path, r == 0 ? "is there" : strerror(errno));
}

static void check_list(struct reader *reader)
{
	DIR *listing;
	struct dirent *entry;
	unsigned found = 0;

	snprintf(reader->path, sizeof(reader->path), "%s", directory);
	begin(reader, "list");
	listing = opendir(directory);
	errno = 0;
	while (listing && (entry = readdir(listing)))
		found += !is_skipped(entry->d_name);
	if (!listing || errno != 0)
		failed("list", directory, strerror(errno));
	else if (!may_be_absent && found != n_names)
		failed("list", directory, "another number of names");
	if (listing)
		closedir(listing);
	end(reader);
}

static void *read_for_ever(void *data)
{
	struct reader *reader = data;

	for (unsigned round = (unsigned)(reader - readers); !stop; round++) {
		check_name(reader, &names[round % n_names], round / n_names);
		check_absent(reader, round);
		if (round % 16 == 0)
			check_list(reader);
	}
	return NULL;
}

static struct name *name_at(const char *text)
{
	for (unsigned i = 0; i < n_names; i++)
		if (strcmp(names[i].name, text) == 0)
			return &names[i];
	if (n_names == NAMES_MAX || strlen(text) >= sizeof(names[0].name))
		exit(2);
	snprintf(names[n_names].name, sizeof(names[0].name), "%s", text);
	return &names[n_names++];
}

static void learn(const char *from)
{
	DIR *listing = opendir(from);
	struct dirent *entry;

	if (!listing) {
		perror(from);
		exit(2);
	}
	while ((entry = readdir(listing))) {
		char path[4400], target[4096];
		struct name *name;
		struct stat st;
		uint64_t content = 0;
		ssize_t size;

		snprintf(path, sizeof(path), "%s/%s", from, entry->d_name);
		if (is_skipped(entry->d_name) || lstat(path, &st) < 0 || S_ISDIR(st.st_mode))
			continue;
		name = name_at(entry->d_name);
		name->is_link = S_ISLNK(st.st_mode);
		if (name->is_link) {
			size = readlink(path, target, sizeof(target));
			content = hash(target, size > 0 ? (size_t)size : 0);
		} else if (content_of(path, false, &content) < 0) {
			perror(path);
			exit(2);
		}
		if (!is_known(name, content) && name->n_contents < VERSIONS_MAX)
			name->contents[name->n_contents++] = content;
	}
	closedir(listing);
}

static unsigned count_hung(unsigned count)
{
	unsigned hung = 0;

	for (unsigned i = 0; i < count; i++) {
		long long since = readers[i].since;

		if (since == 0 || now_ms() - since < HUNG_MS)
			continue;
		hung++;
		if (!readers[i].told)
			fprintf(stderr, "hammer: %s %s hangs\n", readers[i].operation,
				readers[i].path);
		readers[i].told = true;
	}
	return hung;
}

static void on_signal(int number)
{
	(void)number;
	stop = true;
}

int main(int argc, char **argv)
{
	unsigned count = argc > 3 ? (unsigned)atoi(argv[3]) : 4;
	long long deadline;
	unsigned hung;

	if (argc < 3 || count == 0 || count > THREADS_MAX)
		return 2;
	snprintf(directory, sizeof(directory), "%s/lib", argv[1]);
	learn(directory);
	for (int i = 4; i < argc; i++) {
		may_be_absent = true;
		learn(argv[i]);
	}
	if (n_names == 0)
		return 2;
	signal(SIGTERM, on_signal);
	deadline = now_ms() + 1000LL * atoi(argv[2]);
	puts("ready");
	fflush(stdout);
	for (unsigned i = 0; i < count; i++)
		pthread_create(&readers[i].thread, NULL, read_for_ever, &readers[i]);
	while (!stop && now_ms() < deadline && count_hung(count) == 0)
		usleep(20 * 1000);
	stop = true;
	/* What is under way is given as long as a hung operation is. */
	for (long long last = now_ms() + HUNG_MS; now_ms() < last;) {
		unsigned busy = 0;

		for (unsigned i = 0; i < count; i++)
			busy += readers[i].since != 0;
		if (busy == 0)
			break;
		usleep(10 * 1000);
	}
	hung = count_hung(count);
	printf("ops=%llu failed=%llu hung=%u longest_ms=%lld\n", (unsigned long long)operations,
		(unsigned long long)failures, hung, (long long)longest);
	fflush(stdout);
	_exit(failures > 0 || hung > 0 || operations == 0 ? EXIT_FAILURE : EXIT_SUCCESS);
}
