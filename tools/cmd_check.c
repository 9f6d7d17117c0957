/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd.h"
#include "listing.h"
#include "names.h"
#include "pipeline.h"
#include "report.h"
#include "status.h"

/* What lies at the mountpoint now lies under the mount later; NULL: nothing, or a mount of ours. */
static struct rootfs *open_under(const struct load_request *load, const char *standard)
{
	struct diag_list ignored = { 0 };
	struct load_result loaded = { 0 };
	struct rootfs_avoid avoid = { 0 };
	struct rootfs_node node = { .fd = -1 };
	struct rootfs *under = NULL;
	const char *mountpoint = standard;

	if (load_policy(load, NULL, &loaded, &ignored) == 0 && loaded.policy->mountpoint)
		mountpoint = loaded.policy->mountpoint;
	if (rootfs_avoid_ours(&avoid) == 0 &&
		rootfs_walk(load->root, mountpoint, &avoid, &node) == 0) {
		/* A link there is no mountpoint yet: nothing of what it leads to is covered. */
		if (strcmp(node.path, mountpoint) == 0)
			rootfs_from_fd(steal_fd(&node.fd), node.path, load->root, &under);
		else
			rootfs_open_node(&node, &under);
		rootfs_node_clear(&node);
	}
	rootfs_avoid_clear(&avoid);
	load_result_clear(&loaded);
	diag_clear(&ignored);
	return under;
}

static int print_failure(const struct tool *tool, const struct diag_list *diags)
{
	_cleanup_(freep) char *first = diag_first_error(diags);
	_cleanup_(jsonhelp_decrefp) json_t *error =
		status_error_json("failed", first ? first : "out of memory", diags);

	if (!error)
		return tool_fail(TOOL_FAILED, "out of memory");
	if (tool->json)
		return tool_print_json(error, TOOL_NO);
	report_problems(tool, json_object_get(error, "problems"));
	return TOOL_NO;
}

static int print_success(const struct tool *tool, const struct generation *generation)
{
	_cleanup_(jsonhelp_decrefp) json_t *status = status_json(generation, NULL);
	_cleanup_(jsonhelp_decrefp) json_t *list = NULL;
	const json_t *problems = json_object_get(status, "problems");
	int code = report_exit(tool, problems);

	if (!status || listing_json(generation, "", true, &list) < 0 ||
		json_object_set(status, "view", json_object_get(list, "entries")) < 0)
		return tool_fail(TOOL_FAILED, "out of memory");
	if (tool->json)
		return tool_print_json(status, code);
	report_compat(tool, json_object_get(status, "compat"));
	putchar('\n');
	report_layers(json_object_get(status, "layers"));
	putchar('\n');
	report_rejected(json_object_get(status, "rejected"));
	report_problems(tool, problems);
	printf("generation %.8s, %zu entries\n", report_generation(status),
		generation->view->n_entries);
	return code;
}

static int check(const struct tool *tool, struct rootfs *root, const struct names *names,
	const char *config, bool user)
{
	struct pipeline_request request = {
		.load = { .root = root,
			.config = config,
			.name = names->name,
			.user = user,
			.config_home = names->config_home,
			.runtime_dir = user ? getenv("XDG_RUNTIME_DIR") : NULL,
			.override = config || tool->root ? NULL : names->override },
		.scan = { .root = root,
			.check_trust = scan_is_system(),
			.timeout_ms = SCAN_TIMEOUT_MS },
	};
	_cleanup_(rootfs_unrefp) struct rootfs *under =
		open_under(&request.load, names->default_mountpoint);
	_cleanup_(generation_unrefp) struct generation *generation = NULL;
	struct diag_list diags = { 0 };
	int code;

	request.scan.under = under;
	if (pipeline_run(&request, &generation, &diags) < 0)
		code = print_failure(tool, &diags);
	else
		code = print_success(tool, generation);
	diag_clear(&diags);
	return code;
}

int cmd_check(const struct tool *tool, int argc, char **argv)
{
	const char *runtime_dir = getenv("XDG_RUNTIME_DIR");
	/* A machine in a directory, and a user without a session, have only the system's files. */
	bool user = geteuid() != 0 && !tool->root && runtime_dir;
	struct names_input input = { .user = user,
		.name = tool->name,
		.runtime_dir = runtime_dir,
		.config_home = getenv("XDG_CONFIG_HOME"),
		.home = getenv("HOME") };
	_cleanup_(rootfs_unrefp) struct rootfs *root = NULL;
	struct names names = { 0 };
	int r = names_make(&input, &names);

	if (r < 0)
		return tool_fail(TOOL_USAGE, "no usable instance name: %s", strerror(-r));
	r = rootfs_open(tool->root ? tool->root : "/", &root);
	if (r < 0)
		r = tool_fail(TOOL_FAILED, "cannot open %s: %s", tool->root ? tool->root : "/",
			strerror(-r));
	else
		r = check(tool, root, &names, argc > 1 ? argv[1] : NULL, user);
	names_clear(&names);
	return r;
}
