/* SPDX-License-Identifier: MIT */
#include "invalidate.h"

size_t invalidate_added(struct session *session, const struct tree_change *change)
{
	size_t taken = 0;

	for (size_t i = 0; i < change->diff.n_names; i++) {
		const struct viewdiff_name *name = &change->diff.names[i];

		if (name->what == VIEWDIFF_ADDED)
			taken += session_invalidate_entry(session, name->parent, name->name) == 0;
	}
	return taken;
}

/* The kernel answers -ENOENT for what it does not know: nothing to do there. */
size_t invalidate(struct session *session, const struct tree_change *change)
{
	size_t taken = 0;

	for (size_t i = 0; i < change->diff.n_names; i++) {
		const struct viewdiff_name *name = &change->diff.names[i];

		taken += session_invalidate_entry(session, name->parent, name->name) == 0;
	}
	for (size_t i = 0; i < change->diff.n_directories; i++)
		taken += session_invalidate_listing(session, change->diff.directories[i]) == 0;
	for (size_t i = 0; i < change->n_attributes; i++)
		taken += session_invalidate_attributes(session, (uint32_t)change->attributes[i]) ==
			 0;
	return taken;
}
