/* SPDX-License-Identifier: MIT */
/* elfpatch: what the new RUNPATH is, and which of the two ways puts it in. */
#include "elfpatch.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "elfpatch_internal.h"
#include "util.h"

/* ld.so asserts that it has no RUNPATH itself. */
static const char *const loader_prefixes[] = { "ld-", "ld.so", "ld64.so" };

struct attempt {
	struct elfpatch_file file;
	struct elfpatch_source source;
	struct overlay *overlay;
	char *old, *runpath; /* RUNPATH or RPATH of before; the whole new one */
};

static void attempt_clear(struct attempt *attempt)
{
	elfpatch_file_clear(&attempt->file);
	elfpatch_source_clear(&attempt->source);
	overlay_unref(attempt->overlay);
	free(attempt->old);
	free(attempt->runpath);
}

static int check_loader(struct elfpatch_file *file)
{
	char soname[8] = "";
	uint64_t string, size = sizeof(soname) - 1;
	int r;

	if (file->soname == ELFPATCH_NONE)
		return 0;
	string = file->entries[file->soname].d_un.d_val;
	if (string >= file->strings_size)
		return ELFPATCH_STRANGE;
	if (size > file->strings_size - string)
		size = file->strings_size - string;
	r = elfpatch_read(file, soname, (size_t)size, file->strings + string, true);
	if (r != 0)
		return r;
	for (size_t i = 0; i < ARRAY_SIZE(loader_prefixes); i++)
		if (string_has_prefix(soname, loader_prefixes[i]))
			return ELFPATCH_LOADER;
	return 0;
}

static bool begins_with(const char *path, const char *wanted)
{
	size_t length = strlen(wanted);

	return strncmp(path, wanted, length) == 0 && (path[length] == '\0' || path[length] == ':');
}

/* The old and the new RUNPATH. An empty old one means nothing, but "wanted:" would mean the
 * current directory. */
static int make_runpath(struct attempt *attempt, const char *wanted)
{
	struct elfpatch_file *file = &attempt->file;

	if (file->path != ELFPATCH_NONE) {
		int r = elfpatch_string(file, file->path, &attempt->old);

		if (r != 0)
			return r;
	}
	if (attempt->old && begins_with(attempt->old, wanted))
		attempt->runpath = strdup(attempt->old);
	else if (attempt->old && *attempt->old)
		attempt->runpath = string_format("%s:%s", wanted, attempt->old);
	else
		attempt->runpath = strdup(wanted);
	if (!attempt->runpath)
		return -ENOMEM;
	return strlen(attempt->runpath) < ELFPATCH_RUNPATH_MAX ? 0 : ELFPATCH_STRANGE;
}

static int write_edits(struct attempt *attempt, enum elfpatch_kind *ret_kind)
{
	struct elfpatch_file *file = &attempt->file;
	/* Only the tag of such an RPATH changes. */
	bool same = attempt->old && strcmp(attempt->old, attempt->runpath) == 0;
	int r = elfpatch_place(file, same ? NULL : attempt->runpath, attempt->overlay);

	*ret_kind = ELFPATCH_IN_PLACE;
	if (r == ELFPATCH_STRANGE) {
		r = elfpatch_tail(file, attempt->runpath, attempt->overlay);
		*ret_kind = ELFPATCH_TAIL;
	}
	if (r == -EOVERFLOW)
		r = ELFPATCH_STRANGE;
	if (r != 0)
		return r;
	overlay_finish(attempt->overlay);
	return elfpatch_verify(file, attempt->runpath, attempt->overlay);
}

/* Returns 0, an enum elfpatch_refusal, or -ENOMEM. */
static int make_plan(struct attempt *attempt, const char *wanted, enum elfpatch_kind *ret_kind)
{
	struct elfpatch_file *file = &attempt->file;
	int r = elfpatch_parse(file);

	if (r == 0)
		r = check_loader(file);
	if (r == 0)
		r = make_runpath(attempt, wanted);
	if (r != 0)
		return r;
	if (attempt->old && file->entries[file->path].d_tag == DT_RUNPATH &&
		begins_with(attempt->old, wanted)) {
		*ret_kind = ELFPATCH_NOT_NEEDED;
		return 0;
	}
	attempt->overlay = overlay_new(file->size);
	return attempt->overlay ? write_edits(attempt, ret_kind) : -ENOMEM;
}

int elfpatch(const struct elf_input *input, const char *wanted, struct elfpatch_plan *ret_plan)
{
	struct attempt attempt = { .source.input = input, .file.size = input->size };
	struct elfpatch_plan plan = { .kind = ELFPATCH_REFUSED };
	enum elfpatch_kind kind;
	int r;

	assert(*wanted);
	attempt.file.source = &attempt.source;
	r = make_plan(&attempt, wanted, &kind);
	if (r == 0) {
		plan.kind = kind;
		if (kind != ELFPATCH_NOT_NEEDED) {
			plan.overlay = steal_pointer(attempt.overlay);
			plan.runpath = steal_pointer(attempt.runpath);
		}
	} else if (r > 0) {
		plan.refusal = (enum elfpatch_refusal)r;
	}
	attempt_clear(&attempt);
	if (r < 0)
		return r;
	*ret_plan = plan;
	return 0;
}

void elfpatch_clear(struct elfpatch_plan *plan)
{
	overlay_unref(plan->overlay);
	free(plan->runpath);
	*plan = (struct elfpatch_plan){ .kind = ELFPATCH_REFUSED };
}

const char *elfpatch_kind_name(enum elfpatch_kind kind)
{
	switch (kind) {
	case ELFPATCH_IN_PLACE:
		return "in place";
	case ELFPATCH_TAIL:
		return "tail";
	case ELFPATCH_NOT_NEEDED:
		return "not needed";
	case ELFPATCH_REFUSED:
		return "refused";
	}
	return "unknown";
}

const char *elfpatch_refusal_text(enum elfpatch_refusal refusal)
{
	switch (refusal) {
	case ELFPATCH_FINE:
		return "nothing is wrong with it";
	case ELFPATCH_NOT_ELF64:
		return "it is not a whole ELF file of 64 bits, little-endian";
	case ELFPATCH_NOT_LIBRARY:
		return "it is a program or an object file, not a shared library";
	case ELFPATCH_LOADER:
		return "it is the dynamic loader itself";
	case ELFPATCH_NO_DYNAMIC:
		return "it has no dynamic section";
	case ELFPATCH_STRANGE:
		return "its headers or its dynamic section are of an unknown form";
	case ELFPATCH_NOT_VERIFIED:
		return "a RUNPATH was tried, but the result did not read back as wanted";
	case ELFPATCH_IO:
		return "it cannot be read";
	}
	return "unknown";
}
