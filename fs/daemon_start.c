/* SPDX-License-Identifier: MIT */
#include "daemon_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <syslog.h>
#include <unistd.h>

#include "crash.h"
#include "log.h"

/* For the connection, the main loop, a scan and clients. */
#define SPARE_DESCRIPTORS 16

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

static enum daemon_exit make_parts(struct daemon *daemon)
{
	daemon->pool = fdpool_new(fdpool_raise_limit());
	daemon->tree = daemon->pool ? tree_new(daemon->pool, daemon->state->memory->stale) : NULL;
	daemon->cache = scan_cache_new();
	daemon->driver_probes = driver_probe_cache_new(NULL);
	daemon->plans = plan_cache_new();
	daemon->ended = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (!daemon->tree || !daemon->cache || !daemon->driver_probes || !daemon->plans ||
		daemon->ended < 0 || watch_new(&daemon->watch) < 0)
		return DAEMON_MOUNT_FAILED;
	daemon->resume = (struct resume){
		.state = daemon->state,
		.tree = daemon->tree,
		.pool = daemon->pool,
	};
	daemon->ops = (struct ops){
		.tree = daemon->tree,
		.pool = daemon->pool,
		.no_cache = daemon->options.no_cache,
		.changed = on_changed,
		.context = daemon,
	};
	return DAEMON_DONE;
}

static void fill_pipeline(struct daemon *daemon)
{
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
}

/* The first generation, before anything is mounted: nothing of ours can be touched by the scan. */
static enum daemon_exit load_first(
	struct daemon *daemon, bool *ret_allow_other, struct diag_list *diags)
{
	_cleanup_(generation_unrefp) struct generation *generation = NULL;
	_cleanup_(tree_change_clear) struct tree_change change = { 0 };
	int error, said;

	fill_pipeline(daemon);
	if (pipeline_run(&daemon->pipeline, &generation, diags) < 0)
		return DAEMON_POLICY;
	if (tree_prepare(daemon->tree, generation, &change) < 0)
		return DAEMON_MOUNT_FAILED;
	error = resume_save(&daemon->resume, &change);
	if (error < 0) {
		diag_add(diags, DIAG_ERROR, NULL, 0, "cannot keep what a successor needs: %s",
			strerror(-error));
		return DAEMON_MOUNT_FAILED;
	}
	tree_commit(daemon->tree, &change, resume_published, &daemon->resume);
	resume_told(&daemon->resume);
	oncelog_update(&daemon->oncelog, generation);
	said = generation->policy->allow_other;
	*ret_allow_other = said < 0 ? !daemon->user : said;
	return DAEMON_DONE;
}

/* The connection outlives this process from now on. */
static int keep_connection(void *context, int fd)
{
	struct daemon *daemon = context;

	return state_keep(daemon->state, CHEST_FUSE, fd);
}

/* Returns the /dev/fuse descriptor or -errno. */
static int mount_kept(struct daemon *daemon, bool allow_other, struct diag_list *diags)
{
	struct state_memory *memory = daemon->state->memory;
	struct mount_request request = {
		.name = daemon->names.name,
		.allow_other = allow_other,
		.opened = keep_connection,
		.context = daemon,
	};
	int fd = state_keep(daemon->state, CHEST_UNDER, daemon->point.fd);

	if (fd < 0)
		return fd;
	atomic_store(&memory->stage, STATE_MOUNTING);
	fd = mount_start(&daemon->point, &request, diags);
	if (fd < 0) {
		atomic_store(&memory->stage, STATE_FRESH);
		return fd;
	}
	memory->device = daemon->point.device;
	memory->mount_id = daemon->point.id;
	atomic_store(&memory->stage, STATE_MOUNTED);
	return fd;
}

/* Before the threads that answer and reload start: they are to see no mount of this instance. */
static void leave_own_mount(struct daemon *daemon)
{
	int error = ownview_enter(daemon->point.device, &daemon->ownview);

	if (error < 0)
		log_message(LOG_WARNING, "no mount namespace of its own: %s", strerror(-error));
	if (daemon->ownview)
		rootfs_reenter(daemon->root);
	daemon->pipeline.scan.own_device = daemon->point.device;
}

/* Answers what comes from the connection. */
static int serve(struct daemon *daemon, int fuse, bool resumes)
{
	struct session_options options = {
		.fd = fuse,
		.ops = &daemon->ops,
		.state = daemon->state,
		.ended = on_ended,
		.context = daemon,
	};
	bool told = state_is_told(daemon->state);
	int error;

	leave_own_mount(daemon);
	error = session_new(&options, &daemon->session);
	if (error < 0)
		return error;
	if (resumes)
		session_resume(daemon->session);
	error = reload_new(
		&(struct reload_options){
			.pipeline = daemon->pipeline,
			.tree = daemon->tree,
			.session = daemon->session,
			.override = daemon->names.override,
			.resume = &daemon->resume,
			.untold = told ? NULL : &daemon->loaded.snapshot,
		},
		&daemon->reload);
	return error < 0 ? error : session_start(daemon->session);
}

/* What changed while nobody looked. A reload that crashes each process is left to whoever asks for
 * one. */
static int reload_resumed(struct daemon *daemon)
{
	struct state_memory *memory = daemon->state->memory;

	atomic_store(&memory->reloading, 0);
	if (state_stage(daemon->state) == STATE_DETACHED)
		return 0;
	if (atomic_load(&memory->reload_crashes) < STATE_POISON)
		return reload_request(daemon->reload, 0, NULL);
	log_message(LOG_CRIT,
		"%u reloads in a row crashed: the old view stays until one is asked for",
		atomic_load(&memory->reload_crashes));
	atomic_store(&memory->reload_crashes, STATE_POISON - 1);
	return 0;
}

/* Whether a reload and a client will find the descriptors that they need; a mount that nobody can
 * steer is none. Returns 0 or -errno. */
static int check_room(void)
{
	int fds[SPARE_DESCRIPTORS];
	size_t count = 0;
	int error = 0;

	while (error == 0 && count < ARRAY_SIZE(fds)) {
		fds[count] = open("/dev/null", O_RDONLY | O_CLOEXEC);
		if (fds[count] < 0)
			error = -errno;
		else
			count++;
	}
	while (count > 0)
		close(fds[--count]);
	return error;
}

static enum daemon_exit start_first(struct daemon *daemon, struct diag_list *diags)
{
	bool allow_other;
	enum daemon_exit failed = load_first(daemon, &allow_other, diags);
	int error;

	if (failed)
		return failed;
	error = check_room();
	if (error < 0) {
		diag_add(diags, DIAG_ERROR, NULL, 0, "too few descriptors (RLIMIT_NOFILE): %s",
			strerror(-error));
		return DAEMON_MOUNT_FAILED;
	}
	error = daemon_listen(daemon, diags);
	if (error < 0)
		return error == -EADDRINUSE ? DAEMON_SERVED : DAEMON_MOUNT_FAILED;
	error = mount_kept(daemon, allow_other, diags);
	if (error >= 0)
		error = serve(daemon, error, false);
	if (error < 0 && diag_count(diags, DIAG_ERROR) == 0)
		diag_add(diags, DIAG_ERROR, NULL, 0, "cannot serve: %s", strerror(-error));
	if (error == -EBUSY)
		return DAEMON_SERVED;
	return error < 0 ? DAEMON_MOUNT_FAILED : DAEMON_DONE;
}

/* The connection, the view and what lies under the mount are an earlier process'. Returns 0 or
 * -errno. */
static int take_over(struct daemon *daemon)
{
	struct state_memory *memory = daemon->state->memory;
	int error = resume_load(&daemon->resume, &daemon->loaded);

	if (error < 0)
		return error;
	if (daemon->loaded.fuse < 0 || !daemon->loaded.under)
		return -EBADF;
	rootfs_unref(daemon->under);
	daemon->under = steal_pointer(daemon->loaded.under);
	closep(&daemon->point.fd);
	daemon->point.fd = fcntl(daemon->under->fd, F_DUPFD_CLOEXEC, 3);
	if (daemon->point.fd < 0)
		return -errno;
	if (state_stage(daemon->state) == STATE_MOUNTING) {
		error = mount_find(&daemon->point, daemon->names.name);
		if (error < 0)
			return error;
		memory->device = daemon->point.device;
		memory->mount_id = daemon->point.id;
		atomic_store(&memory->stage, STATE_MOUNTED);
	}
	daemon->point.device = memory->device;
	daemon->point.id = memory->mount_id;
	return 0;
}

static enum daemon_exit start_resumed(struct daemon *daemon, struct diag_list *diags)
{
	int error = take_over(daemon);

	fill_pipeline(daemon);
	if (error == 0)
		error = serve(daemon, steal_fd(&daemon->loaded.fuse), true);
	if (error == 0)
		error = reload_resumed(daemon);
	if (error < 0) {
		diag_add(diags, DIAG_ERROR, NULL, 0,
			"what the process before left cannot be taken over: %s", strerror(-error));
		return error == -ENOENT || error == -ENODATA || error == -EPROTO ||
				       error == -EBADMSG || error == -EBADF
			       ? DAEMON_UNUSABLE
			       : DAEMON_MOUNT_FAILED;
	}
	/* Later than the requests: nobody waits for the socket as for a file. A detached mount's
	 * name is another daemon's. */
	if (state_stage(daemon->state) == STATE_DETACHED)
		return DAEMON_DONE;
	if (daemon_listen(daemon, diags) < 0)
		return DAEMON_MOUNT_FAILED;
	return DAEMON_DONE;
}

/* Signals wait for the main loop, in every thread: before the first one starts. SIGPIPE would be a
 * client's going away. Where the caller ignores SIGCHLD nobody could wait for fusermount3. */
static int block_signals(struct daemon *daemon)
{
	sigset_t signals;

	signal(SIGPIPE, SIG_IGN);
	signal(SIGCHLD, SIG_DFL);
	signal(SIGXFSZ, SIG_IGN);
	sigemptyset(&signals);
	sigaddset(&signals, SIGHUP);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGUSR2);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	daemon->signals = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
	return daemon->signals < 0 ? -errno : 0;
}

static int watch_descriptors(struct daemon *daemon)
{
	const int fds[] = {
		daemon->signals,
		daemon->ended,
		reload_fd(daemon->reload),
		ctl_fd(daemon->ctl),
		watch_fd(daemon->watch),
		daemon->watchdog,
	};

	daemon->epoll = epoll_create1(EPOLL_CLOEXEC);
	for (size_t i = 0; i < ARRAY_SIZE(fds); i++) {
		struct epoll_event event = { .events = EPOLLIN, .data.fd = fds[i] };

		if (fds[i] >= 0 && epoll_ctl(daemon->epoll, EPOLL_CTL_ADD, fds[i], &event) < 0)
			return -errno;
	}
	return 0;
}

enum daemon_exit daemon_start(struct daemon *daemon, struct diag_list *diags)
{
	enum daemon_exit failed;
	int error;

#ifdef M_ARENA_MAX
	mallopt(M_ARENA_MAX, 2); /* a heap per worker would hold what one reload needs, each */
#endif
	error = block_signals(daemon);
	if (error < 0)
		return DAEMON_MOUNT_FAILED;
	atomic_store(&daemon->state->memory->worker, getpid());
	crash_watch(daemon->state);
	failed = make_parts(daemon);
	if (failed)
		return failed;
	failed = state_stage(daemon->state) == STATE_FRESH ? start_first(daemon, diags)
							   : start_resumed(daemon, diags);
	if (!failed && (daemon_arm_watchdog(daemon) < 0 || watch_descriptors(daemon) < 0))
		failed = DAEMON_MOUNT_FAILED;
	if (!failed)
		daemon_tell_status(daemon);
	return failed;
}
