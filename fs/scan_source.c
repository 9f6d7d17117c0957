/* SPDX-License-Identifier: MIT */
/* scan: the source of one walked file: opened, read, checked, and shared by inode and by cache. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <elf.h>

#include "scan_internal.h"
#include "manifest.h"
#include "soname.h"

#define READ_ATTEMPTS 3

/* The names that the policy has for machines come first, in the order of enum policy_machine. */
static const struct {
	uint16_t machine;
	uint8_t class;
	const char *name;
} machines[] = {
	[MACHINE_X86_64] = { EM_X86_64, ELFCLASS64, "x86_64" },
	[MACHINE_I386] = { EM_386, ELFCLASS32, "i386" },
	[MACHINE_AARCH64] = { EM_AARCH64, ELFCLASS64, "aarch64" },
	[MACHINE_ARMHF] = { EM_ARM, ELFCLASS32, "armhf" },
	{ EM_X86_64, ELFCLASS32, "x32" },
	{ EM_RISCV, ELFCLASS64, "riscv64" },
	{ EM_PPC64, ELFCLASS64, "ppc64" },
	{ EM_S390, ELFCLASS64, "s390x" },
};

static bool is_library(enum scan_expect expect)
{
	return expect == EXPECT_LIBRARY || expect == EXPECT_TREE_LIBRARY;
}

static int64_t read_fd(void *context, void *buffer, size_t size, uint64_t offset)
{
	ssize_t got;

	do
		got = pread(*(int *)context, buffer, size, (off_t)offset);
	while (got < 0 && errno == EINTR);
	return got < 0 ? -errno : got;
}

static bool unchanged(const struct stat *a, const struct stat *b)
{
	return a->st_size == b->st_size && a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
	       a->st_mtim.tv_nsec == b->st_mtim.tv_nsec && a->st_ctim.tv_sec == b->st_ctim.tv_sec &&
	       a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

static int because(char *why, char **ret_why)
{
	*ret_why = why;
	return why ? 1 : -ENOMEM;
}

/* A text that ld takes for a library; ld.so never opens it. */
static bool is_linker_script(int fd)
{
	static const char *const beginnings[] = { "/* GNU ld script", "INPUT", "GROUP",
		"OUTPUT_FORMAT" };
	char head[32] = "";

	if (pread(fd, head, sizeof(head) - 1, 0) <= 0)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(beginnings); i++)
		if (string_has_prefix(head, beginnings[i]))
			return true;
	return false;
}

static void release(struct source *source)
{
	source->root = rootfs_unref(source->root);
}

void scan_bind(struct source *source, struct rootfs *root)
{
	source->root = rootfs_ref(root);
	source->release = release;
}

static struct source *source_new(const struct rootfs_node *node, const struct stat *stat)
{
	struct source *source = calloc(1, sizeof(*source));

	if (!source)
		return NULL;
	atomic_init(&source->references, 1);
	source->identity.dev = stat->st_dev;
	source->identity.ino = stat->st_ino;
	source->identity.size = (uint64_t)stat->st_size;
	source->identity.mtime_sec = stat->st_mtim.tv_sec;
	source->identity.mtime_nsec = (uint32_t)stat->st_mtim.tv_nsec;
	source->ctime_sec = stat->st_ctim.tv_sec;
	source->ctime_nsec = (uint32_t)stat->st_ctim.tv_nsec;
	source->mode = stat->st_mode & ~07000u;
	source->uid = stat->st_uid;
	source->gid = stat->st_gid;
	source->in_store = string_has_prefix(node->path, "/nix/store/");
	source->covered = node->root->outer;
	source->path = strdup(node->path);
	source->real_path = rootfs_real_path(node->root, node->path);
	scan_bind(source, node->root);
	if (!source->path || !source->real_path)
		return source_unref(source);
	return source;
}

/* What is read of a file at one moment. */
struct reading {
	struct stat stat;
	int problem; /* enum elf_problem */
	struct elf_facts elf;
	struct compat_note *note;
	char *text;
};

static void reading_clear(struct reading *reading)
{
	elf_facts_clear(&reading->elf);
	free(reading->note);
	free(reading->text);
	reading->note = NULL;
	reading->text = NULL;
}

/* A libcuda of any layer: a source is shared by all that lead to it. */
static bool has_note(const struct elf_facts *elf, const char *path)
{
	const char *name = path_base(path);

	return soname_same_stem(name, "libcuda.so") ||
	       (elf->soname && soname_same_stem(elf->soname, "libcuda.so"));
}

/* Reads ELF facts and the note. Returns 0, a read's -errno in *ret_error, or -ENOMEM. */
static int read_elf(
	const struct elf_input *input, const char *path, struct reading *reading, int *ret_error)
{
	reading->problem = elf_read(input, &reading->elf, ret_error);
	if (reading->problem < 0)
		return reading->problem;
	if (reading->problem != ELF_FINE || !has_note(&reading->elf, path))
		return 0;
	reading->note = calloc(1, sizeof(*reading->note));
	if (!reading->note)
		return -ENOMEM;
	*ret_error = note_read(input, reading->note);
	if (*ret_error == -ENOMEM)
		return -ENOMEM;
	if (*ret_error < 0)
		reading->problem = ELF_IO;
	return 0;
}

/* Reads the text of a manifest that is not too large. Returns 0, a read's -errno in *ret_error, or
 * -ENOMEM. */
static int read_text(const struct elf_input *input, struct reading *reading, int *ret_error)
{
	int64_t got = 0;

	if (reading->problem == ELF_FINE || input->size > MANIFEST_MAX)
		return 0;
	reading->text = malloc((size_t)input->size + 1);
	if (!reading->text)
		return -ENOMEM;
	for (size_t done = 0; done < input->size; done += (size_t)got) {
		got = input->read(
			input->context, reading->text + done, (size_t)input->size - done, done);
		if (got <= 0) {
			*ret_error = got < 0 ? (int)got : -EIO;
			reading->problem = ELF_IO;
			return 0;
		}
	}
	return 0;
}

/* Reads what belongs together: the file does not change meanwhile. */
static int read_facts(int fd, const char *path, enum scan_expect expect,
	struct reading *ret_reading, char **ret_why)
{
	for (unsigned attempt = 0; attempt < READ_ATTEMPTS; attempt++) {
		struct elf_input input = { read_fd, &fd, 0 };
		struct reading reading = { 0 };
		struct stat after;
		int result, error = 0;

		if (fstat(fd, &reading.stat) < 0)
			return because(
				string_format("it cannot be read: %s", strerror(errno)), ret_why);
		if (!S_ISREG(reading.stat.st_mode))
			return because(strdup("it is not a regular file"), ret_why);
		input.size = (uint64_t)reading.stat.st_size;
		result = read_elf(&input, path, &reading, &error);
		if (result == 0 && expect == EXPECT_MANIFEST && reading.problem != ELF_IO)
			result = read_text(&input, &reading, &error);
		if (result == 0 && reading.problem == ELF_IO)
			result = because(
				string_format("it cannot be read: %s", strerror(-error)), ret_why);
		if (result == 0 && fstat(fd, &after) == 0 && unchanged(&reading.stat, &after)) {
			*ret_reading = reading;
			return 0;
		}
		reading_clear(&reading);
		if (result != 0)
			return result;
	}
	return because(strdup("it changes while it is read"), ret_why);
}

static int open_source(const struct rootfs_node *node, enum scan_expect expect,
	struct source **ret_source, int *ret_fd, char **ret_why)
{
	_cleanup_(closep) int fd = rootfs_reopen(node->fd, O_RDONLY);
	struct reading reading = { 0 };
	struct source *source;
	int result;

	if (fd < 0)
		return scan_is_shortage(fd)
			       ? fd
			       : because(string_format("it cannot be read: %s", strerror(-fd)),
					 ret_why);
	result = read_facts(fd, node->path, expect, &reading, ret_why);
	if (result != 0)
		return result;
	if (reading.problem != ELF_FINE && is_library(expect) &&
		!(expect == EXPECT_TREE_LIBRARY && reading.problem == ELF_NOT_ELF &&
			is_linker_script(fd)))
		return because(
			strdup(elf_problem_text((enum elf_problem)reading.problem)), ret_why);
	source = source_new(node, &reading.stat);
	if (!source) {
		reading_clear(&reading);
		return -ENOMEM;
	}
	source->is_elf = reading.problem == ELF_FINE;
	source->elf = reading.elf;
	source->note = reading.note;
	source->text = reading.text;
	source->identity.build_id_size = reading.elf.build_id_size;
	memcpy(source->identity.build_id, reading.elf.build_id, sizeof(reading.elf.build_id));
	*ret_source = source;
	*ret_fd = steal_fd(&fd);
	return 0;
}

static size_t inode_slot(const struct scan_job *job, uint64_t dev, uint64_t ino)
{
	uint64_t hash = fnv1a(fnv1a(FNV_START, &dev, sizeof(dev)), &ino, sizeof(ino));
	size_t slot = (size_t)hash & (job->by_inode_size - 1);

	while (job->by_inode[slot] && (job->by_inode[slot]->identity.dev != dev ||
					      job->by_inode[slot]->identity.ino != ino))
		slot = (slot + 1) & (job->by_inode_size - 1);
	return slot;
}

static int grow_inodes(struct scan_job *job)
{
	size_t old_size = job->by_inode_size;
	struct source **old = job->by_inode;

	if (job->n_by_inode * 2 < old_size)
		return 0;
	job->by_inode = calloc(old_size ? old_size * 2 : 256, sizeof(*job->by_inode));
	if (!job->by_inode) {
		job->by_inode = old;
		return -ENOMEM;
	}
	job->by_inode_size = old_size ? old_size * 2 : 256;
	for (size_t i = 0; i < old_size; i++)
		if (old[i])
			job->by_inode[inode_slot(job, old[i]->identity.dev, old[i]->identity.ino)] =
				old[i];
	free(old);
	return 0;
}

/* The descriptor goes to whoever keeps it, unless nobody waits for this job any more. */
static void offer_fd(struct scan_job *job, struct source *source, int fd)
{
	pthread_mutex_lock(&job->mutex);
	if (job->offer && !job->abandoned && !source->in_store) {
		job->offer(job->offer_context, source, fd);
		fd = -1;
	}
	pthread_mutex_unlock(&job->mutex);
	if (fd >= 0)
		close(fd);
}

/* Opened and read, cached, its descriptor offered. */
static int fresh_source(struct scan_job *job, const struct rootfs_node *node,
	enum scan_expect expect, struct source **ret_source, char **ret_why)
{
	struct source *source = NULL;
	int fd = -1, result = open_source(node, expect, &source, &fd, ret_why);

	if (result != 0)
		return result;
	if (job->cache) {
		struct source *kept = scan_cache_insert(job->cache, job->stamp, source);

		if (kept != source) {
			close(fd);
			fd = -1;
		}
		source_unref(source);
		source = kept;
	}
	if (fd >= 0)
		offer_fd(job, source, fd);
	*ret_source = source;
	return 0;
}

static int find_source(struct scan_job *job, const struct rootfs_node *node,
	enum scan_expect expect, struct source **ret_source, char **ret_why)
{
	struct stat stat = node->stat;
	struct source *source = NULL;
	size_t slot;
	int result;

	/* A device without a driver: perhaps a server's files, whose cached stat may be old. */
	if (major(stat.st_dev) == 0 && fstat(node->fd, &stat) < 0)
		return because(string_format("it cannot be read: %s", strerror(errno)), ret_why);
	if (grow_inodes(job) < 0)
		return -ENOMEM;
	slot = inode_slot(job, stat.st_dev, stat.st_ino);
	if (job->by_inode[slot])
		source = source_ref(job->by_inode[slot]);
	else if (job->cache)
		source = scan_cache_find(job->cache, job->stamp, node->root, node->path, &stat);
	/* What was taken as data is looked at again where a library is expected. */
	if (source && !source->is_elf && is_library(expect))
		source = source_unref(source);
	if (source && expect == EXPECT_MANIFEST && !source->is_elf && !source->text &&
		source->identity.size <= MANIFEST_MAX)
		source = source_unref(source);
	if (!source) {
		result = fresh_source(job, node, expect, &source, ret_why);
		if (result != 0)
			return result;
	}
	/* It may be another inode by now. */
	slot = inode_slot(job, source->identity.dev, source->identity.ino);
	if (!job->by_inode[slot]) {
		job->by_inode[slot] = source_ref(source);
		job->n_by_inode++;
	}
	*ret_source = source;
	return 0;
}

static char *machine_name(uint16_t machine, uint8_t class)
{
	for (size_t i = 0; i < ARRAY_SIZE(machines); i++)
		if (machines[i].machine == machine && machines[i].class == class)
			return strdup(machines[i].name);
	return string_format("machine %u (%u bits)", machine, class == ELFCLASS64 ? 64u : 32u);
}

/* Returns 0, 1 and why it is no library of this view, or -ENOMEM. */
static int check_library(const struct elf_facts *elf, enum policy_machine machine, char **ret_why)
{
	if (elf->encoding != ELFDATA2LSB)
		return because(strdup("it is for a big-endian machine"), ret_why);
	if (elf->machine != machines[machine].machine || elf->class != machines[machine].class) {
		_cleanup_(freep) char *its = machine_name(elf->machine, elf->class);

		return because(its ? string_format("it is for %s, this view is for %s", its,
					     machines[machine].name)
				   : NULL,
			ret_why);
	}
	if (elf->type == ET_EXEC || elf->pie)
		return because(strdup("it is an executable"), ret_why);
	if (elf->type != ET_DYN)
		return because(strdup(elf->type == ET_REL ? "it is an object file"
							  : "it is not a shared library"),
			ret_why);
	return 0;
}

int scan_source(struct scan_job *job, const struct rootfs_node *node, enum scan_expect expect,
	struct source **ret_source, char **ret_why)
{
	_cleanup_(source_unrefp) struct source *source = NULL;
	int result = find_source(job, node, expect, &source, ret_why);

	if (result == 0 && is_library(expect) && source->is_elf)
		result = check_library(&source->elf, job->machine, ret_why);
	if (result == 0)
		*ret_source = steal_pointer(source);
	return result;
}
