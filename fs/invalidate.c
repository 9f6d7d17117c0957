/* SPDX-License-Identifier: MIT */
#include "invalidate.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void tell_added(struct session *session, const struct tree_change *change)
{
	for (size_t i = 0; i < change->diff.n_names; i++) {
		const struct viewdiff_name *name = &change->diff.names[i];

		if (name->what == VIEWDIFF_ADDED)
			(void)session_invalidate_entry(session, name->parent, name->name);
	}
}

/* The kernel answers -ENOENT for what it does not know: nothing to do there. */
static void tell_all(struct session *session, const struct tree_change *change)
{
	for (size_t i = 0; i < change->diff.n_names; i++) {
		const struct viewdiff_name *name = &change->diff.names[i];

		(void)session_invalidate_entry(session, name->parent, name->name);
	}
	for (size_t i = 0; i < change->diff.n_directories; i++)
		(void)session_invalidate_listing(session, change->diff.directories[i]);
	for (size_t i = 0; i < change->n_attributes; i++)
		(void)session_invalidate_attributes(session, change->attributes[i]);
}

/* A notification waits, beyond SIGKILL, for those who ask something of the same directory. Were it
 * this process that waits, a kill would not end it before they are answered, and nobody takes over
 * before it has ended. The child only writes: it has no other thread, and takes no lock. It has no
 * descriptors of its own: to close those of a source that hangs would wait for that. */
static void tell(struct session *session, const struct tree_change *change,
	void (*what)(struct session *session, const struct tree_change *change))
{
	int status = -1;
	pid_t child;

	if (change->diff.n_names + change->diff.n_directories + change->n_attributes == 0)
		return;
	child = (pid_t)syscall(SYS_clone, CLONE_FILES | SIGCHLD, 0, 0, 0, 0);
	if (child == 0) {
		what(session, change);
		_exit(0);
	}
	while (child > 0 && waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			break;
	if (child < 0 || !WIFEXITED(status))
		what(session, change);
}

void invalidate_added(struct session *session, const struct tree_change *change)
{
	tell(session, change, tell_added);
}

void invalidate(struct session *session, const struct tree_change *change)
{
	tell(session, change, tell_all);
}
