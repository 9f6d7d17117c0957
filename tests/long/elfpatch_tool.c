/* SPDX-License-Identifier: MIT */
/* elfpatch_tool apply WANTED IN OUT: writes IN as it would be served and tells the plan.
 * elfpatch_tool fill IN OUT: writes IN with the slack behind its read-only loads filled, so that a
 * plan needs a tail.
 * elfpatch_tool bench WANTED FILE...: median and longest time of a plan and the most reads. */
#include <elf.h>
#include <time.h>

#include "patched.h"
#include "util.h"

#define ROUNDS 200

static int apply(const char *wanted, const char *from, const char *to)
{
	struct elfpatch_plan plan;
	struct image image;

	if (!image_open(from, &image) || !image_plan(&image, wanted, &plan))
		return 1;
	printf("%s\t%s\t%zu bytes differ\t%s\n", elfpatch_kind_name(plan.kind),
		elfpatch_refusal_text(plan.refusal), image_difference(&image, plan.overlay),
		plan.runpath ? plan.runpath : "");
	return image_write(&image, plan.overlay, to) ? 0 : 1;
}

static int fill(const char *from, const char *to)
{
	const Elf64_Ehdr *header;
	struct image image;

	if (!image_open(from, &image))
		return 1;
	header = (const void *)image.bytes;
	for (size_t i = 0; i < header->e_phnum; i++) {
		const Elf64_Phdr *load =
			(const Elf64_Phdr *)(const void *)(image.bytes + header->e_phoff) + i;
		uint64_t end = load->p_offset + load->p_filesz;

		if (load->p_type == PT_LOAD && !(load->p_flags & PF_W))
			for (; end < image.size && end % 4096 && image.bytes[end] == 0; end++)
				image.bytes[end] = 0xaa;
	}
	return image_write(&image, NULL, to) ? 0 : 1;
}

static int64_t read_file(void *context, void *buffer, size_t size, uint64_t offset)
{
	return pread(*(int *)context, buffer, size, (off_t)offset);
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The median of many plans for one file by pread(2), in microseconds; < 0: none can be made. */
static double measure(const char *wanted, const char *path, unsigned *reads)
{
	double times[ROUNDS];
	struct image image;
	struct elfpatch_plan plan;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct elf_input input = { read_file, &fd, 0 };

	if (fd < 0 || !image_open(path, &image))
		return -1;
	input.size = image.size;
	if (!image_plan(&image, wanted, &plan))
		return -1;
	*reads = image.reads;
	elfpatch_clear(&plan);
	image_close(&image);
	for (size_t i = 0; i < ROUNDS; i++) {
		struct timespec start, end;

		clock_gettime(CLOCK_MONOTONIC, &start);
		if (elfpatch(&input, wanted, &plan) < 0)
			return -1;
		elfpatch_clear(&plan);
		clock_gettime(CLOCK_MONOTONIC, &end);
		times[i] = (double)(end.tv_sec - start.tv_sec) * 1e6 +
			   (double)(end.tv_nsec - start.tv_nsec) / 1e3;
	}
	close(fd);
	qsort(times, ROUNDS, sizeof(*times), compare);
	return times[ROUNDS / 2];
}

static int bench(const char *wanted, char **paths, size_t count)
{
	_cleanup_(freep) double *times = calloc(count, sizeof(*times));
	unsigned most = 0;
	size_t done = 0;

	for (size_t i = 0; times && i < count; i++) {
		unsigned reads = 0;
		double median = measure(wanted, paths[i], &reads);

		if (median < 0)
			continue;
		times[done++] = median;
		most = reads > most ? reads : most;
	}
	if (done == 0)
		return 1;
	qsort(times, done, sizeof(*times), compare);
	printf("%zu files: median %.1f us, longest %.1f us, at most %u reads\n", done,
		times[done / 2], times[done - 1], most);
	return times[done / 2] < 20 && most <= 10 ? 0 : 1;
}

int main(int argc, char **argv)
{
	if (argc == 5 && strcmp(argv[1], "apply") == 0)
		return apply(argv[2], argv[3], argv[4]);
	if (argc == 4 && strcmp(argv[1], "fill") == 0)
		return fill(argv[2], argv[3]);
	if (argc > 3 && strcmp(argv[1], "bench") == 0)
		return bench(argv[2], argv + 3, (size_t)argc - 3);
	return 2;
}
