/* SPDX-License-Identifier: MIT */
#include "pipeline.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "findings.h"
#include "load_tables.h"
#include "manifest.h"
#include "probe.h"
#include "libsearch.h"
#include "status.h"

static int take_names(struct generation *generation, const struct pipeline_request *request)
{
	const char *mountpoint =
		request->mountpoint ? request->mountpoint : generation->policy->mountpoint;

	generation->name = strdup(request->load.name ? request->load.name : "");
	if (!generation->name)
		return -ENOMEM;
	if (!mountpoint)
		return 0;
	generation->mountpoint = strdup(mountpoint);
	return generation->mountpoint ? 0 : -ENOMEM;
}

/* Watches from now on what is looked at. Returns 0 or -errno; nothing watched is no error where it
 * is not wanted for sure. */
static int begin_watch(struct pipeline_request *request, bool want)
{
	return watch_begin(request->watch, want, &request->load.touched);
}

/* Before the first load nobody knows whether the policy wants to be watched: one that turns out to
 * is read again, watched first; one that cannot be read, too. */
static int load_watched(
	struct pipeline_request *request, struct load_result *ret_loaded, struct diag_list *diags)
{
	struct load_result loaded = { 0 };
	int r = begin_watch(request, false);

	if (r == 0)
		r = load_policy(&request->load, request->profile, &loaded, diags);
	if (!request->load.touched &&
		(r == 0 ? loaded.policy->watch : !watch_is_off(request->watch))) {
		load_result_clear(&loaded);
		diag_clear(diags);
		r = begin_watch(request, true);
		if (r == 0)
			r = load_policy(&request->load, request->profile, &loaded, diags);
	}
	if (r < 0)
		return r;
	if (!loaded.policy->watch) {
		request->load.touched = touched_unref(request->load.touched);
		watch_off(request->watch);
	}
	*ret_loaded = loaded;
	return 0;
}

static int load(struct generation *generation, struct pipeline_request *request)
{
	struct load_result loaded = { 0 };
	int r;

	if (request->watch)
		r = load_watched(request, &loaded, &generation->diags);
	else
		r = load_policy(&request->load, request->profile, &loaded, &generation->diags);
	if (r < 0)
		return r;
	request->scan.touched = request->load.touched;
	generation->policy = loaded.policy;
	generation->files = loaded.files;
	return take_names(generation, request);
}

static int scan_layers(struct generation *generation, const struct pipeline_request *request)
{
	struct scan_request scan_request = request->scan;
	int r;

	scan_request.policy = generation->policy;
	r = scan(&scan_request, &generation->layers, &generation->diags);
	if (r < 0)
		return r;
	generation->n_layers = generation->policy->n_layers;
	return 0;
}

/* Decides, having asked the libcudas where the policy allows it. */
static int decide_probed(struct generation *generation, const struct pipeline_request *request,
	struct decide_input *input)
{
	_cleanup_(freep) struct driver_probe *probes = NULL;

	if (generation->policy->driver_probe && request->driver_probes) {
		int r = driver_probe_run(request->driver_probes, input, &probes, &input->n_probes);

		if (r < 0)
			return r;
		input->probes = probes;
		driver_probe_tell(probes, input->n_probes, &generation->diags);
	}
	return decide(input, &generation->decision, &generation->diags);
}

/* What a library's own RUNPATH must not lead into. */
static int list_avoided(struct generation *generation, const struct pipeline_request *request,
	struct rootfs_avoid *ret_avoid)
{
	int r = rootfs_avoid_ours(ret_avoid);

	if (r == 0)
		r = rootfs_avoid_device(ret_avoid, request->scan.own_device);
	if (r < 0) {
		diag_add(&generation->diags, DIAG_ERROR, "/proc/thread-self/mountinfo", 0, "%s",
			strerror(-r));
		return r;
	}
	if (request->scan.under && request->scan.under->outer)
		rootfs_avoid_covered(ret_avoid, request->scan.under);
	ret_avoid->touched = request->load.touched;
	return 0;
}

static int decide_layers(struct generation *generation, const struct pipeline_request *request,
	const struct tables *tables)
{
	_cleanup_(rootfs_avoid_clear) struct rootfs_avoid avoid = { 0 };
	struct libsearch runpath = { .mountpoint = generation->mountpoint, .avoid = &avoid };
	struct facts probed = { 0 };
	struct decide_input input = {
		.policy = generation->policy,
		.layers = generation->layers,
		.n_layers = generation->n_layers,
		.probed = &probed,
		.tables = tables,
		.finds = libsearch_finds,
		.finds_context = &runpath,
	};
	int r;

	r = list_avoided(generation, request, &avoid);
	if (r < 0)
		return r;
	rootfs_touch(request->scan.root, PROBE_RELEASE, request->load.touched);
	r = probe(request->scan.root, tables, &probed);
	if (r < 0)
		return r;
	r = decide_probed(generation, request, &input);
	facts_clear(&probed);
	return r;
}

/* The tables; what is wrong with an installed one is a finding of its own kind. */
static int load_named_tables(
	struct generation *generation, struct touched *touched, struct tables **ret_tables)
{
	_cleanup_(diag_clear) struct diag_list diags = { 0 };
	int r = load_tables(touched, ret_tables, &diags);

	for (size_t i = 0; i < diags.count; i++)
		diags.items[i].id = "tables";
	diag_append(&generation->diags, &diags);
	return r;
}

static int resolve_layers(struct generation *generation, const struct pipeline_request *request)
{
	struct tables *tables = NULL;
	int r;

	r = load_named_tables(generation, request->load.touched, &tables);
	if (r < 0)
		return r;
	r = decide_layers(generation, request, tables);
	tables_free(tables);
	if (r < 0)
		return r;
	return resolve(generation->policy, generation->layers, generation->n_layers,
		&generation->decision, &generation->resolution, &generation->diags);
}

/* What is changed of the host's files, and what the view is then. */
static int change_files(struct generation *generation, const struct pipeline_request *request)
{
	struct view *view = generation->resolution->view;
	const struct plan_request plan = {
		.policy = generation->policy,
		.mountpoint = generation->mountpoint,
		.decision = &generation->decision,
		.pool = request->pool,
		.cache = request->plans,
	};
	int r = plan_view(&plan, view, &generation->plans);

	if (r == 0)
		r = manifest_edit_view(view, generation->mountpoint, &generation->diags);
	if (r == 0)
		r = sets_collect(view, &generation->decision,
			request->before ? &request->before->sets : NULL, &request->usage,
			&generation->sets);
	if (r == 0 && generation->sets.n_dropped > 0)
		diag_add_as(&generation->diags, DIAG_WARNING, "sets", NULL, 0,
			"%zu CUDA sets that programs may still use are not served any more: %d at "
			"most are",
			generation->sets.n_dropped, SETS_MAX);
	return r < 0 ? r : view_identify(view);
}

/* The tree's own entries (DESIGN 2), and the order of all. */
static int finish_view(struct generation *generation)
{
	struct view *view = generation->resolution->view;
	int r;

	generation->view = view;
	generation->findings = calloc(1, sizeof(*generation->findings));
	if (!generation->findings)
		return -ENOMEM;
	r = findings_make(generation, generation->findings);
	if (r < 0)
		return r;
	generation->status = status_text(generation);
	if (!generation->status)
		return -ENOMEM;
	r = view_add_directory(view, ".gldriverfs", true);
	if (r < 0)
		return r;
	r = view_add_content(
		view, ".gldriverfs/status.json", generation->status, strlen(generation->status));
	if (r == 0)
		r = sets_add(view, &generation->decision, &generation->sets);
	if (r < 0)
		return r;
	return view_finish(view);
}

static int build(struct generation *generation, struct pipeline_request *request)
{
	int r;

	r = load(generation, request);
	if (r < 0)
		return r;
	r = scan_layers(generation, request);
	if (r < 0)
		return r;
	r = resolve_layers(generation, request);
	if (r == 0)
		r = change_files(generation, request);
	if (r < 0)
		return r;
	if (request->load.touched)
		touched_tell(request->load.touched, &generation->diags);
	return finish_view(generation);
}

int pipeline_run(const struct pipeline_request *request, struct generation **ret_generation,
	struct diag_list *diags)
{
	_cleanup_(generation_unrefp) struct generation *generation = NULL;
	struct pipeline_request run = *request;
	int r = -ENOMEM;

	generation = calloc(1, sizeof(*generation));
	if (generation) {
		atomic_init(&generation->references, 1);
		r = build(generation, &run);
	}
	if (run.watch)
		watch_end(run.watch, run.load.touched, r == 0);
	touched_unref(run.load.touched);
	if (r < 0) {
		if (generation)
			diag_append(diags, &generation->diags);
		if (diag_count(diags, DIAG_ERROR) == 0)
			diag_add(diags, DIAG_ERROR, NULL, 0, "%s", strerror(-r));
		return r;
	}
	*ret_generation = steal_pointer(generation);
	return 0;
}
