/* SPDX-License-Identifier: MIT */
/* A generation without a host: a compat layer that won libcuda, a host layer that lost it, one
 * rejected file, one unresolved NEEDED, one tool entry. */
#pragma once

#include <stdlib.h>
#include <string.h>

#include "findings.h"
#include "generation.h"

static struct source *builder_source(const char *path, const char *soname, const char *needed)
{
	struct source *source = calloc(1, sizeof(*source));

	atomic_init(&source->references, 1);
	source->identity.size = 1000;
	source->identity.ino = fnv1a(FNV_START, path, strlen(path));
	source->mode = 0100644;
	source->is_elf = true;
	source->path = strdup(path);
	source->real_path = strdup(path);
	source->elf.soname = strdup(soname);
	if (needed) {
		string_list_add(&source->elf.needed, needed);
		string_list_add(&source->elf.needed, "libc.so.6");
	}
	return source;
}

static struct layer *builder_layer(const struct policy_layer *policy, const char *directory)
{
	struct layer *layer = calloc(1, sizeof(*layer));

	layer->policy = policy;
	layer_add_set(layer, directory, "/etc/p.conf", 7, true);
	return layer;
}

static struct policy *builder_policy(void)
{
	static const char *const names[] = { "compat", "host" };
	struct policy *policy = calloc(1, sizeof(*policy));

	policy->runpath = strdup("pin");
	policy->compat_mode = COMPAT_ON;
	policy->compat_mode_from = (struct policy_value){ strdup("on"), strdup("/etc/p.conf"), 3 };
	policy->layers = calloc(2, sizeof(*policy->layers));
	policy->n_layers = 2;
	for (size_t i = 0; i < 2; i++) {
		policy->layers[i].name = strdup(names[i]);
		policy->layers[i].role = i ? ROLE_HOST : ROLE_COMPAT;
		policy->layers[i].order = i ? 30 : 10;
		policy->layers[i].enabled = true;
	}
	return policy;
}

static void builder_verdict(struct resolution *resolution, const struct layer *layer, size_t index,
	enum verdict_code code, const char *text)
{
	resolution->verdicts[resolution->n_verdicts++] = (struct verdict){ layer,
		&layer->candidates[index], code, strdup("lib/libcuda.so.1.1"), strdup(text) };
}

static struct resolution *builder_resolution(struct layer *compat, struct layer *host)
{
	struct resolution *resolution = calloc(1, sizeof(*resolution));
	struct source *source = compat->candidates[0].source;

	resolution->view = view_new();
	view_add_file(resolution->view, "lib/libcuda.so.1.1", source, compat->policy->name);
	view_add_link(resolution->view, "lib/libcuda.so.1", "libcuda.so.1.1", source,
		compat->policy->name);
	view_add_content(resolution->view, "share/x.json", "{}", 2);
	view_add_directory(resolution->view, ".gldriverfs", true);
	view_add_content(resolution->view, ".gldriverfs/status.json", "{}", 2);
	view_identify(resolution->view);
	view_finish(resolution->view);
	resolution->verdicts = calloc(3, sizeof(*resolution->verdicts));
	builder_verdict(resolution, compat, 0, VERDICT_SERVED, "layer compat comes first");
	for (size_t i = 0; i < 2; i++)
		builder_verdict(
			resolution, host, i, VERDICT_HIDDEN_BY_COMPAT, "compat gives the CUDA set");
	resolution->unresolved = calloc(1, sizeof(*resolution->unresolved));
	resolution->unresolved[0] =
		(struct unresolved){ strdup("libnvrm_gpu.so"), strdup("libcuda.so.1.1") };
	resolution->n_unresolved = 1;
	return resolution;
}

static struct generation *builder_generation(void)
{
	struct generation *generation = calloc(1, sizeof(*generation));
	struct source *compat =
		builder_source("/c/libcuda.so.1.1", "libcuda.so.1", "libnvrm_gpu.so");
	struct source *host = builder_source("/h/libcuda.so.470.1", "libcuda.so.1", NULL);

	atomic_init(&generation->references, 1);
	generation->name = strdup("gldriverfs");
	generation->mountpoint = strdup("/run/opengl-driver");
	generation->policy = builder_policy();
	string_list_add(&generation->files, "/etc/p.conf");
	generation->layers = calloc(2, sizeof(*generation->layers));
	generation->n_layers = 2;
	generation->layers[0] = builder_layer(&generation->policy->layers[0], "/c");
	generation->layers[1] = builder_layer(&generation->policy->layers[1], "/h");
	layer_add_candidate(generation->layers[0], "lib/libcuda.so.1.1", compat, NULL, 0, false);
	layer_add_candidate(generation->layers[1], "lib/libcuda.so.470.1", host, NULL, 0, false);
	layer_add_candidate(
		generation->layers[1], "lib/libcuda.so.1", host, "libcuda.so.470.1", 0, false);
	layer_add_rejection(generation->layers[1], "/h/libnvcuvid.so.1", "the file is %s", "empty");
	source_unref(compat);
	source_unref(host);
	generation->decision.on = true;
	generation->decision.layer = generation->layers[0];
	generation->decision.rule = strdup("forced-on");
	generation->decision.reason = strdup("the policy says so");
	facts_set(&generation->decision.facts, FACT_HOST_CUDA, "11.4", "table");
	generation->resolution = builder_resolution(generation->layers[0], generation->layers[1]);
	generation->view = generation->resolution->view;
	diag_add(&generation->diags, DIAG_WARNING, "/etc/p.conf", 4, "be careful");
	generation->findings = calloc(1, sizeof(*generation->findings));
	findings_make(generation, generation->findings);
	return generation;
}
