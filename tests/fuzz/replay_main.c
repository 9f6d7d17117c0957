/* SPDX-License-Identifier: MIT */
/* replay_main: feeds files (and all files of directories) to one fuzz target, without libFuzzer, so
 * that `make check` replays every corpus with any compiler. */
#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool replay_file(const char *path)
{
	FILE *file = fopen(path, "rb");
	uint8_t *data = NULL;
	size_t size = 0;
	bool good = false;

	if (!file || fseek(file, 0, SEEK_END) < 0)
		goto out;
	size = (size_t)ftell(file);
	rewind(file);
	/* Exactly as large as the input, so that a sanitizer sees a read behind its end. */
	data = malloc(size ? size : 1);
	if (!data || fread(data, 1, size, file) != size)
		goto out;
	LLVMFuzzerTestOneInput(data, size);
	good = true;
out:
	if (!good)
		fprintf(stderr, "%s: %s\n", path, strerror(errno));
	free(data);
	if (file)
		fclose(file);
	return good;
}

static size_t replay_directory(const char *path, bool *good)
{
	DIR *directory = opendir(path);
	struct dirent *entry;
	size_t count = 0;

	if (!directory) {
		fprintf(stderr, "%s: %s\n", path, strerror(errno));
		*good = false;
		return 0;
	}
	while ((entry = readdir(directory))) {
		char name[4096];

		if (entry->d_name[0] == '.')
			continue;
		snprintf(name, sizeof(name), "%s/%s", path, entry->d_name);
		*good = replay_file(name) && *good;
		count++;
	}
	closedir(directory);
	return count;
}

int main(int argc, char **argv)
{
	bool good = true;
	size_t count = 0;

	for (int i = 1; i < argc; i++) {
		struct stat st;

		if (stat(argv[i], &st) == 0 && S_ISDIR(st.st_mode)) {
			count += replay_directory(argv[i], &good);
		} else {
			good = replay_file(argv[i]) && good;
			count++;
		}
	}
	printf("%zu inputs replayed\n", count);
	return good && count > 0 ? 0 : 1;
}
