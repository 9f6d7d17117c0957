/* SPDX-License-Identifier: MIT */
#include "offline.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "names.h"
#include "pipeline.h"

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

static int run(const struct tool *tool, struct rootfs *root, const struct names *names,
	const char *config, bool user, struct generation **ret_generation, struct diag_list *diags)
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
		/* What lies in a directory is looked at, not run. */
		.driver_probes = tool->root ? NULL : driver_probe_cache_new(NULL),
	};
	_cleanup_(rootfs_unrefp) struct rootfs *under =
		open_under(&request.load, names->default_mountpoint);
	int r;

	request.scan.under = under;
	r = pipeline_run(&request, ret_generation, diags);
	driver_probe_cache_free(request.driver_probes);
	return r < 0 ? TOOL_NO : TOOL_DONE;
}

int offline_run(const struct tool *tool, const char *config, struct generation **ret_generation,
	struct diag_list *ret_diags)
{
	const char *runtime_dir = getenv("XDG_RUNTIME_DIR");
	const char *place = tool->root ? tool->root : "/";
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
	r = rootfs_open(place, &root);
	if (r < 0)
		r = tool_fail(TOOL_FAILED, "cannot open %s: %s", place, strerror(-r));
	else
		r = run(tool, root, &names, config, user, ret_generation, ret_diags);
	names_clear(&names);
	return r;
}
