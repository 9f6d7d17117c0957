/* SPDX-License-Identifier: MIT */
#include "invalidate.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define STACK_SIZE (64 * 1024)

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

/* What the child process does. */
struct telling {
	struct session *session;
	const struct tree_change *change;
	void (*what)(struct session *session, const struct tree_change *change);
};

static int run_telling(void *data)
{
	const struct telling *telling = data;

	telling->what(telling->session, telling->change);
	return 0;
}

/* A notification waits, beyond SIGKILL, for those who ask something of the same directory. Were it
 * this process that waits, a kill would not end it before they are answered, and nobody takes over
 * before it has ended. So a process of its own tells; it shares memory and descriptors (a copy of
 * these would be closed, which waits for a source that hangs), and this thread waits for it. */
static void tell(struct telling telling)
{
	const struct tree_change *change = telling.change;
	_cleanup_(freep) char *stack = NULL;
	int status = -1;
	pid_t child = -1;

	if (change->diff.n_names + change->diff.n_directories + change->n_attributes == 0)
		return;
	stack = aligned_alloc(16, STACK_SIZE);
	if (stack)
		child = clone(run_telling, stack + STACK_SIZE, CLONE_VM | CLONE_FILES | SIGCHLD,
			&telling);
	while (child > 0 && waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			break;
	if (child < 0 || !WIFEXITED(status))
		run_telling(&telling);
}

void invalidate_added(struct session *session, const struct tree_change *change)
{
	tell((struct telling){ session, change, tell_added });
}

void invalidate(struct session *session, const struct tree_change *change)
{
	tell((struct telling){ session, change, tell_all });
}
