/* SPDX-License-Identifier: MIT */
/* findings: what libraries need and nothing serves. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "findings_internal.h"
#include "soname.h"

/* The names, without directory, of all served files that loading `name` takes, as far as it is not
 * found by a RUNPATH. */
static int add_reached(
	const struct findings_job *job, const char *name, struct string_list *reached)
{
	const struct verdict *verdict = findings_find(job, name);
	const char *file = verdict ? path_base(verdict->served) : NULL;

	if (!verdict || string_list_has(reached, file))
		return 0;
	if (string_list_add(reached, file) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < verdict->candidate->source->elf.needed.count; i++)
		if (add_reached(job, verdict->candidate->source->elf.needed.items[i], reached) < 0)
			return -ENOMEM;
	return 0;
}

static int add_unresolved(const struct unresolved *unresolved, const struct string_list *reached,
	struct findings *findings)
{
	bool programs = soname_classify(unresolved->needed) == SONAME_ASK;
	bool libcuda = string_list_has(reached, unresolved->by);
	enum diag_level level = programs ? DIAG_INFO : libcuda ? DIAG_ERROR : DIAG_WARNING;
	const char *id = programs ? "program-library" : libcuda ? "cuda-load" : "missing-library";
	struct finding *finding;
	int result = findings_add(findings, level, id, NULL, 0, "%s is needed by %s and %s",
		unresolved->needed, unresolved->by,
		programs ? "is left to the program" : "no layer provides it");

	if (result < 0)
		return result;
	finding = &findings->items[findings->count - 1];
	finding->needed = strdup(unresolved->needed);
	finding->by = strdup(unresolved->by);
	return finding->needed && finding->by ? 0 : -ENOMEM;
}

/* What libcuda loads on a Jetson with the nvgpu stack, by L4T releases (FACTS.md 3: NEEDED of the
 * compat libcuda and its closure; nvidia-l4t-core's file list). */
static const struct piece {
	const char *name;
	unsigned first, last; /* major numbers of L4T */
} pieces[] = {
	{ "libnvos.so", 0, 99 },
	{ "libnvrm.so", 0, 33 },
	{ "libnvrm_chip.so", 34, 99 },
	{ "libnvrm_gpu.so", 0, 99 },
	{ "libnvrm_graphics.so", 0, 33 },
	{ "libnvrm_host1x.so", 34, 99 },
	{ "libnvrm_mem.so", 34, 99 },
	{ "libnvrm_sync.so", 34, 99 },
	{ "libnvsciipc.so", 34, 99 },
	{ "libnvsocsys.so", 34, 99 },
};

static bool is_told(const struct generation *generation, const char *name)
{
	for (size_t i = 0; i < generation->resolution->n_unresolved; i++)
		if (strcmp(generation->resolution->unresolved[i].needed, name) == 0)
			return true;
	return false;
}

/* "a, b" of those that no layer has; "" where there is nothing to tell. NULL without memory. */
static char *list_missing(const struct findings_job *job, unsigned long major)
{
	char *text = strdup("");

	for (size_t i = 0; text && i < ARRAY_SIZE(pieces); i++) {
		const char *name = pieces[i].name;
		char *longer;

		if (major < pieces[i].first || major > pieces[i].last || findings_find(job, name) ||
			is_told(job->generation, name))
			continue;
		longer = string_format("%s%s%s", text, *text ? ", " : "", name);
		free(text);
		text = longer;
	}
	return text;
}

static int add_pieces(struct findings_job *job)
{
	const struct fact *facts = job->generation->decision.facts.items;
	const char *l4t = facts[FACT_L4T].value;
	unsigned long major = l4t ? strtoul(l4t, NULL, 10) : 0;
	_cleanup_(freep) char *missing = NULL;

	if (!major || !string_equal(facts[FACT_GPU_STACK].value, "nvgpu"))
		return 0;
	missing = list_missing(job, major);
	if (!missing)
		return -ENOMEM;
	if (!*missing)
		return 0;
	return findings_add(&job->findings, DIAG_WARNING, "missing-libnvrm", NULL, 0,
		"no layer has what belongs to L4T %s: %s", l4t, missing);
}

int findings_add_closure(struct findings_job *job)
{
	const struct resolution *resolution = job->generation->resolution;
	struct string_list reached = { 0 };
	int result = add_reached(job, "libcuda.so.1", &reached);

	for (size_t i = 0; i < resolution->n_unresolved && result == 0; i++)
		result = add_unresolved(&resolution->unresolved[i], &reached, &job->findings);
	string_list_clear(&reached);
	return result == 0 ? add_pieces(job) : result;
}
