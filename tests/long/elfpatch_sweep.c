/* SPDX-License-Identifier: MIT */
/* elfpatch_sweep WANTED DIR FILE...: for each library a plan; a copy in DIR/o and the patched one
 * in DIR/p are loaded by a process each, and must end in the same: loaded or not and why not, the
 * set of objects, the address of each symbol that dlsym gives. readelf and patchelf must show the
 * RUNPATH. Prints what differs, then one line of counts. Exits 1 where a library that loaded no
 * longer does, or a RUNPATH is not shown. */
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <sys/wait.h>

#include "patched.h"
#include "util.h"

#define OUTCOME_MAX 16384
#define SECONDS_MAX 30

static const char *work;
static size_t counts[4], refusals[8], loaded, broken, other, unseen, far;

struct loading {
	const char *path, *directory; /* the copy, and what is left out of texts */
	const struct image *image;    /* the original: names of symbols */
	char text[OUTCOME_MAX];
	size_t size;
};

/* Directories of the two copies are left out of what is compared. */
static void add_text(struct loading *loading, const char *text)
{
	size_t skip = strlen(loading->directory);

	while (*text && loading->size < sizeof(loading->text) - 1) {
		if (strncmp(text, loading->directory, skip) == 0)
			text += skip;
		else
			loading->text[loading->size++] = *text++;
	}
}

static int add_object(struct dl_phdr_info *info, size_t size, void *data)
{
	(void)size;
	add_text(data, info->dlpi_name);
	add_text(data, "\n");
	return 0;
}

static const Elf64_Shdr *find_section(const struct image *image, uint32_t type)
{
	const Elf64_Ehdr *header = (const void *)image->bytes;

	if (header->e_shoff == 0 || header->e_shoff > image->size ||
		header->e_shnum * sizeof(Elf64_Shdr) > image->size - header->e_shoff)
		return NULL;
	for (size_t i = 0; i < header->e_shnum; i++) {
		const Elf64_Shdr *section =
			(const void *)(image->bytes + header->e_shoff + i * sizeof(Elf64_Shdr));

		if (section->sh_type == type)
			return section;
	}
	return NULL;
}

/* Of all that the library defines, relative to where it was loaded; TLS is elsewhere each time. */
static uint64_t hash_symbols(struct loading *loading, void *handle, size_t *ret_count)
{
	const struct image *image = loading->image;
	const Elf64_Ehdr *header = (const void *)image->bytes;
	const Elf64_Shdr *table = find_section(image, SHT_DYNSYM), *strings;
	uint64_t hash = FNV_START;
	struct link_map *map;

	if (!table || table->sh_link >= header->e_shnum ||
		dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0)
		return 0;
	strings =
		(const Elf64_Shdr *)(const void *)(image->bytes + header->e_shoff) + table->sh_link;
	for (size_t i = 1; i < table->sh_size / sizeof(Elf64_Sym); i++) {
		const Elf64_Sym *symbol =
			(const Elf64_Sym *)(const void *)(image->bytes + table->sh_offset) + i;
		const char *name =
			(const char *)image->bytes + strings->sh_offset + symbol->st_name;
		uint64_t address;

		if (symbol->st_shndx == SHN_UNDEF || ELF64_ST_BIND(symbol->st_info) == STB_LOCAL ||
			ELF64_ST_TYPE(symbol->st_info) == STT_TLS)
			continue;
		address = (uint64_t)(uintptr_t)dlsym(handle, name);
		if (address)
			address -= map->l_addr;
		hash = fnv1a(hash, name, strlen(name));
		hash = fnv1a(hash, &address, sizeof(address));
		*ret_count += 1;
	}
	return hash;
}

static void load(struct loading *loading, int out)
{
	int null = open("/dev/null", O_RDWR);
	size_t symbols = 0;
	void *handle;
	char line[64];

	dup2(null, 0), dup2(null, 1), dup2(null, 2);
	alarm(SECONDS_MAX);
	handle = dlopen(loading->path, RTLD_NOW | RTLD_LOCAL);
	if (handle) {
		uint64_t hash = hash_symbols(loading, handle, &symbols);

		snprintf(line, sizeof(line), "loaded, %zu symbols %016llx\n", symbols,
			(unsigned long long)hash);
		add_text(loading, line);
		dl_iterate_phdr(add_object, loading);
	} else {
		add_text(loading, dlerror());
	}
	if (write(out, loading->text, loading->size) < 0)
		_exit(1);
	_exit(0);
}

/* What became of it, as a text owned by the caller. */
static char *outcome_of(const char *kind, const char *name, const struct image *image)
{
	_cleanup_(freep) char *path = string_format("%s/%s/%s", work, kind, name);
	_cleanup_(freep) char *directory = string_format("%s/%s/", work, kind);
	struct loading loading = { .path = path, .directory = directory, .image = image };
	int ends[2], status;
	ssize_t got;
	pid_t pid;

	if (pipe(ends) < 0 || (pid = fork()) < 0)
		abort();
	if (pid == 0)
		load(&loading, ends[1]);
	close(ends[1]);
	while ((got = read(ends[0], loading.text + loading.size,
			sizeof(loading.text) - 1 - loading.size)) > 0)
		loading.size += (size_t)got;
	close(ends[0]);
	waitpid(pid, &status, 0);
	if (status != 0)
		return string_format("ended with %s %d", WIFSIGNALED(status) ? "signal" : "exit",
			WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
	return strdup(loading.text);
}

static bool prints(const char *command, const char *path, const char *wanted)
{
	_cleanup_(freep) char *line = string_format("%s '%s' 2>/dev/null", command, path);
	FILE *stream = popen(line, "r");
	char text[32768];
	bool found = false;

	while (stream && fgets(text, sizeof(text), stream))
		found = found || strstr(text, wanted);
	if (stream)
		pclose(stream);
	return found;
}

static void check_shown(const char *name, const struct elfpatch_plan *plan)
{
	_cleanup_(freep) char *path = string_format("%s/p/%s", work, name);
	_cleanup_(freep) char *bracketed = string_format("Library runpath: [%s]", plan->runpath);

	if (prints("readelf -dW", path, bracketed) &&
		prints("patchelf --print-rpath", path, plan->runpath))
		return;
	printf("%s: %s: RUNPATH is not shown\n", name, elfpatch_kind_name(plan->kind));
	unseen++;
}

static void compare_loads(
	const char *name, const struct image *image, const struct elfpatch_plan *plan)
{
	_cleanup_(freep) char *before = outcome_of("o", name, image);
	_cleanup_(freep) char *after = outcome_of("p", name, image);

	loaded += string_has_prefix(before, "loaded");
	if (strcmp(before, after) == 0)
		return;
	if (string_has_prefix(before, "loaded"))
		broken++;
	else
		other++;
	printf("%s: %s: was: %.400s\n  is: %.400s\n", name, elfpatch_kind_name(plan->kind), before,
		after);
}

static void sweep_one(const char *wanted, const char *file)
{
	const char *name = path_base(file);
	_cleanup_(freep) char *from = string_format("%s/o/%s", work, name);
	_cleanup_(freep) char *to = string_format("%s/p/%s", work, name);
	struct elfpatch_plan plan;
	struct image image;

	if (!image_open(file, &image))
		return;
	if (image.size < sizeof(Elf64_Ehdr) || !image_plan(&image, wanted, &plan)) {
		image_close(&image);
		return;
	}
	counts[plan.kind]++;
	refusals[plan.refusal]++;
	if (plan.refusal == ELFPATCH_STRANGE || plan.refusal == ELFPATCH_NOT_VERIFIED)
		printf("%s: %s\n", file, elfpatch_refusal_text(plan.refusal));
	if (plan.kind == ELFPATCH_IN_PLACE && image_difference(&image, plan.overlay) > 200)
		far++;
	if (plan.overlay) {
		if (!image_write(&image, NULL, from) || !image_write(&image, plan.overlay, to))
			abort();
		check_shown(name, &plan);
		compare_loads(name, &image, &plan);
		unlink(from);
		unlink(to);
	}
	fflush(stdout);
	elfpatch_clear(&plan);
	image_close(&image);
}

int main(int argc, char **argv)
{
	if (argc < 4)
		return 2;
	work = argv[2];
	for (int i = 3; i < argc; i++)
		sweep_one(argv[1], argv[i]);
	printf("%zu in place (%zu of them with more than 200 bytes), %zu tail, %zu not needed, %zu "
	       "refused",
		counts[ELFPATCH_IN_PLACE], far, counts[ELFPATCH_TAIL], counts[ELFPATCH_NOT_NEEDED],
		counts[ELFPATCH_REFUSED]);
	for (size_t i = 1; i < ARRAY_SIZE(refusals); i++)
		if (refusals[i] > 0)
			printf("; %zu: %s", refusals[i],
				elfpatch_refusal_text((enum elfpatch_refusal)i));
	printf("\n%zu loaded before, %zu of them no longer the same, %zu others with another end, "
	       "%zu RUNPATHs not shown\n",
		loaded, broken, other, unseen);
	return broken == 0 && unseen == 0 ? 0 : 1;
}
