/* SPDX-License-Identifier: MIT */
#include "daemon_internal.h"

#include <string.h>
#include <unistd.h>

static struct generation *on_current(void *context)
{
	struct daemon *daemon = context;

	return tree_current(daemon->tree);
}

static int on_runtime(void *context, struct status_runtime *ret_runtime)
{
	struct daemon *daemon = context;
	struct tree_counts counts;

	tree_count(daemon->tree, &counts);
	ret_runtime->pid = getpid();
	ret_runtime->keeper = atomic_load(&daemon->state->memory->keeper);
	ret_runtime->owner = geteuid();
	ret_runtime->config = daemon->options.config;
	ret_runtime->override = daemon->names.override;
	ret_runtime->watched = watch_count(daemon->watch);
	ret_runtime->unpinned = counts.descriptors.unpinned;
	ret_runtime->failed = daemon->reload_failed ? &daemon->failed : NULL;
	for (size_t i = 0; i < OPS_COUNT; i++)
		ret_runtime->requests[ret_runtime->n_requests++] = (struct status_counter){
			.name = ops_request_name(i),
			.value = atomic_load(&daemon->ops.counts[i]),
		};
	return 0;
}

static int on_reload(void *context, uint64_t client)
{
	struct daemon *daemon = context;

	return reload_request(daemon->reload, client, NULL);
}

static int on_compat(void *context, const char *mode, uint64_t client)
{
	struct daemon *daemon = context;

	return reload_request(daemon->reload, client, mode ? mode : "");
}

/* A client that connects while a successor starts waits for it. */
static void keep_listener(struct daemon *daemon)
{
	struct state_memory *memory = daemon->state->memory;
	struct ctlsocket_identity identity;
	int fd = ctl_listener(daemon->ctl, &identity);

	memory->socket_device = identity.device;
	memory->socket_inode = identity.inode;
	(void)state_keep(daemon->state, CHEST_LISTENER, fd);
}

int daemon_listen(struct daemon *daemon, struct diag_list *diags)
{
	const struct state_memory *memory = daemon->state->memory;
	struct ctl_options options = {
		.path = daemon->names.socket,
		.listener = daemon->loaded.listener > 0 ? steal_fd(&daemon->loaded.listener) : 0,
		.identity = { memory->socket_device, memory->socket_inode },
		.owner = geteuid(),
		.callbacks = {
			.current = on_current,
			.runtime = on_runtime,
			.reload = on_reload,
			.compat = on_compat,
		},
		.context = daemon,
	};
	bool inherits = options.listener > 0;
	int error = ctl_new(&options, &daemon->ctl);

	if (error < 0) {
		diag_add(diags, DIAG_ERROR, NULL, 0, "the control socket %s: %s",
			daemon->names.socket, strerror(-error));
		return error;
	}
	if (!inherits)
		keep_listener(daemon);
	return 0;
}
