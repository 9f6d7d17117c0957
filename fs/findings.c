/* SPDX-License-Identifier: MIT */
#include "findings_internal.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "candidate.h"
#include "soname.h"

static void finding_clear(struct finding *finding)
{
	free(finding->file);
	free(finding->text);
	free(finding->needed);
	free(finding->by);
}

void findings_clear(struct findings *findings)
{
	for (size_t i = 0; i < findings->count; i++)
		finding_clear(&findings->items[i]);
	free(findings->items);
	*findings = (struct findings){ 0 };
}

int findings_add(struct findings *findings, enum diag_level level, const char *id, const char *file,
	unsigned line, const char *format, ...)
{
	struct finding finding = { .level = level, .kind = finding_kind(id), .line = line };
	va_list arguments;

	va_start(arguments, format);
	if (vasprintf(&finding.text, format, arguments) < 0)
		finding.text = NULL;
	va_end(arguments);
	if (file)
		finding.file = strdup(file);
	if (!finding.text || (file && !finding.file) ||
		array_grow(&findings->items, &findings->capacity, findings->count,
			sizeof(finding)) < 0) {
		finding_clear(&finding);
		return -ENOMEM;
	}
	findings->items[findings->count++] = finding;
	return 0;
}

static int add_diags(const struct diag_list *diags, struct findings *findings)
{
	for (size_t i = 0; i < diags->count; i++) {
		const struct diag *diag = &diags->items[i];

		if (findings_add(findings, diag->level, diag->id ? diag->id : "policy", diag->file,
			    diag->line, "%s", diag->text) < 0)
			return -ENOMEM;
	}
	if (!diags->lost)
		return 0;
	return findings_add(
		findings, DIAG_WARNING, "policy", NULL, 0, "findings were lost for want of memory");
}

static const char *const link_ids[] = {
	[LINK_DANGLING] = "dangling-link",
	[LINK_REFLEXIVE] = "reflexive-link",
	[LINK_LOOP] = "link-loop",
};

bool finding_is_link(const struct finding *finding)
{
	for (size_t i = LINK_DANGLING; i < ARRAY_SIZE(link_ids); i++)
		if (finding->kind && strcmp(finding->kind->id, link_ids[i]) == 0)
			return true;
	return false;
}

/* Links of the layers that lead nowhere. */
static int add_links(const struct generation *generation, struct findings *findings)
{
	for (size_t i = 0; i < generation->n_layers; i++) {
		const struct layer *layer = generation->layers[i];

		for (size_t k = 0; k < layer->n_rejections; k++) {
			const struct rejection *rejection = &layer->rejections[k];

			if (rejection->fault == LINK_FINE)
				continue;
			if (findings_add(findings, DIAG_WARNING, link_ids[rejection->fault],
				    rejection->path, 0, "layer %s: %s", layer->policy->name,
				    rejection->text) < 0)
				return -ENOMEM;
		}
	}
	return 0;
}

/* The driver's version of what the library's name means, where that is in use: it is served, or the
 * host's own link leads to it. Else NULL. */
static const char *driver_in_use(const struct verdict *verdict)
{
	const char *key = candidate_key(verdict->candidate);
	const char *version;

	if (!key || soname_classify(key) != SONAME_DRIVER ||
		verdict->layer->policy->role == ROLE_COMPAT ||
		(verdict->code != VERDICT_SERVED && !verdict->candidate->link))
		return NULL;
	version = candidate_version(verdict->candidate);
	return version && version_is_driver(version) ? version : NULL;
}

/* A driver in the layers that is not the loaded kernel module's (A03): once for each version. */
static int add_mismatch(const struct generation *generation, struct findings *findings)
{
	const char *kernel = generation->decision.facts.items[FACT_KERNEL_DRIVER].value;
	struct string_list told = { 0 };
	int result = 0;

	if (!kernel || !version_is_driver(kernel))
		return 0;
	for (size_t i = 0; i < generation->resolution->n_verdicts && result == 0; i++) {
		const struct verdict *verdict = &generation->resolution->verdicts[i];
		const char *version = driver_in_use(verdict);

		if (!version || version_compare(version, kernel) == 0 ||
			string_list_has(&told, version))
			continue;
		result = string_list_add(&told, version);
		if (result == 0)
			result = findings_add(findings, DIAG_ERROR, "kernel-mismatch",
				verdict->candidate->source->real_path, 0,
				"the loaded kernel driver is %s, but %s of layer %s is of driver "
				"%s",
				kernel, path_base(verdict->candidate->path),
				verdict->layer->policy->name, version);
	}
	string_list_clear(&told);
	return result;
}

static int add_no_libcuda(struct findings_job *job)
{
	if (findings_find(job, "libcuda.so.1"))
		return 0;
	return findings_add(&job->findings, DIAG_WARNING, "no-libcuda", NULL, 0,
		"no layer has a libcuda that can be served");
}

const struct verdict *findings_find(const struct findings_job *job, const char *name)
{
	size_t index;

	return namemap_get(&job->names, name, &index)
		       ? &job->generation->resolution->verdicts[index]
		       : NULL;
}

static int put(struct findings_job *job, const char *name, size_t index)
{
	return name && namemap_put(&job->names, name, index) == -ENOMEM ? -ENOMEM : 0;
}

static int index_names(struct findings_job *job)
{
	const struct resolution *resolution = job->generation->resolution;

	for (size_t i = 0; i < resolution->n_verdicts; i++) {
		const struct verdict *verdict = &resolution->verdicts[i];

		if ((verdict->code != VERDICT_SERVED && verdict->code != VERDICT_ALIAS) ||
			!candidate_library(verdict->candidate))
			continue;
		if (put(job, candidate_key(verdict->candidate), i) < 0 ||
			put(job, candidate_library(verdict->candidate), i) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* Errors first; within a level as found. */
static void sort(struct findings *findings)
{
	struct finding *items = findings->items;

	for (size_t i = 1; i < findings->count; i++) {
		const struct finding finding = items[i];
		size_t k = i;

		for (; k > 0 && items[k - 1].level > finding.level; k--)
			items[k] = items[k - 1];
		items[k] = finding;
	}
}

static int run(struct findings_job *job)
{
	int result = index_names(job);

	if (result == 0)
		result = add_diags(&job->generation->diags, &job->findings);
	if (result == 0)
		result = add_mismatch(job->generation, &job->findings);
	if (result == 0)
		result = add_no_libcuda(job);
	if (result == 0)
		result = findings_add_closure(job);
	if (result == 0)
		result = add_links(job->generation, &job->findings);
	if (result == 0)
		result = findings_add_duplicates(job);
	return result;
}

int findings_make(const struct generation *generation, struct findings *ret_findings)
{
	struct findings_job job = { .generation = generation };
	int result = run(&job);

	namemap_clear(&job.names);
	if (result < 0) {
		findings_clear(&job.findings);
		return result;
	}
	sort(&job.findings);
	*ret_findings = job.findings;
	return 0;
}

int findings_of_diags(const struct diag_list *diags, struct findings *ret_findings)
{
	struct findings findings = { 0 };

	if (add_diags(diags, &findings) < 0) {
		findings_clear(&findings);
		return -ENOMEM;
	}
	*ret_findings = findings;
	return 0;
}
