/* SPDX-License-Identifier: MIT */
#include "invalidate.h"

void invalidate_added(struct session *session, const struct tree_change *change)
{
	for (size_t i = 0; i < change->diff.n_names; i++) {
		const struct viewdiff_name *name = &change->diff.names[i];

		if (name->what == VIEWDIFF_ADDED)
			(void)session_invalidate_entry(session, name->parent, name->name);
	}
}

/* The kernel answers -ENOENT for what it does not know: nothing to do there. */
void invalidate(struct session *session, const struct tree_change *change)
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
