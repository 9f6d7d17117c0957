/* SPDX-License-Identifier: MIT */
#include "daemon_internal.h"

#include <errno.h>
#include <malloc.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <syslog.h>
#include <unistd.h>

#include "holders.h"
#include "log.h"

static void on_changed(void *context)
{
	struct daemon *daemon = context;

	reload_request(daemon->reload, 0, NULL);
}

static void on_ended(void *context)
{
	struct daemon *daemon = context;

	eventfd_write(daemon->ended, 1);
}

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

/* The first generation, before anything is mounted: nothing of ours can be touched by the scan. */
static enum daemon_exit load_first(
	struct daemon *daemon, bool *ret_allow_other, struct diag_list *diags)
{
	_cleanup_(generation_unrefp) struct generation *generation = NULL;
	_cleanup_(tree_change_clear) struct tree_change change = { 0 };
	int said;

	daemon->pool = fdpool_new(fdpool_raise_limit());
	daemon->tree = daemon->pool ? tree_new(daemon->pool) : NULL;
	daemon->cache = scan_cache_new();
	daemon->driver_probes = driver_probe_cache_new(NULL);
	daemon->plans = plan_cache_new();
	if (watch_new(&daemon->watch) < 0)
		return DAEMON_MOUNT_FAILED;
	if (!daemon->tree || !daemon->cache || !daemon->driver_probes || !daemon->plans)
		return DAEMON_MOUNT_FAILED;
	/* What lies in a directory is looked at, not run. */
	if (!daemon->options.root)
		daemon->pipeline.driver_probes = daemon->driver_probes;
	daemon->pipeline.pool = daemon->pool;
	daemon->pipeline.plans = daemon->plans;
	daemon->pipeline.watch = daemon->watch;
	daemon->pipeline.mountpoint = daemon->point.path;
	daemon->pipeline.scan = (struct scan_request){
		.root = daemon->root,
		.under = daemon->under,
		.check_trust = scan_is_system(),
		.timeout_ms = SCAN_TIMEOUT_MS,
		.cache = daemon->cache,
		.offer = fdpool_offer,
		.offer_context = daemon->pool,
	};
	if (pipeline_run(&daemon->pipeline, &generation, diags) < 0)
		return DAEMON_POLICY;
	if (tree_prepare(daemon->tree, generation, &change) < 0)
		return DAEMON_MOUNT_FAILED;
	tree_commit(daemon->tree, &change);
	oncelog_update(&daemon->oncelog, generation);
	said = generation->policy->allow_other;
	*ret_allow_other = said < 0 ? !daemon->user : said;
	return DAEMON_DONE;
}

static int mount_and_serve(struct daemon *daemon, bool allow_other, struct diag_list *diags)
{
	struct mount_request request = { .name = daemon->names.name, .allow_other = allow_other };
	int fd, error;

	daemon->ops = (struct ops){
		.tree = daemon->tree,
		.pool = daemon->pool,
		.no_cache = daemon->options.no_cache,
		.changed = on_changed,
		.context = daemon,
	};
	daemon->ended = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (daemon->ended < 0)
		return -errno;
	fd = mount_start(&daemon->point, &request, diags);
	if (fd < 0)
		return fd;
	error = session_new(fd, &daemon->ops, on_ended, daemon, &daemon->session);
	if (error < 0)
		return error;
	error = reload_new(
		&(struct reload_options){
			.pipeline = daemon->pipeline,
			.tree = daemon->tree,
			.session = daemon->session,
			.override = daemon->names.override,
		},
		&daemon->reload);
	return error < 0 ? error : session_start(daemon->session);
}

static int listen_for_clients(struct daemon *daemon, struct diag_list *diags)
{
	struct ctl_options options = {
		.path = daemon->names.socket,
		.owner = geteuid(),
		.callbacks = {
			.current = on_current,
			.runtime = on_runtime,
			.reload = on_reload,
			.compat = on_compat,
		},
		.context = daemon,
	};
	int error = ctl_new(&options, &daemon->ctl);

	if (error < 0)
		diag_add(diags, DIAG_ERROR, NULL, 0, "the control socket %s: %s",
			daemon->names.socket, strerror(-error));
	return error;
}

/* Signals wait for the main loop, in every thread: before the first one starts. SIGPIPE would be a
 * client's going away. Where the caller ignores SIGCHLD nobody could wait for fusermount3. */
static int block_signals(struct daemon *daemon)
{
	sigset_t signals;

	signal(SIGPIPE, SIG_IGN);
	signal(SIGCHLD, SIG_DFL);
	sigemptyset(&signals);
	sigaddset(&signals, SIGHUP);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	daemon->signals = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
	return daemon->signals < 0 ? -errno : 0;
}

static int watch_descriptors(struct daemon *daemon)
{
	int fds[5];

	daemon->epoll = epoll_create1(EPOLL_CLOEXEC);
	fds[0] = daemon->signals;
	fds[1] = daemon->ended;
	fds[2] = reload_fd(daemon->reload);
	fds[3] = ctl_fd(daemon->ctl);
	fds[4] = watch_fd(daemon->watch);
	for (size_t i = 0; i < ARRAY_SIZE(fds); i++) {
		struct epoll_event event = { .events = EPOLLIN, .data.fd = fds[i] };

		if (epoll_ctl(daemon->epoll, EPOLL_CTL_ADD, fds[i], &event) < 0)
			return -errno;
	}
	return 0;
}

enum daemon_exit daemon_start(struct daemon *daemon, struct diag_list *diags)
{
	enum daemon_exit failed;
	bool allow_other;
	int error;

#ifdef M_ARENA_MAX
	mallopt(M_ARENA_MAX, 2); /* a heap per worker would hold what one reload needs, each */
#endif
	error = block_signals(daemon);
	if (error < 0)
		return DAEMON_MOUNT_FAILED;
	failed = load_first(daemon, &allow_other, diags);
	if (failed)
		return failed;
	error = listen_for_clients(daemon, diags);
	if (error < 0)
		return error == -EADDRINUSE ? DAEMON_SERVED : DAEMON_MOUNT_FAILED;
	error = mount_and_serve(daemon, allow_other, diags);
	if (error == 0)
		error = watch_descriptors(daemon);
	if (error < 0 && diag_count(diags, DIAG_ERROR) == 0)
		diag_add(diags, DIAG_ERROR, NULL, 0, "cannot serve: %s", strerror(-error));
	if (error == -EBUSY)
		return DAEMON_SERVED;
	return error < 0 ? DAEMON_MOUNT_FAILED : DAEMON_DONE;
}

/* Tells who asked, and the log. */
static void finish_reload(struct daemon *daemon, struct reload_result *result)
{
	const struct generation *generation = result->generation;
	json_t *reply;

	diag_clear(&daemon->failed);
	daemon->reload_failed = result->error < 0;
	if (result->error < 0) {
		_cleanup_(freep) char *text = diag_first_error(&result->diags);

		diag_append(&daemon->failed, &result->diags);
		log_message(LOG_ERR, "reload failed, the old view stays: %s",
			text ? text : strerror(-result->error));
		reply = status_error_json(
			"failed", text ? text : strerror(-result->error), &result->diags);
	} else {
		oncelog_update(&daemon->oncelog, generation);
		if (result->changed) {
			log_message(LOG_INFO, "generation %.8s: compat %s (%s)",
				generation->view->id, generation->decision.on ? "on" : "off",
				generation->decision.reason);
		}
		reply = status_change_json(generation, result->changed);
	}
	if (result->client)
		ctl_reply(daemon->ctl, result->client, reply);
	else
		json_decref(reply);
}

/* Returns whether the daemon goes on. */
static bool handle_signals(struct daemon *daemon)
{
	struct signalfd_siginfo info;

	while (read(daemon->signals, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo != SIGHUP)
			return false;
		reload_request(daemon->reload, 0, NULL);
	}
	return true;
}

int daemon_run(struct daemon *daemon)
{
	for (;;) {
		struct epoll_event event;
		struct reload_result result;
		int ready = epoll_wait(daemon->epoll, &event, 1, ctl_timeout(daemon->ctl));

		if (ready < 0 && errno != EINTR)
			return -errno;
		if (ready == 1 && event.data.fd == daemon->ended)
			return 0;
		if (ready == 1 && event.data.fd == daemon->signals && !handle_signals(daemon))
			return 0;
		if (ready == 1 && event.data.fd == watch_fd(daemon->watch) &&
			watch_dispatch(daemon->watch))
			reload_request(daemon->reload, 0, NULL);
		while (reload_take(daemon->reload, &result)) {
			finish_reload(daemon, &result);
			reload_result_clear(&result);
		}
		ctl_dispatch(daemon->ctl);
	}
}

/* Unmounts, and names the programs that are hurt. They are served until the session ends. */
static void stop_mount(struct daemon *daemon)
{
	dev_t device = daemon->point.device;
	_cleanup_(freep) char *holders = NULL;
	bool lazy = false;

	if (mount_stop(&daemon->point, &lazy) < 0) {
		log_message(LOG_ERR, "%s cannot be unmounted", daemon->point.path);
	} else if (lazy) {
		holders = holders_text(device);
		if (holders && *holders)
			log_message(LOG_WARNING,
				"%s is in use: detached; programs that have mapped files of it "
				"lose what they have not read yet: %s",
				daemon->point.path, holders);
		else
			log_message(LOG_WARNING, "%s is in use: detached", daemon->point.path);
	}
}

struct daemon *daemon_free(struct daemon *daemon)
{
	if (!daemon)
		return NULL;
	daemon->ctl = ctl_free(daemon->ctl);
	stop_mount(daemon);
	/* A thread that hangs in a source's file system keeps what it uses until the process ends.
	 */
	if (!reload_stop(daemon->reload) || !session_stop(daemon->session))
		return NULL;
	reload_free(daemon->reload);
	session_free(daemon->session);
	tree_free(daemon->tree);
	scan_cache_free(daemon->cache);
	driver_probe_cache_free(daemon->driver_probes);
	plan_cache_free(daemon->plans);
	watch_free(daemon->watch);
	fdpool_free(daemon->pool);
	rootfs_unref(daemon->under);
	rootfs_unref(daemon->root);
	mountpoint_clear(&daemon->point);
	names_clear(&daemon->names);
	diag_clear(&daemon->failed);
	oncelog_clear(&daemon->oncelog);
	closep(&daemon->epoll);
	closep(&daemon->signals);
	closep(&daemon->ended);
	free(daemon);
	return NULL;
}
